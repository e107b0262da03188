"""Our own engine, called as users call it: with models of ONNX, `vinculum.divide` and `vinculum.sonnx.div`."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from numpy.typing import NDArray

from vinculum.conformance.cases.operation import Operation
from vinculum.conformance.runtimes.options import check_names
from vinculum.conformance.runtimes.packages import ONE_BY_ONE, versions_of
from vinculum.conformance.runtimes.programs.onnx_source import inputs_source, onnx_model_lines
from vinculum.conformance.runtimes.programs.reproducer import operand_lines, print_quotient, python_program
from vinculum.spec.model import Dialect


class VinculumItself:
    """Vinculum with its default policies; it has no options."""

    title = "Vinculum"

    def __init__(self, options: Mapping[str, str]) -> None:
        check_names("vinculum", options, ())

    def check(self) -> None:
        """Do nothing: it is installed."""

    def versions(self) -> Mapping[str, str]:
        """Return its own version, and those of the packages on which its answers depend."""
        return versions_of("vinculum", "numpy", "ml_dtypes", "onnx")

    def covers(self, operation: Operation) -> bool:
        """Tell whether it covers this: all except constants of SONNX, whose operators are called as functions."""
        return operation.spec.dialect is not Dialect.SONNX or not any(operation.constant)

    def start(self) -> None:
        """Divide 1 by 1."""
        self.answer(ONE_BY_ONE)

    def answer(self, operation: Operation) -> NDArray[Any]:
        """Return the quotient of the one division in an ONNX model, or of the function call."""
        attributes: Any = operation.attributes
        if operation.spec.dialect is Dialect.SONNX:
            from vinculum.sonnx import div

            return div(*operation.operands, **attributes)
        if operation.spec.dialect is Dialect.OPENVINO:
            from vinculum.ops.openvino import divide

            return divide(*operation.operands, **attributes)
        from vinculum.conformance.runtimes.programs.onnx_model import onnx_model
        from vinculum.models.backend import VinculumBackend

        quotient: NDArray[Any] = VinculumBackend.run_model(onnx_model(operation), operation.inputs)[0]
        return quotient

    def run_model(self, file: Path, inputs: Mapping[str, Any]) -> list[Any]:
        """Return all outputs of the model in a file."""
        from vinculum.models import load

        return list(load(file).run(inputs).values())

    def reproducer(self, operation: Operation) -> str:
        """Return Python source that executes the operation with the installed package."""
        sources = {Dialect.ONNX: _onnx_lines, Dialect.OPENVINO: _divide_lines, Dialect.SONNX: _sonnx_lines}
        modules = {Dialect.ONNX: "vinculum.backend", Dialect.OPENVINO: "vinculum", Dialect.SONNX: "vinculum.sonnx"}
        dialect = operation.spec.dialect
        return python_program(f"import {modules[dialect]}", *operand_lines(operation), *sources[dialect](operation))


def _onnx_lines(operation: Operation) -> list[str]:
    run = f"vinculum.backend.run_model(model, {inputs_source(operation)})"
    return [*onnx_model_lines(operation), print_quotient(f"{run}[0]")]


def _divide_lines(operation: Operation) -> list[str]:
    return [print_quotient(f"vinculum.divide(a, b{_options(operation)})")]


def _sonnx_lines(operation: Operation) -> list[str]:
    return [print_quotient(f"vinculum.sonnx.div(a, b{_options(operation)})")]


def _options(operation: Operation) -> str:
    return "".join(f", {name}={value!r}" for name, value in operation.attributes.items())
