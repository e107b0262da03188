"""The reference evaluator of the onnx package."""

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
from vinculum.sandbox import UnsupportedError
from vinculum.spec.model import Dialect
from vinculum.text import one_line


class OnnxReference:
    """ONNX's reference evaluator; it has no options."""

    title = "the ONNX reference evaluator"

    def __init__(self, options: Mapping[str, str]) -> None:
        check_names("onnx-reference", options, ())

    def check(self) -> None:
        """Do nothing: Vinculum depends on the onnx package."""

    def versions(self) -> Mapping[str, str]:
        """Return the versions of onnx and of NumPy, which does the arithmetic."""
        return versions_of("onnx", "numpy")

    def covers(self, operation: Operation) -> bool:
        """Tell whether the operator is one of ONNX's."""
        return operation.spec.dialect is Dialect.ONNX

    def start(self) -> None:
        """Divide 1 by 1."""
        self.answer(ONE_BY_ONE)

    def answer(self, operation: Operation) -> NDArray[Any]:
        """Return the quotient that it evaluates."""
        from vinculum.conformance.runtimes.programs.onnx_model import onnx_model

        quotient: NDArray[Any] = _outputs(onnx_model(operation), operation.inputs)[0]
        return quotient

    def run_model(self, file: Path, inputs: Mapping[str, Any]) -> list[Any]:
        """Return all outputs of the model in a file."""
        return _outputs(str(file), inputs)

    def reproducer(self, operation: Operation) -> str:
        """Return Python source that makes the model with onnx's helper and evaluates it."""
        return python_program(
            *operand_lines(operation),
            *onnx_model_lines(operation),
            print_quotient(f"ReferenceEvaluator(model).run(None, {inputs_source(operation)})[0]"),
        )


def _outputs(model: Any, inputs: Mapping[str, Any]) -> list[Any]:
    from onnx.reference import ReferenceEvaluator

    try:
        return list(ReferenceEvaluator(model).run(None, dict(inputs)))
    except NotImplementedError as error:
        raise UnsupportedError(one_line(error)) from None
