"""Conversion between unidirectional and multidirectional broadcasting.

Unidirectional broadcasting repeats B along A only, aligned with consecutive dimensions of A, as attributes of the node
request it. Operator set 7 changed all binary operators, Div among them, to multidirectional broadcasting.
A dimension of a shape is a size, the name of a size, or None if it is unknown. Dimensions of the same name are equal.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from operator import eq

from onnx import NodeProto

from vinculum.models.convert.opset.adaptation import FLOATS, Adaptation
from vinculum.models.convert.opset.operands import Operand
from vinculum.models.convert.opset.operator_versions import version_title
from vinculum.models.execution import Shape
from vinculum.models.onnx.rewriter import Rewriter

_CONCAT_OF_ANYTHING = 4


@dataclass(frozen=True)
class LegacyForm:
    """How operands are reshaped and repeated for Div-1 and Div-6."""

    shape: Shape  # The quotient's.
    # The dimensions of the quotient along which an operand has to be repeated. A, and B if it is repeated, first get
    # leading dimensions of size 1, up to the quotient's rank.
    stretch_a: tuple[int, ...] = ()
    stretch_b: tuple[int, ...] = ()
    # The dimensions of B, all of size 1, that are dropped. Empty if B is repeated.
    squeeze_b: tuple[int, ...] = ()
    attributes: dict[str, int] = field(default_factory=dict)  # Of the node.


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


def to_unidirectional(
    a: Operand, b: Operand, rewriter: Rewriter, opset: int, version: str
) -> tuple[dict[str, int], list[str]]:
    """Repeat A to the shape of the result, and align B with it; return the node's attributes, and what was done.

    ValueError if the shapes are not known well enough, and the operator set cannot compute them.
    """
    if a.shape is None or b.shape is None:
        unknown = " and ".join(operand.name for operand in (a, b) if operand.shape is None)
        raise ValueError(f"{version} needs attributes for the broadcast of B; declare the shape of {unknown}")
    form = legacy_form(a.shape, b.shape)
    rank = max(len(a.shape), len(b.shape))
    missing_in_a = rank - len(a.shape)
    a.prepend_ones(missing_in_a, rewriter)
    done = ["A given the rank of B"] if missing_in_a else []
    repeated = [o.name for o in (a, b) if _repeat(o, b if o is a else a, form, rank, rewriter, opset)]
    done += [f"{' and '.join(repeated)} repeated to the shape of C"] if repeated else []
    if form is None:
        return {}, done
    b.drop_ones(form.squeeze_b, rewriter)
    done += [f"{name}={value}" for name, value in form.attributes.items()]
    done += ["dimensions of size 1 dropped from B"] if form.squeeze_b else []
    return form.attributes, done


def _repeat(
    operand: Operand, other: Operand, form: LegacyForm | None, rank: int, rewriter: Rewriter, opset: int
) -> bool:
    """Repeat an operand to the result's shape if the form requires it or there is no form; return whether it did."""
    axes = range(rank) if form is None else form.stretch_a if operand.name == "A" else form.stretch_b
    if not axes:
        return False
    if opset < _CONCAT_OF_ANYTHING and operand.code not in FLOATS:
        raise ValueError(f"{operand.name} needs repeating, and there is no Concat of its element type")
    operand.prepend_ones(rank - len(operand.shape or ()), rewriter)
    counts = [1 if form is None or d not in axes else form.shape[d] for d in range(rank)]
    known = [count for count in counts if isinstance(count, int)]
    if form is not None and len(known) == rank:
        operand.tile(known, rewriter, opset)
    else:
        operand.tile_onto(other, rank, rewriter, opset)
    return True


def binary_7(step: Adaptation) -> list[NodeProto]:
    """Convert between the broadcasting rules below operator set 7 and from 7 on."""
    a, b = (Operand(n, v, step.types, step.constants) for n, v in zip("AB", step.node.input, strict=True))
    attributes: dict[str, int] = {}
    if step.up:
        axis = step.value("axis") if step.value("broadcast") == 1 else None
        step.drop("axis", "broadcast", "consumed_inputs")
        to_multidirectional(a, b, axis, step.rewriter)
    else:
        attributes, _ = to_unidirectional(a, b, step.rewriter, step.opset, version_title(step.target))
    step.set_operands([a.emit(step.rewriter), b.emit(step.rewriter)])
    for name, value in attributes.items():
        step.give(name, value)
    return [step.node]


