"""A part of an ONNX graph in a session of ONNX Runtime."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from threading import Lock
from typing import Any

from onnx import ModelProto, NodeProto, TensorProto, helper, numpy_helper

from vinculum.errors import VinculumError
from vinculum.models.engines import EngineRefusalError
from vinculum.models.engines.onnxruntime.session import new_session, onnxruntime, reason_of
from vinculum.models.engines.onnxruntime.values import Kind, is_packed, kind_of, to_python, to_runtime, type_of
from vinculum.models.engines.partitioned import Piece
from vinculum.models.execution import RunContext
from vinculum.models.onnx.scopes import title

_LARGEST_INSIDE = 1024  # Elements of a constant that is stored in the message itself: shapes, axes and the like.
_MOST_THREADS = 512  # Of all the sessions of a model; they sleep between runs.


@contextmanager
def refusals(nodes: Iterable[NodeProto]) -> Iterator[None]:
    """Turn an error of ONNX Runtime into an EngineRefusalError that names the node it is about."""
    try:
        yield
    except VinculumError:
        raise
    # ONNX Runtime's exceptions have no more specific common base.
    except Exception as error:
        raise EngineRefusalError(
            f"{_culprit(nodes, str(error))} cannot be run by ONNX Runtime: {reason_of(error)}"
        ) from None


def _culprit(nodes: Iterable[NodeProto], message: str) -> str:
    """Return the title of the node that a message names, or those of the first and the last node."""
    titles = [title(node) for node in nodes] or ["the model"]
    for node, its_title in zip(nodes, titles, strict=False):
        spellings = (f"'{node.name}'", f'"{node.name}"', f"({node.name})", f"{node.domain}:{node.op_type}(")
        if any(spelling in message for spelling in spellings):
            return its_title
    return titles[0] if len(titles) == 1 else f"the part from {titles[0]} to {titles[-1]}"


class RunnablePart:
    """A part of a graph, for which a session is created as soon as the types of its inputs are known.

    ONNX Runtime copies the constants that it keeps in a faster layout of its own. The more parts a model has, the fewer
    threads each session gets.
    """

    def __init__(self, piece: Piece) -> None:
        self._piece = piece
        cores = os.cpu_count() or 1
        self._threads = 0 if piece.count * cores <= _MOST_THREADS else max(1, _MOST_THREADS // piece.count)
        self._sessions: dict[tuple[Any, ...], Any] = {}
        self._outside: dict[str, Any] = {}
        self._lock = Lock()

    def run(self, values: dict[str, Any], execution: RunContext) -> None:
        """Add the part's outputs to the values of a run."""
        inputs = {name: to_runtime(name, values[name]) for name in self._piece.part.inputs}
        session = self._session({name: kind_of(value, self._piece.shapes.get(name)) for name, value in inputs.items()})
        with refusals(self._piece.proto.graph.node):
            binding = session.io_binding()
            for name, value in inputs.items():
                binding.bind_ortvalue_input(name, value)
            for name in self._piece.part.outputs:
                binding.bind_output(name)
            session.run_with_iobinding(binding)
            values.update(zip(self._piece.part.outputs, binding.get_outputs(), strict=True))

    def _session(self, kinds: Mapping[str, Kind]) -> Any:
        # Threads do not survive a fork: the child needs sessions of its own.
        key = (os.getpid(), *kinds.values())
        with self._lock:
            if key not in self._sessions:
                proto = self._declared(kinds)
                with refusals(self._piece.proto.graph.node):
                    self._sessions[key] = new_session(
                        proto.SerializeToString(), threads=self._threads, initializers=self._outside, short_runs=True
                    )
            return self._sessions[key]

    def _declared(self, kinds: Mapping[str, Kind]) -> ModelProto:
        proto = self._piece.model({name: type_of(name, kind) for name, kind in kinds.items()})
        for name, array in self._piece.constants.items():
            if array.size <= _LARGEST_INSIDE or array.dtype == object or is_packed(array.dtype):
                proto.graph.initializer.append(numpy_helper.from_array(array, name))
                continue
            code = helper.np_dtype_to_tensor_dtype(array.dtype)
            place = proto.graph.initializer.add(name=name, data_type=code, dims=array.shape)
            place.data_location = TensorProto.EXTERNAL
            place.external_data.add(key="location", value=name)
            self._outside[name] = to_runtime(name, array)
        return proto


class OnnxRuntime:
    """ONNX Runtime as the engine of a partitioned model; ModelError if onnxruntime cannot be imported."""

    refusals = staticmethod(refusals)
    part = RunnablePart
    to_python = staticmethod(to_python)

    def __init__(self) -> None:
        onnxruntime()
