"""Div and Reciprocal. They are converted in one step, since the final version decides which promoted type is used."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from onnx import NodeProto

from vinculum.models.convert.change import Reason
from vinculum.models.convert.opset.adaptation import Adaptation
from vinculum.models.convert.opset.operands import Operand
from vinculum.models.convert.opset.unidirectional_broadcasting import (
    is_one,
    to_multidirectional,
)
from vinculum.models.onnx.promoted_types import promotion
from vinculum.spec.element_types import ElementType
from vinculum.spec.model import Broadcasting, OperatorSpec
from vinculum.spec.rows import find


def division(step: Adaptation) -> list[NodeProto]:
    """Write a division for the final operator set of the whole model, and record the reasons."""
    source, target = (find(step.node.op_type, opset=side.since_version) for side in (step.source, step.target))
    names = [operand.name for operand in source.inputs]
    operands = [Operand(*pair, step) for pair in zip(names, step.node.input, strict=True)]
    if step.given("consumed_inputs") and target.attribute("consumed_inputs") is None:
        step.drop("consumed_inputs")
        step.reasons.append(("consumed_inputs dropped", "later versions lack this hint, which has no effect"))
    lacked = _lacked_type(source, target, operands)
    if lacked is not None:
        promoted = promotion(lacked, target, step.opset)
        for operand in operands:
            operand.cast(promoted, step.rewriter)
        what = f"operands cast to {promoted}, the quotient back to {lacked}"
        step.reasons.append((what, f"{target.title} lacks {lacked}, and the quotient is the same"))
    old, new = (Broadcasting.MULTIDIRECTIONAL in spec.broadcasting.values() for spec in (source, target))
    if new and not old:
        step.reasons += _to_multidirectional(target, operands, step)
        step.drop("axis", "broadcast")
    step.set_operands([operand.emit(step.rewriter) for operand in operands])
    return [step.node] if lacked is None else _cast_back(lacked, step)


def _cast_back(element_type: ElementType, step: Adaptation) -> list[NodeProto]:
    """Write the division and the cast after it; return no nodes, since the rewriter has them all."""
    result, value = step.node.output[0], step.rewriter.fresh("quotient")
    step.node.output[0] = value
    step.rewriter.nodes.append(step.node)
    step.rewriter.name_result(step.rewriter.cast(value, element_type, "back"), result)
    return []


def _to_multidirectional(target: OperatorSpec, operands: Sequence[Operand], step: Adaptation) -> Iterator[Reason]:
    attributes = {attribute.name: attribute for attribute in step.node.attribute}
    axis, broadcast = attributes.get("axis"), attributes.get("broadcast")
    given = [attribute.name for attribute in (broadcast, axis) if attribute is not None]
    why = f"{target.title} has neither axis nor broadcast"
    if axis is None or broadcast is None or (broadcast.i != 1 and not broadcast.ref_attr_name):
        # The divisor is aligned with the end of the dividend's shape, or has the same shape.
        if given:
            yield f"{' and '.join(given)} dropped", why
        return
    if axis.ref_attr_name or broadcast.ref_attr_name:
        raise ValueError("its axis or broadcast is an attribute of its function; inline the function")
    a, b = operands
    ones = to_multidirectional(a, b, axis.i, step.rewriter)
    if not ones and is_one(b.shape):
        yield "axis and broadcast dropped", f"{why}; a divisor of one element fits anywhere"
    elif not ones:
        yield "axis and broadcast dropped", why
    else:
        yield f"axis={axis.i} written as B of {len(b.shape or ())} dimensions, the last {ones} of size 1", why


def _lacked_type(source: OperatorSpec, target: OperatorSpec, operands: Sequence[Operand]) -> ElementType | None:
    """Return the element type of a division if the target version lacks it."""
    lacking = [t for t in source.element_types if t not in target.element_types]
    if not lacking:
        return None
    element_type = next((o.element_type for o in operands if o.element_type is not None), None)
    if element_type is None:
        names = ", ".join(str(t) for t in lacking)
        raise ValueError(f"{target.title} lacks {names}, and the element type is not known; declare it")
    return None if element_type in target.element_types else element_type
