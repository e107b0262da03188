"""An ONNX graph, which OpenVINO reads and runs in a process of its own, except its divisions."""

from __future__ import annotations

from collections.abc import Mapping
from copy import deepcopy
from dataclasses import asdict, dataclass
from threading import Lock
from typing import Any

from google.protobuf.message import EncodeError
from numpy.typing import NDArray
from onnx import GraphProto, ModelProto, NodeProto, helper, numpy_helper
from onnx.inliner import inline_local_functions

from vinculum.errors import ModelError
from vinculum.models.engines.openvino.process import CutProcess, check_installed
from vinculum.models.engines.openvino.reading import NAME
from vinculum.models.engines.reference.evaluator import is_implemented
from vinculum.models.execution import Division, RunContext
from vinculum.models.limits import LimitError
from vinculum.models.onnx.divisions import DIVIDES, number_of
from vinculum.models.onnx.rewriter import set_nodes, unique_name
from vinculum.models.onnx.scopes import all_nodes, name_of, opset_imports, subgraphs, title
from vinculum.ops.onnx import div, reciprocal
from vinculum.text import listed, one_line

_MAX_OF_INTEGERS = 12


@dataclass(frozen=True, eq=False)
class Prepared:
    """A model without functions, whose divisions OpenVINO will find by their names."""

    proto: ModelProto
    divisions: tuple[NodeProto, ...]  # With the names that they had.
    # Of each division: OpenVINO names a layer after its quotient if that is an output of a graph.
    names: tuple[tuple[str, str], ...]

    def check_found(self, numbers: Mapping[int, object]) -> None:
        """Refuse a model of which OpenVINO has read some division as another layer."""
        lost = [title(node) for number, node in enumerate(self.divisions) if number not in numbers]
        if lost:
            raise ModelError(f"OpenVINO's reader turns {listed(lost)} into something other than a Divide")


def prepared(proto: ModelProto) -> Prepared:
    """Return a model as OpenVINO shall read it; the given one is not changed."""
    try:
        model = inline_local_functions(proto) if proto.functions else deepcopy(proto)
    except (RuntimeError, ValueError, EncodeError) as error:
        raise ModelError(f"the model cannot be run by OpenVINO: {one_line(error)}") from None
    _bound_loops(model.graph, set(), opset_imports(model).get("", 1))
    nodes = [node for node in all_nodes(model.graph.node) if node.domain == "" and node.op_type in DIVIDES]
    divisions = tuple(map(deepcopy, nodes))
    for number, node in enumerate(nodes):
        node.name = f"{NAME}{number}"
    return Prepared(model, divisions, tuple((name_of(node), node.output[0]) for node in divisions))


def _bound_loops(graph: GraphProto, taken: set[str], opset: int) -> None:
    """Replace negative trip counts by 0, their meaning in ONNX: a Loop of OpenVINO takes -1 as no limit."""
    nodes = []
    taken.update(name for node in graph.node for name in node.output)
    for node in graph.node:
        for _, body in subgraphs(node):
            _bound_loops(body, taken, opset)
        if node.domain == "" and node.op_type == "Loop" and node.input[0]:
            if opset < _MAX_OF_INTEGERS:
                raise ModelError(f"{title(node)} needs operator set {_MAX_OF_INTEGERS} or later; convert to it first")
            zero, bounded = (unique_name(f"{node.output[0]}_{word}", taken) for word in ("zero", "trips"))
            nodes.append(helper.make_node("Constant", [], [zero], value_int=0))
            nodes.append(helper.make_node("Max", [node.input[0], zero], [bounded]))
            node.input[0] = bounded
        nodes.append(node)
    set_nodes(graph, nodes)


class OnnxInOpenVino:
    """An ONNX graph, read by OpenVINO at the first run and kept."""

    def __init__(
        self, proto: ModelProto, divisions: tuple[Division, ...], constants: Mapping[str, NDArray[Any]]
    ) -> None:
        check_installed("the engine 'openvino'")
        self._prepared = prepared(proto)
        self._divisions, self._constants = divisions, constants
        self._outputs = [value.name for value in proto.graph.output]
        self._processes: dict[frozenset[str], CutProcess] = {}
        self._lock = Lock()

    def execute(self, arrays: Mapping[str, Any], execution: RunContext) -> dict[str, Any]:
        """Return the outputs for validated inputs."""

        def divide(number: int, dividend: NDArray[Any], divisor: NDArray[Any]) -> NDArray[Any]:
            node = self._prepared.divisions[number]
            own = number_of(node)
            assert own is not None, "every division of a model is numbered when it is read"
            division = self._divisions[own]
            # OpenVINO aligns the operands of versions below 7, as their attributes say.
            opset = max(division.spec.since_version, 7)
            if node.op_type == "Reciprocal":
                return execution.divide(division, None, divisor, lambda _, b: reciprocal(b, opset=opset))
            policies = asdict(execution.policies)
            return execution.divide(division, dividend, divisor, lambda a, b: div(a, b, opset=opset, **policies))

        try:
            results = self._process(frozenset(arrays.keys() & self._constants)).run(arrays, divide)
        except LimitError:
            raise
        except ModelError as error:
            raise ModelError(f"{error}; {self._advice()}") from None
        return dict(zip(self._outputs, results, strict=True))

    def _process(self, given: frozenset[str]) -> CutProcess:
        """Return a process that holds the model, in which some constants are given as inputs."""
        with self._lock:
            if given not in self._processes:
                process = CutProcess(self._content(given), None, self._prepared.names)
                self._prepared.check_found(dict.fromkeys(process.call("found")))
                self._processes[given] = process
            return self._processes[given]

    def _content(self, given: frozenset[str]) -> bytes:
        proto = ModelProto()
        proto.CopyFrom(self._prepared.proto)
        inputs = [value for value in proto.graph.input if value.name in given or value.name not in self._constants]
        del proto.graph.input[:]
        proto.graph.input.extend(inputs)
        stored = [numpy_helper.from_array(array, name) for name, array in self._constants.items() if name not in given]
        proto.graph.initializer.extend(stored)
        try:
            return bytes(proto.SerializeToString())
        except (EncodeError, ValueError) as error:
            raise ModelError(f"the model is too large for OpenVINO's reader of ONNX: {one_line(error)}") from None

    def _advice(self) -> str:
        """Return advice for a model that OpenVINO refuses."""
        opsets = opset_imports(self._prepared.proto)
        nodes = self._prepared.proto.graph.node
        lacking = next((node for node in nodes if not is_implemented(node, opsets)), None)
        if lacking is None:
            return "run the model with the reference engine"
        return f"the reference engine cannot run it either: it does not implement {title(lacking)}"
