"""Running an ONNX graph, by either engine."""

from __future__ import annotations

from collections.abc import Mapping
from threading import Lock
from typing import TYPE_CHECKING, Any

from onnx import ModelProto

from vinculum.models.engines.reference.evaluator import EvaluatedGraph
from vinculum.models.execution import Division, RunContext, Shape
from vinculum.models.onnx.tensors import Initializers

if TYPE_CHECKING:
    from vinculum.models.engines.partitioned import PartitionedProgram


class OnnxProgram:
    """An ONNX graph and its functions, run by the reference evaluator unless another engine is asked for."""

    def __init__(
        self,
        proto: ModelProto,
        divisions: tuple[Division, ...],
        constants: Initializers,
        shapes: Mapping[str, Shape],
    ) -> None:
        self._parts = proto, divisions, constants, shapes
        self._evaluated = EvaluatedGraph(proto, divisions, constants)
        self._cut: dict[str, PartitionedProgram] = {}
        self._lock = Lock()

    def execute(self, arrays: Mapping[str, Any], execution: RunContext) -> dict[str, Any]:
        """Return the outputs for inputs that have been checked."""
        return self._evaluated.execute(arrays, execution)

    def prepare(self) -> None:
        """Make the evaluator, whose making finds nodes that it cannot run."""
        self._evaluated.prepare()

    def read_data(self) -> None:
        """Read the initializers that stand in files."""
        self._parts[2].read()

    def in_engine(self, engine: str) -> PartitionedProgram:
        """Return the graph as ONNX Runtime or OpenVINO runs it, cut at its divisions."""
        with self._lock:
            if engine not in self._cut:
                self._cut[engine] = _partitioned(engine, *self._parts)
            return self._cut[engine]

    def __getstate__(self) -> dict[str, Any]:
        """Travel to another process without what is made ready there again."""
        return {name: value for name, value in vars(self).items() if name not in ("_cut", "_lock")}

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Arrive there."""
        vars(self).update(state, _cut={}, _lock=Lock())


def _partitioned(engine: str, *parts: Any) -> PartitionedProgram:
    # They import packages that not everybody has.
    from vinculum.models.engines.partitioned import PartitionedProgram

    if engine == "openvino":
        from vinculum.models.engines.openvino.onnx_parts import OpenVino

        return PartitionedProgram(OpenVino(), *parts)
    from vinculum.models.engines.onnxruntime.part import OnnxRuntime

    return PartitionedProgram(OnnxRuntime(), *parts)
