"""An ONNX model with the operands and quotients of its divisions exposed as outputs of the model."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain
from pathlib import Path

from onnx import FunctionProto, ModelProto, NodeProto, TensorProto, helper
from onnx.inliner import inline_local_functions

from vinculum.conformance.audit.taps import AuditedModel, Bodies, Layout, Source, Tap, distinct_name, inside_body
from vinculum.errors import ModelError
from vinculum.models.execution import Division
from vinculum.models.inner_divisions import InnerDivision
from vinculum.models.model import Model
from vinculum.models.onnx.divisions import GUARDS, division_nodes, division_of, expanded, guarded, mark, number_of
from vinculum.models.onnx.inference import with_types
from vinculum.models.onnx.model import model_of
from vinculum.models.onnx.scopes import Scope, all_nodes, name_of, opset_imports, scopes
from vinculum.models.onnx.tensors import decode
from vinculum.models.source import SourceFile
from vinculum.spec.attributes import checked_attributes
from vinculum.spec.element_types import by_onnx_code
from vinculum.spec.model import AttributeValue, Broadcasting, Dialect, OperatorSpec
from vinculum.spec.onnx_div import DIV_14
from vinculum.spec.onnx_reciprocal import RECIPROCAL_13
from vinculum.spec.openvino_divide import DIVIDE_1
from vinculum.spec.rows import find
from vinculum.text import one_line, quoted

_GUARDED: Mapping[str, tuple[OperatorSpec, Mapping[str, AttributeValue]]] = {
    "Div": (DIV_14, {}),
    "Reciprocal": (RECIPROCAL_13, {}),
    "FloorDiv": (DIVIDE_1, {"m_pythondiv": True}),  # ONNX has no floor division.
}
"""The operations that guards by `vinculum harden` compute."""


def onnx_subject(source: SourceFile, *, with_bodies: bool = True, expand: bool = False) -> AuditedModel:
    """Return the model in an ONNX file with the operands and quotients of its divisions exposed; functions are inlined.

    A guard made by `vinculum harden` counts as one division; its internal divisions are not listed.

    - `with_bodies`: Whether to expose values in the branches of an If and in the body of a Loop of the main graph, too.
    - `expand`: Whether to replace nodes that divide internally by the function bodies with which ONNX defines them.

    ModelError, ElementTypeError, AttributeValueError, BroadcastError as for `vinculum.load`, or if two outputs have the
    same name.
    """
    proto, file = source.complete(), source.path
    counts = Counter(value.name for value in proto.graph.output)
    if twice := next((name for name, count in counts.items() if count > 1), None):
        raise ModelError(f"the model has output {quoted(twice)} twice; it can be audited with each once")
    proto, bodies = expanded(_inlined(proto)) if expand else (proto, 0)
    copy = ModelProto()
    copy.CopyFrom(proto)
    model = model_of(copy, file)
    titles = {function.name: function.name for function in proto.functions}
    originals = _originals(proto, model, titles)
    inlined = _inlined(proto)
    exposed = _Exposed(inlined, file.parent, with_bodies)
    # The types in a function are known only where it is called, so they are inferred after inlining.
    typed = with_types(inlined)
    taken = set[tuple[str, str]]()
    taps: dict[int | None, list[Tap]] = {number: [] for number in originals}
    for scope, node in list(division_nodes(typed, titles)):
        original = originals.get(number_of(node))
        if original is not None:
            found = division_of(scope, node) if titles else original
            name = distinct_name(original.name, original.path, taken)
            division = Division(name, original.path, found.spec, found.element_type, found.shapes)
            given = {a.name: helper.get_attribute_value(a) for a in node.attribute if not a.ref_attr_name}
            tap = Tap(division, checked_attributes(division.spec, given))
            taps[number_of(node)].append(exposed.tap(scope, node, node.input, tap))
    for number, division in originals.items():
        why = f"inside the function {quoted(division.path.partition('/')[0])}, which is never called"
        taps[number] = taps[number] or [Tap(division, {}, unobserved=why)]
    guards, inner = list[Tap](), list(model.inner_divisions)
    for scope, node, operator, operands in list(_guards(typed, titles)):
        if operator in _GUARDED:
            name = distinct_name(name_of(node), scope.path, taken)
            guards.append(exposed.tap(scope, node, operands, _guard(name, scope, operator, operands)))
        else:
            inner.append(InnerDivision(name_of(node), scope.path, operator, "for its remainder, guarded"))
    outputs = tuple(tensor.name for tensor in model.outputs)
    found_points = (*chain(*taps.values()), *guards)
    return AuditedModel(file, model.inputs, outputs, found_points, exposed.model, tuple(inner), bodies)


def _originals(proto: ModelProto, model: Model, titles: Mapping[str, str]) -> dict[int | None, Division]:
    """Return a model's divisions except those of guards, by the numbers with which their nodes are marked."""
    originals: dict[int | None, Division] = dict(enumerate(model.divisions))
    for place, (_, node) in enumerate(division_nodes(proto, titles)):
        mark(node, place)  # Copies made by inlining keep the mark.
        if guarded(node) is not None:
            del originals[place]
    return originals


