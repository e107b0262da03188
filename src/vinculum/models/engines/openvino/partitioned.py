"""An ONNX graph cut at its divisions, which Vinculum computes; OpenVINO runs the parts between them.

The level of a value is the largest number of divisions, or nodes that hold divisions, on any path to it. These nodes
are run outside of the parts. The other nodes of a level form one part; a stage is this part followed by the outside
nodes of the level. So a graph has at most one stage more than its longest chain of divisions has nodes.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass
from pathlib import Path
from threading import Lock
from typing import Any, Protocol

from numpy.typing import NDArray
from onnx import FunctionProto, ModelProto, NodeProto, OperatorSetIdProto, TypeProto, ValueInfoProto, helper
from onnx.inliner import inline_local_functions

from vinculum.errors import ModelError
from vinculum.models.engines import EngineRefusalError
from vinculum.models.engines.onnxruntime.session import IR_VERSION
from vinculum.models.engines.openvino.onnx_parts import OpenVino, refusals
from vinculum.models.engines.reference.evaluator import EvaluatedGraph, is_implemented
from vinculum.models.engines.reference.operators import quotient
from vinculum.models.execution import Division, RunContext, Shape
from vinculum.models.onnx.divisions import DIVIDES, divides, dividing_functions, number_of
from vinculum.models.onnx.functions import DOMAIN
from vinculum.models.onnx.scopes import all_nodes, inputs_of, name_of, subgraphs, title
from vinculum.models.onnx.tensors import decode, tensor_of

# Operators with other results in each run must not be duplicated in two parts.
_RANDOM = (
    "Bernoulli",
    "Dropout",
    "Multinomial",
    "RandomNormal",
    "RandomNormalLike",
    "RandomUniform",
    "RandomUniformLike",
)


@dataclass(frozen=True, eq=False)
class Part:
    """Nodes that are run together."""

    # In the graph's order. Nodes with only constant operands are in every part that uses them.
    nodes: tuple[NodeProto, ...]
    inputs: tuple[str, ...]  # From the graph's inputs and from earlier stages.
    constants: tuple[str, ...]  # The graph's constants that the part uses.
    outputs: tuple[str, ...]  # The values that are used outside of the part.


@dataclass(frozen=True, eq=False)
class Stage:
    """A part, and the nodes that are run outside of it and after it."""

    part: Part | None  # None if the level has no other nodes.
    outside: tuple[NodeProto, ...]  # In the graph's order; independent of each other.
    dropped: tuple[str, ...]  # The values that are not used after this stage.


@dataclass(frozen=True, eq=False)
class _Placed:
    """A node, its operands and its place; a fixed node has constant operands only."""

    node: NodeProto
    operands: tuple[str, ...]
    level: int
    outside: bool
    fixed: bool


def partition(
    graph: Iterable[NodeProto], results: Collection[str], constants: Collection[str], outside: Collection[str] = ()
) -> tuple[Stage, ...]:
    """Return the stages of a graph, in order.

    - `graph`: its nodes in topological order.
    - `results`: its outputs.
    - `constants`: the values that are the same in every run.
    - `outside`: the functions whose calls are run outside, as `dividing_functions` returns them.
    """
    nodes = _needed(list(_placed(graph, constants, outside)), results)
    shared = _shared(nodes, results)
    stages = []
    for level in range(max((p.level for p in nodes), default=-1) + 1):
        here = [p for p in nodes if p.level == level and not p.outside]
        own = {id(p): p for p in here if not p.fixed or not shared.isdisjoint(p.node.output)}
        part = _part(own, nodes, constants, shared)
        stages.append(Stage(part, tuple(p.node for p in nodes if p.level == level and p.outside), ()))
    return _with_dropped(stages, constants, results)


def _placed(graph: Iterable[NodeProto], constants: Collection[str], functions: Collection[str]) -> Iterator[_Placed]:
    levels: dict[str, int] = {}
    fixed = set(constants)
    for node in graph:
        operands = inputs_of(node)
        outside = divides(node, functions)
        level = max((levels.get(name, 0) for name in operands), default=0)
        levels.update(dict.fromkeys(node.output, level + outside))
        repeatable = node.domain == "" and node.op_type not in _RANDOM and not any(subgraphs(node))
        is_fixed = repeatable and not outside and fixed.issuperset(operands)
        if is_fixed:
            fixed.update(node.output)
        yield _Placed(node, operands, level, outside, is_fixed)


def _needed(nodes: list[_Placed], results: Collection[str]) -> list[_Placed]:
    """Return the nodes whose results are used, and all nodes that are run outside."""
    used, kept = set(results), []
    for placed in reversed(nodes):
        if placed.outside or not used.isdisjoint(placed.node.output):
            used.update(placed.operands)
            kept.append(placed)
    return kept[::-1]


def _shared(nodes: list[_Placed], results: Collection[str]) -> set[str]:
    """Return the values that are used outside of the part that computes them."""
    makers = {name: p for p in nodes for name in p.node.output if name}
    shared = set(results)
    for user in nodes:
        for name in user.operands:
            maker = makers.get(name)
            if user.outside or (maker is not None and not maker.fixed and maker.level != user.level):
                shared.add(name)
    return shared


def _part(
    own: dict[int, _Placed], nodes: list[_Placed], constants: Collection[str], shared: Collection[str]
) -> Part | None:
    if not own:
        return None
    used: set[str] = {name for p in own.values() for name in p.operands}
    members = []
    for placed in reversed(nodes):
        if id(placed) in own or (placed.fixed and not used.isdisjoint(placed.node.output)):
            used.update(placed.operands)
            members.append(placed)
    members.reverse()
    made = {name for p in members for name in p.node.output}
    needed = [name for name in dict.fromkeys(name for p in members for name in p.operands) if name not in made]
    return Part(
        tuple(p.node for p in members),
        tuple(name for name in needed if name not in constants),
        tuple(name for name in needed if name in constants),
        tuple(name for p in members if id(p) in own for name in p.node.output if name and name in shared),
    )


def _with_dropped(stages: Sequence[Stage], constants: Collection[str], results: Collection[str]) -> tuple[Stage, ...]:
    last: dict[str, int] = {}
    for number, stage in enumerate(stages):
        ends = (*stage.part.inputs, *stage.part.outputs) if stage.part else ()
        touched = [name for node in stage.outside for name in (*inputs_of(node), *node.output)]
        last.update(dict.fromkeys((*ends, *touched), number))
    kept = {"", *constants, *results}
    dropped = [tuple(name for name, at in last.items() if at == n and name not in kept) for n in range(len(stages))]
    return tuple(Stage(s.part, s.outside, names) for s, names in zip(stages, dropped, strict=True))


@dataclass(frozen=True)
class Holder:
    """A model without its graph."""

    opsets: tuple[OperatorSetIdProto, ...]  # Imported by the model.
    functions: tuple[FunctionProto, ...]  # Of the model, renamed by `link_functions`.

    def model(self, nodes: Iterable[NodeProto]) -> ModelProto:
        """Return a model of nodes, with names for messages, without inputs and outputs."""
        proto = ModelProto(ir_version=IR_VERSION)
        proto.graph.name = "part"
        proto.graph.node.extend(nodes)
        for node in proto.graph.node:
            node.name = name_of(node)
        calls = any(node.domain == DOMAIN for node in all_nodes(proto.graph.node))
        proto.opset_import.extend(entry for entry in self.opsets if calls or entry.domain != DOMAIN)
        proto.functions.extend(self.functions if calls else ())
        return proto


@dataclass(frozen=True, eq=False)
class Piece:
    """A part of a graph, prepared for OpenVINO."""

    part: Part
    proto: ModelProto  # Its nodes, with names for messages, without inputs and outputs.
    constants: Mapping[str, NDArray[Any]]  # The graph's constants that the part uses.
    shapes: Mapping[str, Shape]  # Of the model's values, as far as they are declared or inferred.

    def model(self, types: Mapping[str, TypeProto]) -> ModelProto:
        """Return the part as a model with inputs of these types, without its constants."""
        proto = deepcopy(self.proto)
        for name, its_type in types.items():
            proto.graph.input.add(name=name, type=its_type)
        for name in self.part.outputs:
            proto.graph.output.add(name=name)
        return proto


class PartitionedProgram:
    """An ONNX graph cut at its divisions; the parts between them are prepared at the first run and kept.

    Where ONNX defines an operator by others, OpenVINO computes the operator and the divisions in its definition.
    Nodes that hold divisions in subgraphs, or in functions of another operator set than the model's, are run by the
    reference evaluator with Vinculum's divisions. Divisions of one level are independent and computed together.
    """

    def __init__(
        self,
        proto: ModelProto,
        divisions: tuple[Division, ...],
        constants: Mapping[str, NDArray[Any]],
        shapes: Mapping[str, Shape],
    ) -> None:
        self._openvino = OpenVino()
        with refusals(proto.graph.node):
            # The inliner does not inline functions that import another operator set than the model.
            inlined = inline_local_functions(proto) if proto.functions else proto
        known = _constant_nodes(inlined.graph.node)
        self._nodes = [node for node in inlined.graph.node if known.keys().isdisjoint(node.output)]
        self._constants = {**constants, **known}
        self._outputs = [value.name for value in inlined.graph.output]
        self._holder = Holder(tuple(inlined.opset_import), tuple(inlined.functions))
        self._divisions = divisions
        self._shapes = shapes
        self._plans: dict[frozenset[str], tuple[_Step, ...]] = {}
        self._lock = Lock()

    def execute(self, arrays: Mapping[str, Any], execution: RunContext) -> dict[str, Any]:
        """Return the outputs for validated inputs."""
        values = {**self._constants, **arrays}
        try:
            for step in self._plan(frozenset(arrays.keys() & self._constants.keys())):
                step.run(values, execution)
            return {name: values[name] for name in self._outputs}
        except EngineRefusalError as error:
            raise ModelError(f"{error}; {self._advice()}") from None

    def _advice(self) -> str:
        """Return advice for a model that the runtime refuses."""
        opsets = {entry.domain: entry.version for entry in self._holder.opsets}
        lacking = next((node for node in self._nodes if not is_implemented(node, opsets)), None)
        if lacking is None:
            return "run the model with the reference engine"
        return f"the reference engine cannot run it either: it does not implement {title(lacking)}"

    def _plan(self, overridden: frozenset[str]) -> tuple[_Step, ...]:
        """Return the steps of a run in which some constants are given as inputs."""
        with self._lock:
            if overridden not in self._plans:
                constants = {name: array for name, array in self._constants.items() if name not in overridden}
                outside = dividing_functions(self._holder.functions)
                stages = partition(self._nodes, self._outputs, constants, outside)
                self._plans[overridden] = tuple(self._steps(stages, constants))
            return self._plans[overridden]

    def _steps(self, stages: Sequence[Stage], constants: Mapping[str, NDArray[Any]]) -> list[_Step]:
        steps: list[_Step] = []
        for stage in stages:
            if stage.part is not None:
                own = {name: constants[name] for name in stage.part.constants}
                proto = self._holder.model(stage.part.nodes)
                steps.append(self._openvino.part(Piece(stage.part, proto, own, self._shapes)))
            steps.extend(self._outside(node) for node in stage.outside)
            steps.append(_Drop(stage.dropped))
        return steps

    def _outside(self, node: NodeProto) -> _Step:
        if node.domain == "" and node.op_type in DIVIDES:
            number = number_of(node)
            assert number is not None, "every division of a model is numbered when it is read"
            return _DivisionStep(node, self._divisions[number])
        return _EvaluatedStep(node, self._holder, self._divisions)


class _Step(Protocol):
    """A step of a run. It adds values to those of the run, or removes some."""

    def run(self, values: dict[str, Any], execution: RunContext) -> None: ...


@dataclass(frozen=True)
class _Drop:
    names: tuple[str, ...]

    def run(self, values: dict[str, Any], execution: RunContext) -> None:
        for name in self.names:
            del values[name]


class _DivisionStep:
    """A division, computed by Vinculum."""

    def __init__(self, node: NodeProto, division: Division) -> None:
        self._operands = [name for name in node.input if name]
        self._result = node.output[0]
        self._division = division
        self._attributes = {attribute.name: helper.get_attribute_value(attribute) for attribute in node.attribute}

    def run(self, values: dict[str, Any], execution: RunContext) -> None:
        *dividend, divisor = (values[name] for name in self._operands)
        first = dividend[0] if dividend else None
        values[self._result] = quotient(execution, self._division, first, divisor, self._attributes)


class _EvaluatedStep:
    """A node that holds divisions, run by the reference evaluator."""

    def __init__(self, node: NodeProto, holder: Holder, divisions: tuple[Division, ...]) -> None:
        self._operands = inputs_of(node)
        proto = holder.model([node])
        proto.graph.output.extend(ValueInfoProto(name=name) for name in node.output if name)
        self._program = EvaluatedGraph(proto, divisions, {})

    def run(self, values: dict[str, Any], execution: RunContext) -> None:
        operands = {name: values[name] for name in self._operands}
        values.update(self._program.execute(operands, execution))


def _constant_nodes(nodes: Sequence[NodeProto]) -> dict[str, NDArray[Any]]:
    """Return the values of Constant nodes by name, without sparse ones."""
    values: dict[str, NDArray[Any]] = {}
    for node in nodes:
        tensor = tensor_of(node) if node.domain == "" and node.op_type == "Constant" else None
        if tensor is not None:
            values[node.output[0]] = decode(tensor, Path(), f"the value of {title(node)}")
    return values
