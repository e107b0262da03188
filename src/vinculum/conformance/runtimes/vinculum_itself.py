"""Our own engine, called as users call it: with models of ONNX, `vinculum.divide` and `vinculum.sonnx.div`."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from numpy.typing import NDArray

from vinculum.conformance.cases.operation import Operation
from vinculum.conformance.runtimes.protocol import Packaged, check_names
from vinculum.conformance.runtimes.reproducer import onnx_program, operand_lines, print_quotient, python_program
from vinculum.spec.model import AttributeValue, Dialect


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
        """Return the quotient of the one division in an ONNX model, or of the function call."""
        if operation.spec.dialect is Dialect.ONNX:
            from vinculum.conformance.runtimes.models import onnx_model
            from vinculum.models.backend import VinculumBackend

            quotient: NDArray[Any] = VinculumBackend.run_model(onnx_model(operation), operation.inputs)[0]
            return quotient
        from vinculum.ops.openvino import divide
        from vinculum.sonnx import div

        function: Any = div if operation.spec.dialect is Dialect.SONNX else divide
        return function(*operation.operands, **_by_declared_names(operation))  # type: ignore[no-any-return]

    def run_model(self, file: Path, inputs: Mapping[str, Any]) -> list[Any]:
        """Return all outputs of the model in a file."""
        from vinculum.models import load

        return list(load(file).run(inputs).values())

    def reproducer(self, operation: Operation) -> str:
        """Return Python source that executes the operation with the installed package."""
        if operation.spec.dialect is Dialect.ONNX:
            run = "vinculum.backend.run_model(model, inputs)[0]"
            return onnx_program(operation, "import vinculum.backend", result=run)
        attributes = "".join(f", {name}={value!r}" for name, value in _by_declared_names(operation).items())
        sonnx = operation.spec.dialect is Dialect.SONNX
        module, call = ("vinculum.sonnx", "vinculum.sonnx.div") if sonnx else ("vinculum", "vinculum.divide")
        return python_program(
            f"import {module}", *operand_lines(operation), print_quotient(f"{call}(a, b{attributes})")
        )


def _by_declared_names(operation: Operation) -> dict[str, AttributeValue]:
    """Return the attributes by the names that a function has for them; only files have other spellings."""
    declared = ((operation.spec.attribute(name), name, value) for name, value in operation.attributes.items())
    return {attribute.name if attribute else name: value for attribute, name, value in declared}