def _guards(model: ModelProto, titles: Mapping[str, str]) -> Iterator[tuple[Scope, NodeProto, str, Sequence[str]]]:
    """Yield scope, result node, operator and operands of each guard by which `vinculum harden` replaced a division.

    The result node is the call of the guard's function, or the last of the guard's nodes.
    """
    for scope in scopes(model, titles):
        for node in () if isinstance(scope.holder, FunctionProto) else scope.holder.node:
            written = guarded(node)
            if node.domain == GUARDS and node.op_type in titles:
                yield scope, node, node.op_type.partition("_")[0], node.input
            elif written:
                operator, *operands = json.loads(written)
                yield scope, node, operator, operands


def _guard(name: str, scope: Scope, operator: str, operands: Sequence[str]) -> Tap:
    spec, attributes = _GUARDED[operator]
    if spec.dialect is Dialect.ONNX:
        spec = find(spec.name, opset=scope.opsets[""])
    declared = scope.types.get(operands[-1])
    code = TensorProto.UNDEFINED if declared is None else declared.tensor_type.elem_type
    element_type = by_onnx_code(code) if code else None
    return Tap(Division(name, scope.path, spec, element_type), attributes, guarded=True)


def _inlined(model: ModelProto) -> ModelProto:
    """Return a model with its functions inlined, except guards and functions with other operator sets."""
    functions = list(model.functions)
    guards = [function for function in functions if function.domain == GUARDS]
    if len(guards) == len(functions):
        return model
    imported = opset_imports(model)
    for function in model.functions:
        for domain, version in opset_imports(function).items():
            if domain not in imported:  # The model must import what only its functions imported so far.
                imported[domain] = version
                model.opset_import.add(domain=domain, version=version)
    calling = ModelProto()
    calling.CopyFrom(model)
    del calling.functions[:]
    calling.functions.extend(function for function in functions if function.domain != GUARDS)
    try:
        inlined = inline_local_functions(calling)
    except (RuntimeError, ValueError) as error:
        raise ModelError(f"the model's functions cannot be inlined: {one_line(error)}") from None
    inlined.functions.extend(guards)
    _restore_called(inlined, functions)
    return inlined


def _restore_called(model: ModelProto, functions: Iterable[FunctionProto]) -> None:
    """Add functions that the model's remaining functions call; the inliner drops those that it inlined elsewhere."""
    missing = {(function.domain, function.name, function.overload): function for function in functions}
    waiting = list(model.functions)
    for function in waiting:
        missing.pop((function.domain, function.name, function.overload), None)
    while waiting:
        for node in all_nodes(waiting.pop().node):
            called = missing.pop((node.domain, node.op_type, node.overload), None)
            if called is not None:
                waiting.append(model.functions.add())
                waiting[-1].CopyFrom(called)


class _Exposed:
    """Appends values to the outputs of a model, each once."""

    def __init__(self, model: ModelProto, folder: Path, with_bodies: bool) -> None:
        self.model = model
        self._folder = folder
        self._inputs = {value.name for value in model.graph.input}
        self._constants: Mapping[str, TensorProto] = {
            **{tensor.name: tensor for tensor in model.graph.initializer},
            **next(scopes(model, {})).constants,
        }
        self._own = [value.name for value in model.graph.output]
        self._places: dict[str, int] = {}
        self._bodies = Bodies(model, opset_imports(model).get("", 1)) if with_bodies else None

    def tap(self, scope: Scope, node: NodeProto, operands: Sequence[str], tap: Tap) -> Tap:
        """Return the tap of a node's division, with operands and quotient exposed if possible."""
        if isinstance(scope.holder, FunctionProto):
            why = f"inside the function {quoted(scope.path)}, which is not inlined everywhere: an operator set differs"
            return replace(tap, unobserved=why)
        values = [*filter(None, operands), node.output[0]]
        tap = replace(tap, divisor=values[-2] if values[-2] in self._inputs else None)
        if scope.path:
            return self._inner_point(scope, values, replace(tap, unobserved=inside_body(scope.path)))
        sources = [self._source(name, scope, tap.division) for name in values[:-1]]
        return replace(tap, sources=(*sources, Source(place=self._place(values[-1], scope))))

    def _inner_point(self, scope: Scope, values: Sequence[str], tap: Tap) -> Tap:
        element_type = tap.division.element_type
        if self._bodies is None or element_type is None or not self._bodies.can_expose(scope.path):
            return tap
        stacked = self._bodies.is_stacked(scope.path)
        if stacked and tap.division.spec.broadcasting_rule(tap.attributes) is Broadcasting.LIMITED:
            return tap
        names = self._bodies.expose(scope.path, values, element_type)
        sources = tuple(Source(place=self._place(name, scope)) for name in names)
        how = Layout.STACKED if stacked else Layout.BRANCH
        return replace(tap, sources=sources, unobserved=None, layout=how)

    def _source(self, name: str, scope: Scope, division: Division) -> Source:
        given = name if name in self._inputs else None
        if name in self._constants:
            return Source(given, decode(self._constants[name], self._folder, f"an operand of {division.label}"))
        return Source(given) if given is not None else Source(place=self._place(name, scope))

    def _place(self, name: str, scope: Scope) -> int:
        """Return the position of a value among the outputs; it is added, with its known type, if it is missing."""
        if name not in self._places:
            if name in self._own:
                self._places[name] = self._own.index(name)
            else:
                self._places[name] = len(self.model.graph.output)
                output = self.model.graph.output.add(name=name)
                if name in scope.types:
                    output.type.CopyFrom(scope.types[name])
                    for dimension in output.type.tensor_type.shape.dim:
                        dimension.Clear()  # Sizes are left out, as some runtimes infer better ones.
        return self._places[name]
