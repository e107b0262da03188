"""One Div or Reciprocal in another operator set, with the same quotients, or refused."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np
from onnx import AttributeProto, NodeProto, TensorProto, helper

from vinculum.errors import ModelError
from vinculum.models.convert.change import Change
from vinculum.models.convert.opset.adapters.unidirectional_broadcasting import (
    is_one,
    to_multidirectional,
    to_unidirectional,
)
from vinculum.models.convert.opset.operands import Operand
from vinculum.models.convert.opset.promoted_types import Promotion, promotion
from vinculum.models.onnx.rewriter import Rewriter
from vinculum.models.onnx.scopes import Scope, title
from vinculum.spec.model import Broadcasting, OperatorSpec
from vinculum.spec.registry import find
from vinculum.text import quoted

Reason = tuple[str, str]
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
        If it is not representable there; the line names the node and the reason.
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
        raise ModelError(f"{where} is not representable in operator set {opset}: {error}") from None
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
        self._promotion: Promotion | None = None

    def prepare(self) -> Iterator[Reason]:
        """Bring the operands and attributes to what the target takes; ValueError with the reason if that fails."""
        if "consumed_inputs" in self._settings and self._target.attribute("consumed_inputs") is None:
            del self._settings["consumed_inputs"]
            yield "consumed_inputs dropped", "it is a hint without effect, which later versions lack"
        self._promotion = self._needed_promotion()
        if self._promotion is not None:
            for operand in self._operands:
                operand.cast(self._promotion.element_type, self._rewriter)
            yield self._promotion.reason(self._target)
        old, new = (Broadcasting.MULTIDIRECTIONAL in s.broadcasting.values() for s in (self._source, self._target))
        if old != new:
            yield from self._to_multidirectional() if new else self._to_unidirectional()

    def write(self, node: NodeProto) -> None:
        """Write the division, under its own name, and the casts after it."""
        division = NodeProto()
        division.CopyFrom(node)
        del division.input[:], division.attribute[:]
        division.input.extend(operand.emit(self._rewriter) for operand in self._operands)
        division.attribute.extend(self._settings.values())
        self._rewriter.nodes.append(division)
        if self._promotion is None:
            return
        value = division.output[0] = self._rewriter.fresh("quotient")
        self._rewriter.nodes[-1].output[0] = value
        for element_type in self._promotion.back:
            value = self._rewriter.cast(value, element_type, "back")
        self._rewriter.name_result(value, node.output[0])

    def _to_multidirectional(self) -> Iterator[Reason]:
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
        ones = to_multidirectional(a, b, axis.i, self._rewriter)
        if not ones and is_one(b.shape):
            yield "axis and broadcast dropped", f"{why}; a divisor of one element fits anywhere"
            return
        rank = len(b.shape or ())
        what = f"axis={axis.i} written as B of {rank} dimensions, the last {ones} of size 1" if ones else ""
        yield what or "axis and broadcast dropped", why

    def _to_unidirectional(self) -> Iterator[Reason]:
        a, b = self._operands
        attributes, done = to_unidirectional(a, b, self._rewriter, self._opset, self._target.title)
        self._settings |= {name: helper.make_attribute(name, value) for name, value in attributes.items()}
        if done:
            yield ", ".join(done), f"{self._target.title} broadcasts B onto A only, as attributes say"

    def _needed_promotion(self) -> Promotion | None:
        lacking = [t for t in self._source.element_types if t not in self._target.element_types]
        if not lacking:
            return None
        element_type = next((o.element_type for o in self._operands if o.element_type is not None), None)
        if element_type is None:
            names = ", ".join(str(t) for t in lacking)
            raise ValueError(f"{self._target.title} lacks {names}, and the element type is not known; declare it")
        if element_type in self._target.element_types:
            return None
        found = promotion(element_type, self._target, self._opset)
        divisor = self._operands[-1].array
        if found.hides_zero_divisors and (divisor is None or not np.all(divisor)):
            raise ValueError(
                f"{self._target.title} divides no integers, and {found.element_type} would hide a zero divisor; only a "
                "constant divisor without zeros is representable"
            )
        return found
