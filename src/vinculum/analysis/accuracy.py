"""How far each division and each output can be from its exact value: sound bounds of the absolute error, over boxes.

The exact value of a tensor is what real arithmetic gives for the exact inputs and the model's constants as they are
stored; integer divisions are exact as rationals. Inputs may be off by given errors. Every bound adds the propagated
errors of the operands and the operator's own rounding, by the rule that the table of operators has, for all operands in
the boxes that the analysis knows.

Ranges of inputs are widened by their errors. Then exact values of floats lie in the boxes too, as these hold what any
precision gives. This does not hold after a truncating division.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from onnx import GraphProto

from vinculum.analysis.assumptions import Assumptions, Range, read_assumptions
from vinculum.analysis.domain.abstract_tensor import AbstractTensor
from vinculum.analysis.domain.box import limited
from vinculum.analysis.domain.formats import is_discrete
from vinculum.analysis.interpreter import Interpreter, Site
from vinculum.analysis.transfer.errors import Computed, Errors, NoBoundError, division, sum_of
from vinculum.analysis.transfer.operators import operator_of
from vinculum.errors import AttributeValueError, ModelError
from vinculum.models.onnx.checks import check_structure
from vinculum.models.onnx.functions import inlined
from vinculum.models.onnx.inference import with_types
from vinculum.models.onnx.scopes import name_of, title
from vinculum.models.source import ModelSource, SourceFile, any_source, naming, onnx_model
from vinculum.text import did_you_mean, listed, quoted

_TRUNCATE = ("Mean", "ReduceMean")
"""Operators that are not exact on exact integers, besides divisions."""


@dataclass(frozen=True)
class Bound:
    """How far a value can be from the exact one; infinite where there is no bound."""

    name: str  # The division's node, or the output.
    operator: str  # Of a division; empty for an output.
    element_type: str
    propagated: float  # Of a division, from its operands' errors.
    introduced: float  # Of a division, from its own rounding.
    total: float
    reason: str = ""  # Why there is no bound.


@dataclass(frozen=True)
class Accuracy:
    """The bounds of a model, in its order."""

    divisions: tuple[Bound, ...]
    outputs: tuple[Bound, ...]


def accuracy(
    model: ModelSource | SourceFile,
    *,
    assume: Sequence[str] = (),
    input_errors: Mapping[str, float] | None = None,
) -> Accuracy:
    """Return sound bounds of the absolute errors of every division of the main graph and of every output.

    They hold for every runtime that rounds each result to nearest, in its element type or a wider one, and sums in any
    order. Without assumed ranges few are finite.

    - `input_errors`: the largest absolute error of each input; default 0.

    ModelError if the model or an assumption cannot be read, or an error names no input; AttributeValueError if an error
    is negative or not a number.
    """
    source = any_source(model)
    with naming(source.path):
        proto = inlined(onnx_model(source))
        check_structure(proto)
        errors = _checked(input_errors or {}, [value.name for value in proto.graph.input])
        assumptions = _widened(read_assumptions(assume, proto), errors)
        types = with_types(proto)
    found = _Errors(proto.graph, errors)
    interpreter = Interpreter(proto, types, assumptions.tensors("float32"), assumptions.sizes, look=found.look)
    values = interpreter.run().values
    outputs = tuple(found.output(value.name, values.get(value.name)) for value in proto.graph.output)
    return Accuracy(tuple(found.divisions), outputs)


def _checked(errors: Mapping[str, float], inputs: Sequence[str]) -> Mapping[str, float]:
    for name, error in errors.items():
        if name not in inputs:
            raise ModelError(
                f"an error is given for {quoted(name)}, which is not an input; "
                f"inputs: {listed(list(inputs))}{did_you_mean(name, inputs)}"
            )
        if not 0 <= error < np.inf:
            raise AttributeValueError(f"the error of {quoted(name)} is {error!r}; give a number of at least 0")
    return errors


def _widened(assumptions: Assumptions, errors: Mapping[str, float]) -> Assumptions:
    """Return assumptions that hold for the exact inputs, too."""
    ranges = dict(assumptions.ranges)
    for name, error in errors.items():
        if name in ranges and error:
            low, high = ranges[name].low - error, ranges[name].high + error
            ranges[name] = Range(float(np.nextafter(low, -np.inf)), float(np.nextafter(high, np.inf)))
    return replace(assumptions, ranges=ranges)


class _Errors:
    """The errors of the values of the main graph, looked at node by node."""

    def __init__(self, graph: GraphProto, given: Mapping[str, float]) -> None:
        self._errors: dict[str, Errors | str] = {value.name: np.asarray(0.0) for value in graph.input}
        self._errors |= {name: np.asarray(float(error)) for name, error in given.items()}
        self._errors |= {tensor.name: np.asarray(0.0) for tensor in graph.initializer if tensor.name not in given}
        self._inside = set(self._errors)
        self.divisions: list[Bound] = []

    def output(self, name: str, known: AbstractTensor | None) -> Bound:
        """Return the bound of an output."""
        error, kind = self._errors.get(name, "nothing is known about it"), "" if known is None else known.element_type
        if isinstance(error, str):
            return Bound(name, "", kind, np.inf, np.inf, np.inf, error)
        return Bound(name, "", kind, np.inf, np.inf, float(error.max()))

    def look(self, site: Site) -> None:
        """Bound the error of a node's results."""
        if site.scope.path or site.scope.owner:
            return
        node, where = site.node, title(site.node)
        parts: tuple[Errors, Errors] | None = None
        divides = site.key in (("", "Div"), ("", "Reciprocal"))
        try:
            made = self._made(site)
            if divides:
                parts = division(made)
            found = _bounded(made, site) if parts is None else sum_of(*parts)
            if not np.isfinite(found).all():
                raise NoBoundError("the bound is infinite")
            error: Errors | str = limited(found, np.max)
            if all(made.inside) and (made.result.form is not None or not found.any()):
                self._inside.update(node.output)
        except NoBoundError as reason:
            error = str(reason) if str(reason).startswith("node ") else f"{where}: {reason}"
        for place, name in enumerate(node.output):
            alike = place == 0 or node.op_type == "Split"
            self._errors[name] = error if alike else f"{where}: its further outputs have no rule"
        if divides:
            self.divisions.append(_bound(site, parts, error))

    def _made(self, site: Site) -> Computed:
        given = [name for name in site.node.input if name]
        found = [self._errors.get(name, "nothing is known about it") for name in given]
        for unknown in found:
            if isinstance(unknown, str):
                raise NoBoundError(unknown)
        errors = [error for error in found if not isinstance(error, str)]
        result = site.results[0]
        if result.may_nan or result.may_infinite:
            raise NoBoundError("the result can be infinite or NaN")
        if site.call.opset < 7:  # A second operand may be aligned otherwise.
            errors = [np.asarray(error.max()) for error in errors]
        operands = tuple(operand for operand in site.operands if operand is not None)
        return Computed(site.call, operands, tuple(errors), tuple(name in self._inside for name in given), result)


def _bound(site: Site, parts: tuple[Errors, Errors] | None, error: Errors | str) -> Bound:
    name, kind, operator = name_of(site.node), site.results[0].element_type, site.node.op_type
    if isinstance(error, str) or parts is None:
        return Bound(name, operator, kind, np.inf, np.inf, np.inf, str(error))
    propagated, introduced = (float(part.max()) for part in parts)
    return Bound(name, operator, kind, propagated, introduced, float(error.max()))


def _bounded(made: Computed, site: Site) -> Errors:
    """Return the bound of a node's result."""
    operator, name = operator_of(*site.key), site.node.op_type
    if site.key == ("", "Constant"):
        return np.asarray(0.0)
    whole = all(is_discrete(value.element_type) for value in (*made.operands, made.result))
    if whole and name not in _TRUNCATE and not any(error.any() for error in made.errors):
        return np.asarray(0.0)
    if operator is None or operator.error is None:
        raise NoBoundError(f"{name} has no rule" if not site.node.domain else "it has no rule")
    return operator.error(made)
