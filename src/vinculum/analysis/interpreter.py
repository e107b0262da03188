"""One pass over a model: what is known of every value, from the inputs to the outputs."""

from __future__ import annotations

from collections import ChainMap, Counter, defaultdict
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, MutableMapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np
from onnx import AttributeProto, FunctionProto, GraphProto, ModelProto, NodeProto, TypeProto, helper

from vinculum.analysis.control_flow import CONTROL
from vinculum.analysis.domain.abstract_tensor import AbstractTensor, anything
from vinculum.analysis.domain.box import ranked
from vinculum.analysis.domain.dimensions import Dimension, Size
from vinculum.analysis.domain.numbering import Definition, Numbering, content
from vinculum.analysis.transfer.call import NOTHING, Call, Expected, key_of, named_type, size_of
from vinculum.analysis.transfer.operators import operator_of
from vinculum.analysis.transfer.schemas import body_of, deduced
from vinculum.analysis.transfer.shared import aligned
from vinculum.errors import VinculumError
from vinculum.models.onnx.divisions import ALSO_UNIDIRECTIONAL
from vinculum.models.onnx.scopes import function_paths, inner_path, inputs_of, name_of, opset_imports, steps
from vinculum.models.onnx.scopes import key_of as key_of_function
from vinculum.models.onnx.tensors import NUMBERS_AND_STRINGS, array_of, tensor_of

_CONSTANT = ("", "Constant")
_UNIDIRECTIONAL = frozenset({"Div", *ALSO_UNIDIRECTIONAL})
"""Operators that broadcast B onto A alone before operator set 7, as attributes say that later versions do not have."""


@dataclass(frozen=True, slots=True, eq=False)
class Scope:
    """A graph or a function's body during the analysis."""

    path: str  # Where it stands, as in `Division.path`.
    # What is known of each value so far, those of the scopes around included.
    values: MutableMapping[str, AbstractTensor]
    opsets: Mapping[str, int]  # The operator sets by domain.
    # The attributes that the call of a function passes.
    bindings: Mapping[str, AttributeProto] = field(default_factory=dict)
    types: Mapping[str, TypeProto] = field(default_factory=dict)  # The types that ONNX's inference gives.
    # The element types that it leaves open, as far as other values tell them.
    deduced: dict[str, str] = field(default_factory=dict)
    # The nodes here that read each value.
    users: dict[str, list[NodeProto]] = field(default_factory=lambda: defaultdict(list))
    leaving: set[str] = field(default_factory=set)  # The values that are results of the graph, or read in subgraphs.
    steps: dict[int, str] = field(default_factory=dict)  # What paths call the nodes here that hold subgraphs, by id.
    # The node that makes each value, those of the scopes around included.
    producers: MutableMapping[str, NodeProto] = field(default_factory=dict)
    # What the branch implies about values, by value number.
    refined: Mapping[int, AbstractTensor] = field(default_factory=dict)
    owner: str = ""  # The node whose ONNX function body this is; empty elsewhere.
    function: str = ""  # The path of the model's function that this is in; empty in the main graph.


@dataclass(frozen=True, slots=True, eq=False)
class Site:
    """A node with what is known of its operands and its results."""

    node: NodeProto
    call: Call
    operands: Sequence[AbstractTensor | None]
    results: Sequence[AbstractTensor]
    scope: Scope

    @property
    def key(self) -> tuple[str, str]:
        """The operator's domain and name, as the table of operators has them."""
        return key_of(self.node)


