"""A part of an ONNX graph in a session of ONNX Runtime."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from contextlib import AbstractContextManager
from threading import Lock
from typing import Any

from numpy.typing import NDArray
from onnx import ModelProto, NodeProto, TensorProto, helper, numpy_helper

from vinculum.models.engines.onnxruntime.session import new_session, onnxruntime, refusals
from vinculum.models.engines.onnxruntime.values import Kind, is_packed, kind_of, to_python, to_runtime, type_of
from vinculum.models.engines.partition import Part
from vinculum.models.engines.partitioned import Holder
from vinculum.models.execution import RunContext, Shape

_LARGEST_INSIDE = 1024  # Elements of a constant that stands in the message itself: shapes, axes and the like.
_MOST_THREADS = 512  # Of all the sessions of a program; they sleep between its runs.


class OnnxRuntime:
    """ONNX Runtime, as what runs the parts of a graph.

    Raises
    ------
    ModelError
        If onnxruntime cannot be imported.
    """

    def __init__(self) -> None:
        onnxruntime()

    def refusals(self, nodes: Iterable[NodeProto]) -> AbstractContextManager[None]:
        """Turn an error that is about nodes into one of ours."""
        return refusals(nodes)

    def part(
        self,
        part: Part,
        constants: Mapping[str, NDArray[Any]],
        holder: Holder,
        parts: int,
        shapes: Mapping[str, Shape],
    ) -> RunnablePart:
        """Return a part that can be run."""
        return RunnablePart(part, constants, holder, parts, shapes)

    def to_python(self, name: str, value: Any) -> Any:
        """Return a value as the reference evaluator holds it."""
        return to_python(name, value)


class RunnablePart:
    """A part of a graph, made ready when the types of what it is given are known.

    Parameters
    ----------
    part : Part
        What it runs.
    constants : mapping of str to array
        The graph's. ONNX Runtime copies those that it keeps, in its own layout where that is faster.
    holder : Holder
        What stands around the graph.
    parts : int
        How many sessions there are in all: many have fewer threads each.
    shapes : mapping of str to tuple
        Those that the model declares, or that inference finds.
    """

    def __init__(
        self,
        part: Part,
        constants: Mapping[str, NDArray[Any]],
        holder: Holder,
        parts: int,
        shapes: Mapping[str, Shape],
    ) -> None:
        self._part = part
        self._shapes = shapes
        self._constants = {name: constants[name] for name in part.constants}
        self._proto = holder.model(part.nodes)
        cores = os.cpu_count() or 1
        self._threads = 0 if parts * cores <= _MOST_THREADS else max(1, _MOST_THREADS // parts)
        self._sessions: dict[tuple[Any, ...], Any] = {}
        self._outside: dict[str, Any] = {}
        self._lock = Lock()

    def run(self, values: dict[str, Any], execution: RunContext) -> None:
        """Add the part's outputs to the values of a run."""
        inputs = {name: to_runtime(name, values[name]) for name in self._part.inputs}
        session = self._session({name: kind_of(value, self._shapes.get(name)) for name, value in inputs.items()})
        with refusals(self._proto.graph.node):
            binding = session.io_binding()
            for name, value in inputs.items():
                binding.bind_ortvalue_input(name, value)
            for name in self._part.outputs:
                binding.bind_output(name)
            session.run_with_iobinding(binding)
            values.update(zip(self._part.outputs, binding.get_outputs(), strict=True))

    def _session(self, kinds: Mapping[str, Kind]) -> Any:
        # Threads do not survive a fork: the child needs sessions of its own.
        key = (os.getpid(), *kinds.values())
        with self._lock:
            if key not in self._sessions:
                proto = self._declared(kinds)
                with refusals(self._proto.graph.node):
                    self._sessions[key] = new_session(proto, self._outside, self._threads)
            return self._sessions[key]

    def _declared(self, kinds: Mapping[str, Kind]) -> ModelProto:
        proto = ModelProto()
        proto.CopyFrom(self._proto)
        for name, kind in kinds.items():
            proto.graph.input.add(name=name, type=type_of(name, kind))
        for name in self._part.outputs:
            proto.graph.output.add(name=name)
        for name, array in self._constants.items():
            if array.size <= _LARGEST_INSIDE or array.dtype == object or is_packed(array.dtype):
                proto.graph.initializer.append(numpy_helper.from_array(array, name))
                continue
            code = helper.np_dtype_to_tensor_dtype(array.dtype)
            place = proto.graph.initializer.add(name=name, data_type=code, dims=array.shape)
            place.data_location = TensorProto.EXTERNAL
            place.external_data.add(key="location", value=name)
            self._outside[name] = to_runtime(name, array)
        return proto
