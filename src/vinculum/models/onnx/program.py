"""Running an ONNX graph, by either engine."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Any

from onnx import ModelProto

from vinculum.errors import ModelError
from vinculum.models.engines.reference.evaluator import EvaluatedGraph
from vinculum.models.execution import Division, Execution, Shape
from vinculum.models.onnx.tensors import Initializers

if TYPE_CHECKING:
    from vinculum.models.engines.onnxruntime.program import OnnxRuntimeProgram
    from vinculum.models.model import Runnable


class OnnxProgram:
    """An ONNX graph and its functions, run by the reference evaluator unless ONNX Runtime is asked for."""

    def __init__(
        self,
        proto: ModelProto,
        divisions: tuple[Division, ...],
        constants: Initializers,
        shapes: Mapping[str, Shape],
    ) -> None:
        self._parts = proto, divisions, constants, shapes
        self._evaluated = EvaluatedGraph(proto, divisions, constants)

    def execute(self, arrays: Mapping[str, Any], execution: Execution) -> dict[str, Any]:
        """Return the outputs for inputs that have been checked."""
        return self._evaluated.execute(arrays, execution)

    def prepare(self) -> None:
        """Make the evaluator, whose making finds nodes that it cannot run."""
        self._evaluated.prepare()

    def read_data(self) -> None:
        """Read the initializers that stand in files."""
        self._parts[2].read()

    def in_engine(self, engine: str) -> Runnable:
        """Return the graph as ONNX Runtime runs it, cut at its divisions; refuse OpenVINO."""
        if engine == "openvino":
            raise ModelError(
                "the engine 'openvino' runs OpenVINO IR only; run the ONNX model with the engine 'reference' or "
                "'onnxruntime'"
            )
        return self._cut

    def __getstate__(self) -> dict[str, Any]:
        """Travel to another process without what is made ready there again."""
        return {name: value for name, value in vars(self).items() if name != "_cut"}

    @cached_property
    def _cut(self) -> OnnxRuntimeProgram:
        # It imports a package that not everybody has.
        from vinculum.models.engines.onnxruntime.program import OnnxRuntimeProgram

        return OnnxRuntimeProgram(*self._parts)
