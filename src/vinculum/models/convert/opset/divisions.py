"""Div and Reciprocal, and the operands of these and of the other binary operators.

A division is converted in one step, since the final version decides which promoted type is used. Below operator set 7
all binary operators broadcast unidirectionally: B is repeated along A only, aligned with consecutive dimensions of A,
as attributes of the node request it. From 7 on broadcasting is multidirectional. A dimension of a shape is a size, the
name of a size, or None if it is unknown.
"""

from __future__ import annotations

from collections.abc import Iterator

from onnx import NodeProto, helper

from vinculum.models.convert.opset.adaptation import Adaptation, Reason
from vinculum.models.convert.opset.operator_versions import version_title
from vinculum.models.onnx.promoted_types import promotion
from vinculum.models.onnx.scopes import declared_element_type
from vinculum.spec.element_types import ElementType
from vinculum.spec.model import Broadcasting, OperatorSpec
from vinculum.spec.rows import find
from vinculum.tensors.shapes import SymbolicShape
from vinculum.tensors.storage import dtype_of


def division(step: Adaptation) -> list[NodeProto]:
    """Write a division for the final operator set of the whole model, and record the reasons."""
    source, target = (find(step.node.op_type, opset=side.since_version) for side in (step.source, step.target))
    operands = list(zip(source.inputs, step.node.input, strict=True))
    if step.given("consumed_inputs") and target.attribute("consumed_inputs") is None:
        step.drop("consumed_inputs")
        step.reasons.append(("consumed_inputs dropped", "later versions lack this hint, which has no effect"))
    old, new = (Broadcasting.MULTIDIRECTIONAL in spec.broadcasting.values() for spec in (source, target))
    if new and not old:
        step.reasons += _to_multidirectional(target, step)
        step.drop("axis", "broadcast")
    lacked = _lacked_type(source, target, step)
    if lacked is None:
        return [step.node]
    promoted = promotion(lacked, target, step.opset)
    step.set_operands([_cast(step, value, promoted, operand.name) for operand, value in operands])
    what = f"operands cast to {promoted}, the quotient back to {lacked}"
    step.reasons.append((what, f"{target.title} lacks {lacked}, and the quotient is the same"))
    return _cast_back(lacked, step)


def _lacked_type(source: OperatorSpec, target: OperatorSpec, step: Adaptation) -> ElementType | None:
    """Return the element type of a division if the target version lacks it."""
    lacking = [t for t in source.element_types if t not in target.element_types]
    if not lacking:
        return None
    known = (declared_element_type(code) for value in step.node.input if (code := step.element_type(value)))
    element_type = next((found for found in known if isinstance(found, ElementType)), None)
    if element_type is None:
        names = ", ".join(str(t) for t in lacking)
        raise ValueError(f"{target.title} lacks {names}, and the element type is not known; declare it")
    return None if element_type in target.element_types else element_type


def _cast(step: Adaptation, value: str, target: ElementType, name: str) -> str:
    """Return an operand in an element type that holds all of its values; the elements of a constant are converted."""
    array = step.constant(value)
    if array is None:
        return step.rewriter.cast(value, target, f"{name}_cast")
    return step.rewriter.constant(array.astype(dtype_of(target)), name)


def _cast_back(element_type: ElementType, step: Adaptation) -> list[NodeProto]:
    """Write the division and the cast after it; return no nodes, since the rewriter has them all."""
    result, value, name = step.node.output[0], step.rewriter.fresh("quotient"), step.rewriter.fresh("back_Cast")
    step.node.output[0] = value
    step.rewriter.nodes += [step.node, helper.make_node("Cast", [value], [result], name, to=element_type.onnx_code)]
    return []


def _to_multidirectional(target: OperatorSpec, step: Adaptation) -> Iterator[Reason]:
    given = [name for name in ("broadcast", "axis") if step.given(name)]
    why = f"{target.title} has neither axis nor broadcast"
    if len(given) < 2 or step.value("broadcast") != 1:
        # The divisor is aligned with the end of the dividend's shape, or has the same shape.
        if given:
            yield f"{' and '.join(given)} dropped", why
        return
    axis, shape = step.value("axis"), step.shape(step.operand(1))
    ones = _align(step, axis)
    if ones:
        yield f"axis={axis} written as B of {len(shape or ()) + ones} dimensions, the last {ones} of size 1", why
    elif _is_one(shape):
        yield "axis and broadcast dropped", f"{why}; a divisor of one element fits anywhere"
    else:
        yield "axis and broadcast dropped", why


def binary_7(step: Adaptation) -> list[NodeProto]:
    """Convert to the broadcasting rule from operator set 7 on."""
    axis = step.value("axis") if step.value("broadcast") == 1 else None
    step.drop("axis", "broadcast", "consumed_inputs")
    _align(step, axis)
    return [step.node]


def _align(step: Adaptation, axis: int | None) -> int:
    """Align B with the dimensions of A from `axis` on, by appending dimensions of size 1; return how many.

    Without `axis` it is aligned with the end of A, as in multidirectional broadcasting. One element fits anywhere.

    ValueError if a rank is needed and not known.
    """
    a, b = (step.shape(value) for value in step.node.input)
    if axis is None or _is_one(b):
        return 0
    if a is None or b is None:
        unknown = " and ".join(name for name, shape in (("A", a), ("B", b)) if shape is None)
        raise ValueError(f"with axis={axis} it needs the rank of {unknown}; declare the shape")
    ones = max(0, len(a) - axis - len(b))
    _append_ones(step, ones, "B")
    return ones


def prelu_7(step: Adaptation) -> None:
    """Align slopes with the channels, dimension 1, by appending dimensions of size 1."""
    x, slope = step.shape(step.operand(0)), step.shape(step.operand(1))
    if _is_one(slope) or (x is not None and slope is not None and x == slope and len(x) == 1):
        return
    if x is None or slope is None:
        raise ValueError("the versions align slopes with different dimensions; declare the shapes of X and slope")
    if len(slope) != 1 or len(x) < 2:
        raise ValueError(f"{version_title(step.source)} does not define the alignment of slopes of that shape")
    _append_ones(step, len(x) - 2, "slope")


def _append_ones(step: Adaptation, count: int, name: str) -> None:
    """Append dimensions of size 1 to the second operand, which is of known rank; a constant is reshaped."""
    if not count:
        return
    value = step.operand(1)
    array, rank = step.constant(value), len(step.shape(value) or ())
    if array is not None:
        value = step.rewriter.constant(array.reshape(*array.shape, *[1] * count), name)
    else:
        value = step.rewriter.unsqueeze(value, range(rank, rank + count), f"{name}_unsqueezed")
    step.set_operands([step.operand(0), value])


def _is_one(shape: SymbolicShape | None) -> bool:
    """Return whether a shape is known to hold exactly one element."""
    return shape is not None and all(size == 1 for size in shape)
