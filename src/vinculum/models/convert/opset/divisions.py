"""One Div or Reciprocal said in the words of another operator set, with the same quotients, or refused."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np
from onnx import AttributeProto, NodeProto, TensorProto, helper

from vinculum.errors import ModelError
from vinculum.models.convert.change import Change
from vinculum.models.convert.opset.carried_types import Carrier, carrier
from vinculum.models.convert.opset.legacy_broadcasting import LegacyForm, legacy_form, trailing_ones
from vinculum.models.convert.opset.operands import Operand
from vinculum.models.onnx.rewriter import Rewriter
from vinculum.models.onnx.scopes import Scope, title
from vinculum.spec.model import Broadcasting, OperatorSpec
from vinculum.spec.registry import find
from vinculum.text import quoted

Said = tuple[str, str]
"""What was done, and why."""


def convert_division(
    node: NodeProto, scope: Scope, opset: int, constants: Mapping[str, TensorProto], rewriter: Rewriter
) -> list[Change]:
    """Write a Div or Reciprocal into the rewriter as an operator set has it, and return what became of it.

    Parameters
    ----------
    node : NodeProto
        Legal in the operator set of its scope.
    scope : Scope
        With the types that are known there.
    opset : int
        The operator set to write in.
    constants : Mapping of str to TensorProto
        What the node can see of values that never change.
    rewriter : Rewriter
        Takes the nodes; new ones come before and after the division.

    Raises
    ------
    ModelError
        If the operator set cannot say it; the line names the node and the reason.
    """
    source, target = find(node.op_type, opset=scope.opsets[""]), find(node.op_type, opset=opset)
    where = f"{title(node)} in {quoted(scope.path)[1:-1]}" if scope.path else title(node)
    names = [operand.name for operand in source.inputs]
    operands = [Operand(*pair, scope.types, constants) for pair in zip(names, node.input, strict=True)]
    settings = {a.name: a for a in node.attribute}
    conversion = _Conversion(source, target, opset, operands, settings, rewriter)
    try:
        changes = [Change(where, what, why) for what, why in conversion.prepare()]
    except ValueError as error:
        raise ModelError(f"{where} cannot be said in operator set {opset}: {error}") from None
    conversion.write(node)
    return changes


class _Conversion:
    def __init__(
        self,
        source: OperatorSpec,
        target: OperatorSpec,
        opset: int,
        operands: list[Operand],
        settings: dict[str, AttributeProto],
        rewriter: Rewriter,
    ) -> None:
        self._source, self._target, self._opset = source, target, opset
        self._operands, self._settings, self._rewriter = operands, settings, rewriter
        self._carrier: Carrier | None = None

    def prepare(self) -> Iterator[Said]:
        """Bring the operands and attributes to what the target takes; ValueError with the reason if that fails."""
        if "consumed_inputs" in self._settings and self._target.attribute("consumed_inputs") is None:
            del self._settings["consumed_inputs"]
            yield "consumed_inputs dropped", "it is a hint without effect, which later versions lack"
        self._carrier = self._needed_carrier()
        if self._carrier is not None:
            for operand in self._operands:
                operand.cast(self._carrier.element_type, self._rewriter)
            yield self._carrier.said(self._target)
        old, new = (Broadcasting.MULTIDIRECTIONAL in s.broadcasting.values() for s in (self._source, self._target))
        if old != new:
            yield from self._to_multidirectional() if new else self._to_legacy()

    def write(self, node: NodeProto) -> None:
        """Write the division, under its own name, and the casts after it."""
        division = NodeProto()
        division.CopyFrom(node)
        del division.input[:], division.attribute[:]
        division.input.extend(operand.emit(self._rewriter) for operand in self._operands)
        division.attribute.extend(self._settings.values())
        self._rewriter.nodes.append(division)
        if self._carrier is None:
            return
        value = division.output[0] = self._rewriter.fresh("quotient")
        self._rewriter.nodes[-1].output[0] = value
        for element_type in self._carrier.back:
            value = self._rewriter.cast(value, element_type, "back")
        self._rewriter.name_result(value, node.output[0])

    def _to_multidirectional(self) -> Iterator[Said]:
        axis, broadcast = self._settings.pop("axis", None), self._settings.pop("broadcast", None)
        given = [attribute.name for attribute in (broadcast, axis) if attribute is not None]
        why = f"{self._target.title} has neither axis nor broadcast"
        if axis is None or broadcast is None or (broadcast.i != 1 and not broadcast.ref_attr_name):
            # The divisor lies at the end of the dividend's dimensions, or has all of them.
            if given:
                yield f"{' and '.join(given)} dropped", why
            return
        if axis.ref_attr_name or broadcast.ref_attr_name:
            raise ValueError("its axis or broadcast is an attribute of the function around it; inline the function")
        a, b = self._operands
        if b.shape is not None and all(size == 1 for size in b.shape):
            yield "axis and broadcast dropped", f"{why}; a divisor of one element fits anywhere"
            return
        unknown = [operand.name for operand in (a, b) if operand.shape is None]
        if a.shape is None or b.shape is None:
            raise ValueError(f"with axis={axis.i} it needs the rank of {' and '.join(unknown)}; declare the shape")
        ones = trailing_ones(len(a.shape), len(b.shape), axis.i)
        b.append_ones(ones, self._rewriter)
        what = f"axis={axis.i} said by B of {len(b.shape)} dimensions, the last {ones} of size 1" if ones else ""
        yield what or "axis and broadcast dropped", why

    def _to_legacy(self) -> Iterator[Said]:
        a, b = self._operands
        if a.shape is None or b.shape is None:
            unknown = " and ".join(operand.name for operand in (a, b) if operand.shape is None)
            raise ValueError(f"{self._target.title} has to be told how B is broadcast; declare the shape of {unknown}")
        form = legacy_form(a.shape, b.shape)
        rank = max(len(a.shape), len(b.shape))
        missing_in_a = rank - len(a.shape)
        a.prepend_ones(missing_in_a, self._rewriter)
        said = ["A given the rank of B"] if missing_in_a else []
        repeated = [o.name for o in (a, b) if self._repeat(o, b if o is a else a, form, rank)]
        said += [f"{' and '.join(repeated)} repeated to the shape of C"] if repeated else []
        if form is not None:
            b.drop_ones(form.squeeze_b, self._rewriter)
            self._settings |= {name: helper.make_attribute(name, value) for name, value in form.attributes.items()}
            said += [f"{name}={value}" for name, value in form.attributes.items()]
            said += ["dimensions of size 1 dropped from B"] if form.squeeze_b else []
        if said:
            yield ", ".join(said), f"{self._target.title} broadcasts B onto A only, and has to be told"

    def _repeat(self, operand: Operand, other: Operand, form: LegacyForm | None, rank: int) -> bool:
        """Give an operand the quotient's shape, if the form asks for it or the shapes do not tell; whether it did."""
        axes = range(rank) if form is None else form.stretch_a if operand is self._operands[0] else form.stretch_b
        if not axes:
            return False
        operand.prepend_ones(rank - len(operand.shape or ()), self._rewriter)
        counts = [1 if form is None or d not in axes else form.shape[d] for d in range(rank)]
        known = [count for count in counts if isinstance(count, int)]
        if form is not None and len(known) == rank:
            operand.tile(known, self._rewriter, self._opset)
        else:
            operand.tile_onto(other, rank, self._rewriter, self._opset)
        return True

    def _needed_carrier(self) -> Carrier | None:
        lacking = [t for t in self._source.element_types if t not in self._target.element_types]
        if not lacking:
            return None
        element_type = next((o.element_type for o in self._operands if o.element_type is not None), None)
        if element_type is None:
            names = ", ".join(str(t) for t in lacking)
            raise ValueError(f"{self._target.title} lacks {names}, and the element type is not known; declare it")
        if element_type in self._target.element_types:
            return None
        found = carrier(element_type, self._target, self._opset)
        divisor = self._operands[-1].array
        if found.hides_zero_divisors and (divisor is None or not np.all(divisor)):
            raise ValueError(
                f"{self._target.title} divides no integers, and {found.element_type} would hide a zero divisor; only a "
                "constant divisor without zeros can be said"
            )
        return found
