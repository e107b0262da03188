"""Our own engine, called as users call it: with models of ONNX and OpenVINO, and through `vinculum.sonnx`."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from numpy.typing import NDArray

from vinculum.conformance.cases.operation import Operation
from vinculum.conformance.runtimes.options import check_names
from vinculum.conformance.runtimes.packages import Packaged
from vinculum.conformance.runtimes.programs.reproducer import (
    inputs_source,
    ir_lines,
    onnx_program,
    operand_lines,
    print_quotient,
    python_program,
)
from vinculum.spec.model import Dialect


class VinculumItself(Packaged):
    """Vinculum with its default policies; it has no options."""

    title, package = "Vinculum", "vinculum"
    needs = ("numpy", "ml_dtypes", "onnx")

    def __init__(self, options: Mapping[str, str]) -> None:
        check_names("vinculum", options, ())

    def covers(self, operation: Operation) -> bool:
        """Tell whether it covers this: all except constants of SONNX, whose operators are called as functions."""
        return operation.spec.dialect is not Dialect.SONNX or not any(operation.constant)

    def answer(self, operation: Operation) -> NDArray[Any]:
        """Return the quotient of the one division in the model, or of the function call for SONNX."""
        if operation.spec.dialect is Dialect.SONNX:
            from vinculum.sonnx import div

            attributes: Any = operation.attributes
            return div(*operation.operands, **attributes)
        if operation.spec.dialect is Dialect.OPENVINO:
            return _in_ir(operation)
        from vinculum.conformance.runtimes.programs.models import onnx_model
        from vinculum.models.backend import VinculumBackend

        quotient: NDArray[Any] = VinculumBackend.run_model(onnx_model(operation), operation.inputs)[0]
        return quotient

    def run_model(self, file: Path, inputs: Mapping[str, Any]) -> list[Any]:
        """Return all outputs of the model in a file."""
        from vinculum.models import load

        return list(load(file).run(inputs).values())

    def reproducer(self, operation: Operation) -> str:
        """Return Python source that executes the operation with the installed package."""
        if operation.spec.dialect is Dialect.ONNX:
            run = "vinculum.backend.run_model(model, inputs)[0]"
            return onnx_program(operation, "import vinculum.backend", result=run)
        if operation.spec.dialect is Dialect.SONNX:
            attributes = "".join(f", {name}={value!r}" for name, value in operation.attributes.items())
            lines = ["import vinculum.sonnx", print_quotient(f"vinculum.sonnx.div(a, b{attributes})")]
            return python_program(*operand_lines(operation), *lines)
        return python_program(
            "import vinculum",
            *operand_lines(operation),
            *ir_lines(operation),
            "with tempfile.TemporaryDirectory() as folder:",
            '    path = Path(folder, "division.xml")',
            "    path.write_bytes(xml)",
            '    path.with_suffix(".bin").write_bytes(data)',
            f"    outputs = vinculum.load(path).run({inputs_source(operation)})",
            print_quotient(f'outputs["{operation.spec.outputs[0].name}"]'),
        )


def _in_ir(operation: Operation) -> NDArray[Any]:
    """Return the quotient of an IR, which is loaded from its two files."""
    from vinculum.conformance.runtimes.programs.models import openvino_ir
    from vinculum.models.source import load

    xml, data = openvino_ir(operation)
    with TemporaryDirectory() as folder:
        path = Path(folder, "division.xml")
        path.write_bytes(xml)
        path.with_suffix(".bin").write_bytes(data)
        (quotient,) = load(path).run(operation.inputs).values()
    return quotient
