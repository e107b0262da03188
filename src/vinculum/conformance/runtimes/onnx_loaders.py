"""Runtimes that load ONNX models, one function each, which is both executed and printed.

Each function makes a runtime of an ONNX model, and runs it with default options on the arrays of its inputs.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vinculum.conformance.cases.operation import Operation
from vinculum.conformance.runtimes.interfaces import run_by_iree, run_by_tract, run_by_tvm
from vinculum.conformance.runtimes.protocol import Packaged
from vinculum.conformance.runtimes.reproducer import body_lines, onnx_program
from vinculum.sandbox import UnsupportedError
from vinculum.spec.model import Dialect
from vinculum.text import one_line


class RunsOnnx:
    """A runtime of ONNX models; ``lacks`` are phrases in its errors that mean "not supported"."""

    lacks: tuple[str, ...] = ()

    def outputs(self, model: Any, inputs: dict[str, Any]) -> list[Any]:
        """Return copies of the outputs of a model, in its order."""
        raise NotImplementedError

    def answer(self, operation: Operation) -> NDArray[Any]:
        """Return the quotient of a model of one node."""
        from vinculum.conformance.runtimes.models import onnx_model

        return self._outputs(onnx_model(operation), operation.inputs)[0]  # type: ignore[no-any-return]

    def run_model(self, file: Path, inputs: Mapping[str, Any]) -> list[Any]:
        """Return all outputs of the model in a file, which is given the inputs in its order."""
        import onnx

        model = onnx.load(file)
        return self._outputs(model, {one.name: inputs[one.name] for one in model.graph.input if one.name in inputs})

    def _outputs(self, model: Any, inputs: dict[str, Any]) -> list[Any]:
        """Return the same; "not implemented" errors become UnsupportedError."""
        try:
            return self.outputs(model, inputs)
        except Exception as error:  # Each runtime has its own.
            words, kinds = one_line(error), {kind.__name__ for kind in type(error).__mro__}
            if kinds & _NOT_IMPLEMENTED or any(phrase in words for phrase in self.lacks):
                raise UnsupportedError(words) from None
            raise


def copied(outputs: Iterable[Any]) -> list[Any]:
    """Return copies of outputs; sequences stay as they are."""
    return [output if isinstance(output, list) else np.array(output) for output in outputs]


_NOT_IMPLEMENTED = {"NotImplementedError", "BackendIsNotSupposedToImplementIt"}  # onnx defines the second for backends.


@dataclass(eq=False)
class OnnxLoader(RunsOnnx, Packaged):
    """A runtime that loads ONNX models; it takes no options.

    - `name`, `title`, `package`: What the command line and what sentences call it, and the package to import.
    - `run`: It takes a model of the onnx package and a dictionary of inputs, and returns the outputs.
    - `install`: What pip installs.
    - `needs`: Other packages on which its answers depend.
    - `lacks`: What its errors say of what it does not support.
    """

    name: str
    title: str
    package: str
    run: Callable[[Any, dict[str, Any]], Any]
    install: str
    needs: tuple[str, ...] = ()
    lacks: tuple[str, ...] = ()

    def covers(self, operation: Operation) -> bool:
        """Tell whether the operator is one of ONNX's."""
        return operation.spec.dialect is Dialect.ONNX

    def reproducer(self, operation: Operation) -> str:
        """Return Python source that makes the model from its text, and does what the function does."""
        return onnx_program(operation, *body_lines(self.run, "outputs"), result="outputs[0]")

    def outputs(self, model: Any, inputs: dict[str, Any]) -> list[Any]:
        """Return copies of the outputs of a model."""
        given = {name: np.array(array, order="C") for name, array in inputs.items()}
        return copied(self.run(model, given))


def _reference(model: Any, inputs: dict[str, Any]) -> Any:
    """Evaluate it with the onnx package."""
    from onnx.reference import ReferenceEvaluator

    return ReferenceEvaluator(model).run(None, inputs)


LOADERS = {
    one.name: one
    for one in (
        OnnxLoader("onnx-reference", "the ONNX reference evaluator", "onnx", _reference, "onnx", needs=("numpy",)),
        OnnxLoader("tract", "tract", "tract", run_by_tract, "tract", lacks=("Unknown DatumType", "No evaluator")),
        OnnxLoader("tvm", "TVM", "tvm", run_by_tvm, "apache-tvm"),
        OnnxLoader("iree", "IREE", "iree.compiler", run_by_iree, "iree-base-compiler iree-base-runtime"),
    )
}
"""The runtimes by the names on the command line."""
