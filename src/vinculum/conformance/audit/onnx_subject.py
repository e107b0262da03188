"""An ONNX model whose divisions hand out their operands and quotients: each becomes an output of the model's."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from onnx import ModelProto, NodeProto, TensorProto, helper
from onnx.inliner import inline_local_functions

from vinculum.conformance.audit.bodies import Bodies
from vinculum.conformance.audit.points import Delivery, Point, Source, Subject, inside
from vinculum.errors import ModelError
from vinculum.models.convert.constants import visible_constants
from vinculum.models.execution import Division
from vinculum.models.messages import one_line
from vinculum.models.onnx_divisions import division_nodes, division_of, mark, number_of
from vinculum.models.onnx_file import read_whole
from vinculum.models.onnx_inference import infer_types
from vinculum.models.onnx_model import model_of
from vinculum.models.onnx_scopes import Scope, opset_imports
from vinculum.models.onnx_tensors import decode
from vinculum.spec.attributes import checked_attributes
from vinculum.spec.model import Broadcasting


def onnx_subject(file: Path, *, with_bodies: bool = True) -> Subject:
    """Return the model in an ONNX file with the operands and quotients of its divisions exposed; functions are inlined.

    Parameters
    ----------
    file : Path
        The file.
    with_bodies : bool
        Whether the branches of an If and the body of a Loop in the main graph are to hand their values out, too.

    Raises
    ------
    ModelError, ElementTypeError, AttributeValueError, BroadcastError
        As `vinculum.load` says.
    """
    proto = read_whole(file)
    copy = ModelProto()
    copy.CopyFrom(proto)
    model = model_of(copy, file)
    paths = _marked(proto)
    inlined = _inlined(proto) if proto.functions else proto
    exposed = _Exposed(inlined, file.parent, with_bodies)
    names = {function.name: function.name for function in inlined.functions}
    points, taken = [], set[tuple[str, str]]()
    for scope, node in list(division_nodes(infer_types(inlined), names)):
        found = division_of(scope, node, taken)
        path = paths.get(number_of(node), scope.path)
        division = Division(found.name, path, found.spec, found.element_type, found.shapes)
        points.append(exposed.point(scope, node, division))
    outputs = tuple(tensor.name for tensor in model.outputs)
    return Subject(file, model.inputs, outputs, tuple(points), exposed.model, lambda: model)


def _marked(model: ModelProto) -> dict[int | None, str]:
    """Return every division's path by the number that it is marked with; the copies that inlining makes keep it."""
    paths: dict[int | None, str] = {}
    names = {function.name: function.name for function in model.functions}
    for number, (scope, node) in enumerate(division_nodes(model, names)):
        mark(node, number)
        paths[number] = scope.path
    return paths


def _inlined(model: ModelProto) -> ModelProto:
    """Return a model with its functions' nodes in the place of their calls; those of other operator sets stay."""
    imported = opset_imports(model)
    for function in model.functions:
        for domain, version in opset_imports(function).items():
            if domain not in imported:  # What functions import alone is to be the model's.
                imported[domain] = version
                model.opset_import.add(domain=domain, version=version)
    try:
        return inline_local_functions(model)
    except (RuntimeError, ValueError) as error:
        raise ModelError(f"the model's functions cannot be inlined: {one_line(error)}") from None


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
        if scope.path:
            return self._inner_point(scope, node, Point(division, attributes, unobserved=inside(scope.path)))
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
