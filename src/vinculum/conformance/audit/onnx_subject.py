"""An ONNX model whose divisions hand out their operands and quotients: each becomes an output of the model's."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from itertools import chain
from pathlib import Path

from onnx import FunctionProto, ModelProto, NodeProto, TensorProto, helper
from onnx.inliner import inline_local_functions

from vinculum.conformance.audit.bodies import Bodies
from vinculum.conformance.audit.points import Delivery, Point, Source, Subject, distinct_name, inside_body
from vinculum.errors import ModelError
from vinculum.models.execution import Division
from vinculum.models.onnx.constants import visible_constants
from vinculum.models.onnx.divisions import division_nodes, division_of, mark, number_of
from vinculum.models.onnx.file import complete_model
from vinculum.models.onnx.inference import infer_types
from vinculum.models.onnx.model import model_of
from vinculum.models.onnx.scopes import Scope, all_nodes, opset_imports
from vinculum.models.onnx.tensors import decode
from vinculum.models.source import SourceFile
from vinculum.spec.attributes import checked_attributes
from vinculum.spec.model import Broadcasting
from vinculum.text import one_line, quoted


def onnx_subject(source: SourceFile, *, with_bodies: bool = True) -> Subject:
    """Return the model in an ONNX file with the operands and quotients of its divisions exposed; functions are inlined.

    Parameters
    ----------
    source : SourceFile
        An ONNX file.
    with_bodies : bool
        Whether the branches of an If and the body of a Loop in the main graph are to hand their values out, too.

    Raises
    ------
    ModelError, ElementTypeError, AttributeValueError, BroadcastError
        As `vinculum.load` says, or if two outputs have one name.
    """
    proto, file = complete_model(source), source.path
    _check_outputs(proto)
    copy = ModelProto()
    copy.CopyFrom(proto)
    model = model_of(copy, file)
    functions = {function.name: function.name for function in proto.functions}
    for place, (_, node) in enumerate(division_nodes(proto, functions)):
        mark(node, place)  # The copies that inlining makes keep it.
    inlined = _inlined(proto) if proto.functions else proto
    exposed = _Exposed(inlined, file.parent, with_bodies)
    originals: dict[int | None, Division] = dict(enumerate(model.divisions))
    points: dict[int | None, list[Point]] = {number: [] for number in originals}
    taken = set[tuple[str, str]]()
    # Of what stands in a function only a call tells the types.
    typed = infer_types(inlined) if proto.functions else inlined
    for scope, node in list(division_nodes(typed, functions)):
        number = number_of(node)
        original = originals[number]
        found = division_of(scope, node, set()) if proto.functions else original
        name = distinct_name(original.name, original.path, taken)
        division = Division(name, original.path, found.spec, found.element_type, found.shapes)
        points[number].append(exposed.point(scope, node, division))
    for number, division in originals.items():
        points[number] = points[number] or [Point(division, {}, unobserved=_uncalled(division.path))]
    outputs = tuple(tensor.name for tensor in model.outputs)
    return Subject(file, model.inputs, outputs, tuple(chain(*points.values())), exposed.model)


def _check_outputs(model: ModelProto) -> None:
    seen = set[str]()
    for value in model.graph.output:
        if value.name in seen:
            raise ModelError(f"the model has output {quoted(value.name)} twice; it can be audited with each once")
        seen.add(value.name)


def _uncalled(path: str) -> str:
    return f"inside the function {quoted(path.partition('/')[0])}, which is never called"


def _inlined(model: ModelProto) -> ModelProto:
    """Return a model with its functions' nodes in the place of their calls; those of other operator sets stay."""
    imported = opset_imports(model)
    for function in model.functions:
        for domain, version in opset_imports(function).items():
            if domain not in imported:  # What functions import alone is to be the model's.
                imported[domain] = version
                model.opset_import.add(domain=domain, version=version)
    try:
        inlined = inline_local_functions(model)
    except (RuntimeError, ValueError) as error:
        raise ModelError(f"the model's functions cannot be inlined: {one_line(error)}") from None
    _restore_called(inlined, model.functions)
    return inlined


def _restore_called(model: ModelProto, functions: Iterable[FunctionProto]) -> None:
    """Add the functions that those left in a model call; the inliner drops what it inlined elsewhere."""
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
    """Makes values outputs of a model, each once, behind those that it has."""

    def __init__(self, model: ModelProto, folder: Path, with_bodies: bool) -> None:
        self.model = model
        self._folder = folder
        self._inputs = {value.name for value in model.graph.input}
        self._constants: Mapping[str, TensorProto] = {
            **{tensor.name: tensor for tensor in model.graph.initializer},
            **next(iter(visible_constants(model))),
        }
        self._own = [value.name for value in model.graph.output]
        self._places: dict[str, int] = {}
        self._bodies = Bodies(model, opset_imports(model).get("", 1)) if with_bodies else None

    def point(self, scope: Scope, node: NodeProto, division: Division) -> Point:
        """Return the division that a node is, its operands and its quotient exposed if that can be done."""
        given = {a.name: helper.get_attribute_value(a) for a in node.attribute if not a.ref_attr_name}
        attributes = checked_attributes(division.spec, given)
        if isinstance(scope.holder, FunctionProto):
            why = f"inside the function {quoted(scope.path)}, which is not inlined everywhere: an operator set differs"
            return Point(division, attributes, unobserved=why)
        if scope.path:
            return self._inner_point(scope, node, Point(division, attributes, unobserved=inside_body(scope.path)))
        operands = [self._source(name, division) for name in node.input if name]
        quotient = Source(place=self._place(node.output[0]))
        return Point(division, attributes, (*operands, quotient))

    def _inner_point(self, scope: Scope, node: NodeProto, point: Point) -> Point:
        element_type = point.division.element_type
        if self._bodies is None or element_type is None or not self._bodies.can_expose(scope.path):
            return point
        stacked = self._bodies.is_stacked(scope.path)
        if stacked and point.division.spec.broadcasting_rule(point.attributes) is Broadcasting.LIMITED:
            return point
        names = self._bodies.expose(scope.path, [*node.input, *node.output], element_type)
        sources = tuple(Source(place=self._place(name)) for name in names)
        how = Delivery.STACKED if stacked else Delivery.BRANCH
        return replace(point, sources=sources, unobserved=None, delivery=how)

    def _source(self, name: str, division: Division) -> Source:
        given = name if name in self._inputs else None
        if name in self._constants:
            return Source(given, decode(self._constants[name], self._folder, f"an operand of {division.label}"))
        return Source(given) if given is not None else Source(place=self._place(name))

    def _place(self, name: str) -> int:
        """Return the place of a value among all outputs, and make it one."""
        if name not in self._places:
            if name in self._own:
                self._places[name] = self._own.index(name)
            else:
                self._places[name] = len(self.model.graph.output)
                self.model.graph.output.add(name=name)
        return self._places[name]
