"""Div and Reciprocal, and the operands of these and of the other binary operators.

A division is converted in one step, since the final version decides which promoted type is used. Below operator set 7
all binary operators broadcast unidirectionally: B is repeated along A only, aligned with consecutive dimensions of A,
as attributes of the node request it. From 7 on broadcasting is multidirectional. A dimension of a shape is a size, the
name of a size, or None if it is unknown.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from numpy.typing import NDArray
from onnx import NodeProto, TensorProto

from vinculum.models.convert.opset.adaptation import Adaptation, Reason
from vinculum.models.convert.opset.operator_versions import version_title
from vinculum.models.execution import Shape
from vinculum.models.onnx.promoted_types import promotion
from vinculum.models.onnx.rewriter import Rewriter
from vinculum.models.onnx.scopes import declared_element_type
from vinculum.models.onnx.tensors import array_of
from vinculum.spec.element_types import ElementType
from vinculum.spec.model import Broadcasting, OperatorSpec
from vinculum.spec.rows import find
from vinculum.tensors.storage import dtype_of


class Operand:
    """An operand under conversion: the array of a constant is changed, any other value gets nodes.

    - `code`: the number of its element type in TensorProto, 0 if it is not known.
    - `element_type`: if it is known and can be divided, else None.
    """

    def __init__(self, name: str, value: str, step: Adaptation) -> None:
        self.name = name
        self._constant = step.tensor(value)  # Decoded only if its elements matter: it may be large.
        self._array: NDArray[Any] | None = None
        self._value = value
        self._changed = False  # Whether the array differs from that of the value.
        self.code, self.shape = step.element_type(value), step.shape(value)
        found = declared_element_type(self.code) if self.code else None
        self.element_type = found if isinstance(found, ElementType) else None

    @property
    def array(self) -> NDArray[Any] | None:
        """Its elements, if they are the same in every run."""
        if self._array is None and self._constant is not None:
            self._array = array_of(self._constant)
        return self._array

    def emit(self, rewriter: Rewriter) -> str:
        """Return the name by which a node can use the operand."""
        if self._changed and self.array is not None:
            self._value, self._changed = rewriter.constant(self.array, self.name), False
        return self._value

    def cast(self, target: ElementType, rewriter: Rewriter) -> None:
        """Cast the operand to an element type that holds all of its values."""
        self.code = target.onnx_code or TensorProto.UNDEFINED
        if self.array is not None:
            self._set(self.array.astype(dtype_of(target)))
            return
        self._value = rewriter.cast(self._value, target, f"{self.name}_cast")

    def append_ones(self, count: int, rewriter: Rewriter) -> None:
        """Append dimensions of size 1 to a shape of known rank."""
        if not count:
            return
        rank = len(self.shape or ())
        self.shape = (*(self.shape or ()), *[1] * count)
        if self.array is not None:
            self._set(self.array.reshape(*self.array.shape, *[1] * count))
        else:
            self._value = rewriter.unsqueeze(self._value, range(rank, rank + count), f"{self.name}_unsqueezed")

    def _set(self, array: NDArray[Any]) -> None:
        self._array, self._changed = array, True


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


def to_multidirectional(a: Operand, b: Operand, axis: int | None, rewriter: Rewriter) -> int:
    """Align B as `axis` does by appending dimensions of size 1; return how many.

    ValueError if a rank is needed and not known.
    """
    if axis is None or is_one(b.shape):
        return 0
    if a.shape is None or b.shape is None:
        unknown = " and ".join(operand.name for operand in (a, b) if operand.shape is None)
        raise ValueError(f"with axis={axis} it needs the rank of {unknown}; declare the shape")
    ones = trailing_ones(len(a.shape), len(b.shape), axis)
    b.append_ones(ones, rewriter)
    return ones


def binary_7(step: Adaptation) -> list[NodeProto]:
    """Convert to the broadcasting rule from operator set 7 on."""
    a, b = (Operand(n, v, step) for n, v in zip("AB", step.node.input, strict=True))
    axis = step.value("axis") if step.value("broadcast") == 1 else None
    step.drop("axis", "broadcast", "consumed_inputs")
    to_multidirectional(a, b, axis, step.rewriter)
    step.set_operands([a.emit(step.rewriter), b.emit(step.rewriter)])
    return [step.node]


def prelu_7(step: Adaptation) -> None:
    """Align slopes with the channels, dimension 1, by appending dimensions of size 1."""
    x, slope = step.shape(step.operand(0)), step.shape(step.operand(1))
    if is_one(slope) or (x is not None and slope is not None and x == slope and len(x) == 1):
        return
    if x is None or slope is None:
        raise ValueError("the versions align slopes with different dimensions; declare the shapes of X and slope")
    if len(slope) != 1 or len(x) < 2:
        raise ValueError(f"{version_title(step.source)} does not define the alignment of slopes of that shape")
    operand = Operand("slope", step.operand(1), step)
    operand.append_ones(len(x) - 2, step.rewriter)
    step.set_operands([step.operand(0), operand.emit(step.rewriter)])


def is_one(shape: Shape | None) -> bool:
    """Return whether a shape is known to hold exactly one element."""
    return shape is not None and all(size == 1 for size in shape)


def trailing_ones(rank_a: int, rank_b: int, axis: int | None) -> int:
    """Return how many trailing dimensions of size 1 B needs to be aligned as by `axis`.

    Without `axis` B is aligned with the end of A, as in multidirectional broadcasting. If B has one element, it may
    reach beyond A's last dimension: it fits anywhere.
    """
    return 0 if axis is None else max(0, rank_a - axis - rank_b)