def gemm_7(step: Adaptation) -> list[NodeProto]:
    """Write the attribute for broadcasting C to the product below operator set 7."""
    if step.up:
        step.drop("broadcast")
        return [step.node]
    product, c = step.shape(step.node.output[0]), step.shape(step.operand(2))
    if product is None or c is None or None in product or None in c:
        raise ValueError(
            f"{version_title(step.target)} needs attributes for the broadcast of C; declare the shapes of C and Y"
        )
    form = legacy_form(product, c)
    if form is None or form.squeeze_b or form.stretch_b or "axis" in form.attributes:
        raise ValueError(f"{version_title(step.target)} does not broadcast a C of that shape")
    if form.attributes:
        step.give("broadcast", 1)
    return [step.node]


def prelu_7(step: Adaptation) -> list[NodeProto] | None:
    """Align slopes with the channels, dimension 1, by appending dimensions of size 1; drop them on the way down."""
    x, slope = step.shape(step.operand(0)), step.shape(step.operand(1))
    if is_one(slope) or (x is not None and slope is not None and x == slope and len(x) == 1):
        return None
    if x is None or slope is None:
        raise ValueError("the versions align slopes with different dimensions; declare the shapes of X and slope")
    operand = Operand("slope", step.operand(1), step.types, step.constants)
    if step.up:
        if len(slope) != 1 or len(x) < 2:
            raise ValueError(f"{version_title(step.source)} does not define the alignment of slopes of that shape")
        operand.append_ones(len(x) - 2, step.rewriter)
    else:
        if len(x) < 2 or len(slope) != len(x) - 1 or any(size != 1 for size in slope[1:]):
            raise ValueError(f"{version_title(step.target)} has slopes for channels only")
        operand.drop_ones(range(1, len(slope)), step.rewriter)
    step.set_operands([step.operand(0), operand.emit(step.rewriter)])
    return None


def is_one(shape: Shape | None) -> bool:
    """Return whether a shape is known to hold exactly one element."""
    return shape is not None and all(size == 1 for size in shape)


def trailing_ones(rank_a: int, rank_b: int, axis: int | None) -> int:
    """Return how many trailing dimensions of size 1 B needs to be aligned as by `axis`.

    Without `axis` B is aligned with the end of A, as in multidirectional broadcasting. If B has one element, it may
    reach beyond A's last dimension: it fits anywhere.
    """
    return 0 if axis is None else max(0, rank_a - axis - rank_b)


def legacy_form(a: Shape, b: Shape) -> LegacyForm | None:
    """Return the form for Div-6 of operands of multidirectional broadcasting; None if the shapes leave it open."""
    rank = max(len(a), len(b))
    a, b = _named(a, "A"), _named(b, "B")
    long_a: Shape = (1,) * (rank - len(a)) + a
    long_b: Shape = (1,) * (rank - len(b)) + b
    joined = tuple(_joined(x, y) for x, y in zip(long_a, long_b, strict=True))
    if None in joined:
        return None
    stretch_a = tuple(d for d in range(rank) if long_a[d] != joined[d])
    fits = _alignment(joined, b)
    if fits is not None:
        squeeze_b, attributes = fits
        return LegacyForm(joined, stretch_a, (), squeeze_b, attributes)
    return LegacyForm(joined, stretch_a, tuple(d for d in range(rank) if long_b[d] != joined[d]))


def _named(shape: Shape, operand: str) -> Shape:
    """Return a shape in which each unknown dimension has a unique name, which no file uses."""
    return tuple(f"\0{operand}{d}" if size is None else size for d, size in enumerate(shape))


def _joined(a: int | str | None, b: int | str | None) -> int | str | None:
    if a == 1 or b == 1:
        return b if a == 1 else a
    return a if a == b else None


def _alignment(shape: Shape, b: Shape) -> tuple[tuple[int, ...], dict[str, int]] | None:
    """Return which dimensions of B to drop, and the attributes that align the rest with a shape; None if none do."""
    if len(b) == len(shape) and all(map(eq, b, shape)):
        return (), {}
    if all(size == 1 for size in b) and len(b) <= len(shape):
        return (), {"broadcast": 1}
    skip = len(shape) - len(b)
    if skip >= 0 and all(map(eq, b, shape[skip:])):
        return (), {"broadcast": 1}
    kept = [d for d, size in enumerate(b) if size != 1]
    if skip < 0 or not kept:
        return None
    first, last = kept[0], kept[-1]
    if not all(b[d] == shape[d + skip] for d in range(first, last + 1)):
        return None
    dropped = tuple(d for d in range(len(b)) if not first <= d <= last)
    at_end = last == len(b) - 1
    return dropped, {"broadcast": 1} if at_end else {"broadcast": 1, "axis": first + skip}
