"""Conversion of unidirectional broadcasting to multidirectional.

Unidirectional broadcasting repeats B along A only, aligned with consecutive dimensions of A, as attributes of the node
request it. Operator set 7 changed all binary operators, Div among them, to multidirectional broadcasting.
A dimension of a shape is a size, the name of a size, or None if it is unknown.
"""

from __future__ import annotations

from onnx import NodeProto

from vinculum.models.convert.opset.adaptation import Adaptation
from vinculum.models.convert.opset.operands import Operand
from vinculum.models.convert.opset.operator_versions import version_title
from vinculum.models.execution import Shape
from vinculum.models.onnx.rewriter import Rewriter


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


def gemm_7(step: Adaptation) -> list[NodeProto]:
    """Drop the attribute for broadcasting C to the product."""
    step.drop("broadcast")
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