class Interpreter:
    """Analyses every node once, in order."""

    def __init__(
        self,
        model: ModelProto,  # As a `SourceFile` holds it, its structure checked.
        types: ModelProto,  # The same with inferred types written into it.
        inputs: Mapping[str, AbstractTensor],  # The declared ranges of inputs.
        sizes: Mapping[str, tuple[float, float]],  # Bounds of named dimensions.
        *,
        narrowed: str = "float32",  # The type that float32 is treated as.
        least_size: int = 1,  # The least size of an input's other dimensions without a number.
        look: Callable[[Site], None] | None = None,  # Called at the end with every node that a run would reach.
    ) -> None:
        self.values = Numbering()
        self.unknown: Counter[str] = Counter()
        self.narrowed = narrowed
        self.nodes = 0
        self._model, self._types, self._inputs, self._sizes, self._look = model, types, inputs, sizes, look
        self._named = {d.dim_param for i in model.graph.input for d in i.type.tensor_type.shape.dim if d.dim_param}
        self._functions = {key_of_function(function): function for function in model.functions}
        self._paths = function_paths(model)
        self._least_size = least_size
        self._quiet = 0
        self._waiting: list[tuple[Callable[[Site], None], Site]] = []
        self._resting: set[int] = set()

    def run(self) -> Scope:
        """Analyse the whole model and return its graph's scope."""
        graph = self._model.graph
        scope = Scope("", {}, opset_imports(self._model), types=_types(self._types.graph))
        with np.errstate(all="ignore"):
            self._add_initializers(graph, scope)
            for value in graph.input:
                known = self._inputs.get(value.name)
                if known is None and value.name not in scope.values:
                    expected = self._expected(value.type, declared=True)
                    known = anything(expected.element_type, expected.shape)
                if known is not None:  # One with an initializer alone is taken for what that says.
                    scope.values[value.name] = self.values.numbered(known)
            self._nodes(graph.node, scope, [value.name for value in graph.output])
            for look, site in self._waiting:  # A hazard may depend on the nodes that read a result.
                with self._tolerating(site.node):
                    look(site)
        return scope

    def _expected(self, declared_type: TypeProto | None, *, declared: bool = False) -> Expected:
        if declared_type is None or not declared_type.HasField("tensor_type"):
            return NOTHING
        found = declared_type.tensor_type
        shape = tuple(self._size(d, declared) for d in found.shape.dim) if found.HasField("shape") else None
        return Expected(named_type(found.elem_type, self.narrowed), shape)

    def _declared(self, scope: Scope, name: str) -> Expected:
        expected = self._expected(scope.types.get(name))
        if expected.element_type or name not in scope.deduced:
            return expected
        return Expected(scope.deduced[name], expected.shape)

    def _size(self, dimension: Any, declared: bool) -> Dimension:
        if declared or dimension.dim_param in self._named:
            return size_of(dimension, self._sizes, self._least_size)
        return size_of(dimension, {}, 0, np.inf)  # Inference alone names it, or nobody does.

    def _add_initializers(self, graph: GraphProto, scope: Scope) -> None:
        for initializer in graph.initializer:
            held_in = named_type(initializer.data_type, self.narrowed) or None
            scope.values[initializer.name] = self.values.constant(array_of(initializer), held_in)

    def _nodes(self, nodes: Iterable[NodeProto], scope: Scope, outputs: Iterable[str]) -> None:
        listed = list(nodes)
        scope.leaving.update(outputs)
        scope.steps.update((id(node), step) for node, step in steps(listed))
        for node in listed:
            for name in node.input:
                scope.users[name].append(node)
            scope.leaving.update(set(inputs_of(node)).difference(node.input))
        untyped = (name for name in scope.users if name in scope.values and not scope.values[name].element_type)
        if any(untyped) or not all(map(self._is_known, listed)):
            scope.deduced.update(deduced(listed, scope.opsets, partial(self._type_of, scope), self.narrowed))
        for node in listed:
            for name in node.output:
                scope.producers[name] = node
            self._node(node, scope)

    def _is_known(self, node: NodeProto) -> bool:
        key = key_of(node)
        if (node.domain, node.op_type, node.overload) in self._functions or key == _CONSTANT:
            return True
        return (not key[0] and key[1] in CONTROL) or operator_of(*key) is not None

    def _type_of(self, scope: Scope, name: str) -> str:
        if name in scope.values:
            return scope.values[name].element_type
        return named_type(scope.types[name].tensor_type.elem_type, self.narrowed) if name in scope.types else ""

    def rests_on_unknown(self, scope: Scope, name: str) -> bool:
        """Tell whether a value is computed from what an unknown operator returns."""
        value = scope.values.get(name)
        return value is not None and value.number in self._resting

    def _node(self, node: NodeProto, scope: Scope) -> None:
        """Analyse a node; an invalid node may give anything, and is reported."""
        self.nodes += not self._quiet and not scope.owner
        call = self._call(node, scope)
        results: list[AbstractTensor] = []
        unknown = self.unknown.total()
        with self._tolerating(node):
            results = self._results(node, call, scope)
        for place, name in enumerate(node.output):
            if name and (place < len(results) or name not in scope.values):
                value = results[place] if place < len(results) else self.values.numbered(call.anything(place))
                scope.values[name] = value
        if self.unknown.total() > unknown or (
            self._resting and any(self.rests_on_unknown(scope, name) for name in inputs_of(node))
        ):
            made = (scope.values.get(name) for name in node.output)
            self._resting.update(value.number for value in made if value is not None and value.constant is None)

    @contextmanager
    def _tolerating(self, node: NodeProto) -> Iterator[None]:
        """Report a node as malformed if it has too few operands, say, or a plug-in raises anything or exits."""
        try:
            yield
        except (VinculumError, MemoryError):
            raise
        except (Exception, SystemExit):
            self.unknown[f"{node.op_type} (malformed)"] += not self._quiet

    def _results(self, node: NodeProto, call: Call, scope: Scope) -> list[AbstractTensor]:
        operands = [self._operand(name, scope) for name in node.input]
        key = key_of(node)
        function = self._functions.get((node.domain, node.op_type, node.overload))
        if function is not None:
            results = self._enter(function, node, operands, scope)
        elif not key[0] and key[1] in CONTROL:
            run = partial(self.branch, call, scope, scope.steps.get(id(node), call.operator))
            results = CONTROL[key[1]](run, call, operands)
        elif key == _CONSTANT:
            results = [self._constant(node, call)]
        else:
            results = self._operator(node, call, operands, scope)
        results = [self._completed(value, call.expected(place)) for place, value in enumerate(results)]
        if function is None and self._look is not None and not self._quiet:
            self._waiting.append((self._look, Site(node, call, operands, results, scope)))
        return results

    def _operand(self, name: str, scope: Scope) -> AbstractTensor | None:
        value = scope.values.get(name) if name else None  # None is also what a function was not given.
        return value if value is None else scope.refined.get(value.number, value)

    def _call(self, node: NodeProto, scope: Scope) -> Call:
        expected = tuple([self._declared(scope, name) for name in node.output])
        opset = scope.opsets.get(key_of(node)[0], 1)
        # Bodies say themselves what they compute in float32: statistics of normalisations, whatever the operands are.
        narrowed = "float32" if scope.owner else self.narrowed
        attributes = {name: _plain(attribute) for name, attribute in _passed(node, scope.bindings)}
        return Call(node.op_type, opset, attributes, expected, self.values, narrowed, bool(scope.owner))

    def _completed(self, value: AbstractTensor, expected: Expected) -> AbstractTensor:
        """Return a value with a number, and the sizes that inference knows."""
        shape = value.shape
        if expected.shape is not None and shape != expected.shape:
            if shape is None:
                box = value.box.mapped(lambda bounds: ranked(bounds, len(expected.shape or ()), np.min))
                value = value.known(shape=expected.shape, box=box)
            elif len(shape) == len(expected.shape):
                pairs = zip(shape, expected.shape, strict=True)
                better = tuple(q if isinstance(p, Size) and isinstance(q, int) else p for p, q in pairs)
                value = value if better == shape else value.known(shape=better)
        if not value.element_type and expected.element_type:
            value = anything(expected.element_type, value.shape)
        return value if value.number else self.values.numbered(value)

    def _constant(self, node: NodeProto, call: Call) -> AbstractTensor:
        bound = [name for name, value in call.attributes.items() if isinstance(value, np.ndarray | int | float | list)]
        tensor = tensor_of(node)
        if tensor is not None:
            array = array_of(tensor)
        elif bound:
            array = np.asarray(call.attributes[bound[0]], NUMBERS_AND_STRINGS.get(bound[0]))
        else:
            return call.anything()
        return self.values.constant(array, call.narrowed if array.dtype == np.float32 else array.dtype.name)

    def _operator(
        self, node: NodeProto, call: Call, operands: list[AbstractTensor | None], scope: Scope
    ) -> list[AbstractTensor]:
        domain, name = key_of(node)
        operator = operator_of(domain, name)
        if operator is None:
            body = None if domain else self._body(node, call, operands, scope)
            if body is None:
                self.unknown[f"{domain}.{name}" if domain else name] += not self._quiet
                return [self.values.numbered(call.anything(place)) for place in range(len(node.output))]
            return body
        key = _key(node, call, operands, operator.commutative) if operator.pure else None
        known = None if key is None else self.values.results(key)
        if known is not None:
            return list(known)
        if not domain and name in _UNIDIRECTIONAL and None not in operands:
            operands = [operands[0], aligned(call, *operands)]  # type: ignore[arg-type]
        result = operator.transfer(call, *operands)
        numbers = tuple(0 if value is None else value.number for value in operands)
        definition = Definition(name, dict(call.attributes), numbers)
        results = []
        for place, value in enumerate([result] if isinstance(result, AbstractTensor) else result):
            value = self._completed(value, call.expected(place))
            results.append(self.values.numbered(value, definition if place == 0 else None))
        while len(results) < len(node.output):
            results.append(self.values.numbered(call.anything(len(results))))
        if key is not None:
            self.values.keep(key, tuple(results))
        return results

    def _body(
        self, node: NodeProto, call: Call, operands: Sequence[AbstractTensor | None], scope: Scope
    ) -> list[AbstractTensor] | None:
        function = body_of(node, _passed(node, scope.bindings), call.opset, operands)
        return None if function is None else self._enter(function, node, operands, scope, owner=name_of(node))

    def _enter(
        self,
        function: FunctionProto,
        node: NodeProto,
        operands: Sequence[AbstractTensor | None],
        around: Scope,
        owner: str = "",
    ) -> list[AbstractTensor]:
        """Analyse a function's body with the operands of a call, and return its results."""
        bindings = {a.name: a for a in function.attribute_proto} | dict(_passed(node, around.bindings))
        given = {name: value for name, value in zip(function.input, operands, strict=False) if value is not None}
        pairs = zip(function.input, node.input, strict=False)
        producers = {inside: around.producers[name] for inside, name in pairs if name in around.producers}
        opsets, outer = {**around.opsets, **opset_imports(function)}, around.owner or owner
        inner = around.function if outer else self._paths[key_of_function(function)]
        path = around.path if outer else inner
        scope = Scope(path, given, opsets, bindings, owner=outer, producers=producers, function=inner)
        self._nodes(function.node, scope, function.output)
        missing = anything("", None)
        return [self.values.numbered(scope.values.get(name, missing)) for name in function.output]

    def branch(
        self,
        call: Call,
        around: Scope,
        step: str,
        attribute: str,
        given: Sequence[AbstractTensor],
        refined: Mapping[int, AbstractTensor] | None = None,
        *,
        quiet: bool = False,
    ) -> list[AbstractTensor]:
        """Analyse the subgraph of an attribute with its inputs, and return its outputs."""
        graph: GraphProto = call.attributes[attribute]
        values = ChainMap({}, *(around.values.maps if isinstance(around.values, ChainMap) else [around.values]))
        scope = Scope(
            inner_path(around.path, step, attribute),
            values,
            around.opsets,
            around.bindings,
            _types(graph),
            producers=ChainMap({}, around.producers),
            refined={**around.refined, **(refined or {})},
            owner=around.owner,
            function=around.function,
        )
        self._quiet += quiet
        try:
            self._add_initializers(graph, scope)
            for value, known in zip(graph.input, given, strict=False):
                values[value.name] = self.values.numbered(known)
            self._nodes(graph.node, scope, [value.name for value in graph.output])
        finally:
            self._quiet -= quiet
        return [self._operand(o.name, scope) or anything("", None) for o in graph.output]


