"""A part of an ONNX graph in a session of ONNX Runtime."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from threading import Lock
from typing import Any

from numpy.typing import NDArray
from onnx import FunctionProto, ModelProto, NodeProto, OperatorSetIdProto, TensorProto, helper, numpy_helper

from vinculum.models.engines.onnxruntime.partition import Part
from vinculum.models.engines.onnxruntime.session import IR_VERSION, new_session, refusals
from vinculum.models.engines.onnxruntime.values import Kind, is_packed, kind_of, to_runtime, type_of
from vinculum.models.execution import Execution, Shape
from vinculum.models.onnx.functions import DOMAIN
from vinculum.models.onnx.scopes import all_nodes, name_of

_LARGEST_INSIDE = 1024  # Elements of a constant that stands in the message itself: shapes, axes and the like.
_MOST_THREADS = 512  # Of all the sessions of a program; they sleep between its runs.


@dataclass(frozen=True)
class Holder:
    """What a model has around its graph.

    Attributes
    ----------
    opsets : tuple of OperatorSetIdProto
        The operator sets that it imports.
    functions : tuple of FunctionProto
        Its functions, renamed by `link_functions`.
    """

    opsets: tuple[OperatorSetIdProto, ...]
    functions: tuple[FunctionProto, ...]

    def model(self, nodes: Iterable[NodeProto]) -> ModelProto:
        """Return a model of nodes, named for messages, without inputs and outputs."""
        proto = ModelProto(ir_version=IR_VERSION)
        proto.graph.name = "part"
        proto.graph.node.extend(nodes)
        for node in proto.graph.node:
            node.name = name_of(node)
        calls = any(node.domain == DOMAIN for node in all_nodes(proto.graph.node))
        proto.opset_import.extend(entry for entry in self.opsets if calls or entry.domain != DOMAIN)
        proto.functions.extend(self.functions if calls else ())
        return proto


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

    def run(self, values: dict[str, Any], execution: Execution) -> None:
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
