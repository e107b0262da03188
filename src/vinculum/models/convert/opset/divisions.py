"""One Div or Reciprocal in another operator set, with the same quotients, or refused."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from copy import deepcopy

import numpy as np
from onnx import AttributeProto, NodeProto, helper

from vinculum.models.convert.change import Reason
from vinculum.models.convert.opset.adapters.unidirectional_broadcasting import (
    is_one,
    to_multidirectional,
    to_unidirectional,
)
from vinculum.models.convert.opset.operands import Operand
from vinculum.models.onnx.promoted_types import Promotion, promotion
from vinculum.models.onnx.rewriter import Rewriter
from vinculum.models.onnx.scopes import Scope
from vinculum.spec.model import Broadcasting, OperatorSpec
from vinculum.spec.registry import find


def convert_division(node: NodeProto, scope: Scope, opset: int, rewriter: Rewriter) -> Iterator[Reason]:
    """Write a Div or Reciprocal into the rewriter as an operator set has it, in one step, and yield what was done.

    ValueError with the reason if it is not representable there.
    """
    source, target = find(node.op_type, opset=scope.opsets[""]), find(node.op_type, opset=opset)
    names = [operand.name for operand in source.inputs]
    operands = [Operand(*pair, scope.types, scope.constants) for pair in zip(names, node.input, strict=True)]
    attributes = {a.name: a for a in node.attribute}
    if "consumed_inputs" in attributes and target.attribute("consumed_inputs") is None:
        del attributes["consumed_inputs"]
        yield "consumed_inputs dropped", "it is a hint without effect, which later versions lack"
    promoted = _needed_promotion(source, target, operands, opset)
    if promoted is not None:
        for operand in operands:
            operand.cast(promoted.element_type, rewriter)
        yield promoted.reason(target)
    old, new = (Broadcasting.MULTIDIRECTIONAL in spec.broadcasting.values() for spec in (source, target))
    if new and not old:
        yield from _to_multidirectional(target, operands, attributes, rewriter)
    elif old and not new:
        given, done = to_unidirectional(operands[0], operands[1], rewriter, opset, target.title)
        attributes |= {name: helper.make_attribute(name, value) for name, value in given.items()}
        if done:
            yield ", ".join(done), f"{target.title} broadcasts B onto A only, as attributes say"
    _write(node, operands, attributes, promoted, rewriter)


def _write(
    node: NodeProto,
    operands: Sequence[Operand],
    attributes: Mapping[str, AttributeProto],
    promoted: Promotion | None,
    rewriter: Rewriter,
) -> None:
    """Write the division, under its own name, and the casts after it."""
    division = deepcopy(node)
    del division.input[:], division.attribute[:]
    division.input.extend(operand.emit(rewriter) for operand in operands)
    division.attribute.extend(attributes.values())
    rewriter.nodes.append(division)
    if promoted is not None:
        value = division.output[0] = rewriter.fresh("quotient")
        for element_type in promoted.back:
            value = rewriter.cast(value, element_type, "back")
        rewriter.name_result(value, node.output[0])


def _to_multidirectional(
    target: OperatorSpec, operands: Sequence[Operand], attributes: dict[str, AttributeProto], rewriter: Rewriter
) -> Iterator[Reason]:
    axis, broadcast = attributes.pop("axis", None), attributes.pop("broadcast", None)
    given = [attribute.name for attribute in (broadcast, axis) if attribute is not None]
    why = f"{target.title} has neither axis nor broadcast"
    if axis is None or broadcast is None or (broadcast.i != 1 and not broadcast.ref_attr_name):
        # The divisor lies at the end of the dividend's dimensions, or has all of them.
        if given:
            yield f"{' and '.join(given)} dropped", why
        return
    if axis.ref_attr_name or broadcast.ref_attr_name:
        raise ValueError("its axis or broadcast is an attribute of the function around it; inline the function")
    a, b = operands
    ones = to_multidirectional(a, b, axis.i, rewriter)
    if not ones and is_one(b.shape):
        yield "axis and broadcast dropped", f"{why}; a divisor of one element fits anywhere"
    elif not ones:
        yield "axis and broadcast dropped", why
    else:
        yield f"axis={axis.i} written as B of {len(b.shape or ())} dimensions, the last {ones} of size 1", why


def _needed_promotion(
    source: OperatorSpec, target: OperatorSpec, operands: Sequence[Operand], opset: int
) -> Promotion | None:
    lacking = [t for t in source.element_types if t not in target.element_types]
    if not lacking:
        return None
    element_type = next((o.element_type for o in operands if o.element_type is not None), None)
    if element_type is None:
        names = ", ".join(str(t) for t in lacking)
        raise ValueError(f"{target.title} lacks {names}, and the element type is not known; declare it")
    if element_type in target.element_types:
        return None
    found = promotion(element_type, target, opset)
    divisor = operands[-1].array
    if found.hides_zero_divisors and (divisor is None or not np.all(divisor)):
        raise ValueError(
            f"{target.title} divides no integers, and {found.element_type} would hide a zero divisor; only a "
            "constant divisor without zeros is representable"
        )
    return found