def _types(graph: GraphProto) -> Mapping[str, TypeProto]:
    return {info.name: info.type for group in (graph.value_info, graph.output, graph.input) for info in group}


def _passed(node: NodeProto, bindings: Mapping[str, AttributeProto]) -> Iterator[tuple[str, AttributeProto]]:
    """Yield the attributes of a node by name, those of a function's node as the call of the function passes them."""
    for attribute in node.attribute:
        found = bindings.get(attribute.ref_attr_name) if attribute.ref_attr_name else attribute
        if found is not None:
            yield attribute.name, found


def _plain(attribute: AttributeProto) -> Any:
    if attribute.type == AttributeProto.TENSOR:
        return array_of(attribute.t)
    value = helper.get_attribute_value(attribute)
    if isinstance(value, bytes):
        return value.decode(errors="replace")
    if attribute.type in (AttributeProto.INTS, AttributeProto.FLOATS):
        return list(value)
    if attribute.type == AttributeProto.STRINGS:
        return [one.decode(errors="replace") for one in value]
    return value


def _key(node: NodeProto, call: Call, operands: Sequence[AbstractTensor | None], commutative: bool) -> Hashable:
    numbers = [0 if value is None else value.number for value in operands]
    if commutative:
        numbers.sort()
    attributes = tuple(sorted((name, content(value)) for name, value in call.attributes.items()))
    return key_of(node), call.opset, call.in_body, attributes, tuple(numbers), len(node.output)
