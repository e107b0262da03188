"""Between Div-6's broadcasting, B onto a run of A's dimensions, and multidirectional broadcasting.

Dimensions are sizes, names of sizes, or None. Two of one name are equal; of None nothing is known.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from operator import eq

from vinculum.models.execution import Shape


@dataclass(frozen=True)
class LegacyForm:
    """How operands are brought into a shape in which Div-1 and Div-6 divide them.

    Attributes
    ----------
    shape : Shape
        The quotient's.
    stretch_a, stretch_b : tuple of int
        The dimensions of the quotient along which an operand has to be repeated. A, and a B that is repeated, first get
        dimensions of size 1 before their own, up to the quotient's rank.
    squeeze_b : tuple of int
        The dimensions of B, all of size 1, that are dropped; only where nothing of B is repeated.
    attributes : dict of str to int
        What the node then says.
    """

    shape: Shape
    stretch_a: tuple[int, ...] = ()
    stretch_b: tuple[int, ...] = ()
    squeeze_b: tuple[int, ...] = ()
    attributes: dict[str, int] = field(default_factory=dict)


def trailing_ones(rank_a: int, rank_b: int, axis: int | None) -> int:
    """Return how many dimensions of size 1 B needs at its end to lie where `axis` puts it.

    Without `axis` B lies at the end of A, as in multidirectional broadcasting. A B of one element may reach beyond A's
    last dimension; it fits anywhere.
    """
    return 0 if axis is None else max(0, rank_a - axis - rank_b)


def legacy_form(a: Shape, b: Shape) -> LegacyForm | None:
    """Return how Div-6 divides operands that multidirectional broadcasting joins; None if the shapes do not tell."""
    rank = max(len(a), len(b))
    a, b = _named(a, "A"), _named(b, "B")
    long_a: Shape = (1,) * (rank - len(a)) + a
    long_b: Shape = (1,) * (rank - len(b)) + b
    joined = tuple(_joined(x, y) for x, y in zip(long_a, long_b, strict=True))
    if None in joined:
        return None
    stretch_a = tuple(d for d in range(rank) if long_a[d] != joined[d])
    fits = _onto(joined, b)
    if fits is not None:
        squeeze_b, attributes = fits
        return LegacyForm(joined, stretch_a, (), squeeze_b, attributes)
    return LegacyForm(joined, stretch_a, tuple(d for d in range(rank) if long_b[d] != joined[d]))


def _named(shape: Shape, operand: str) -> Shape:
    """Return a shape whose unknown dimensions have names that no file has, each its own."""
    return tuple(f"\0{operand}{d}" if size is None else size for d, size in enumerate(shape))


def _joined(a: int | str | None, b: int | str | None) -> int | str | None:
    if a == 1 or b == 1:
        return b if a == 1 else a
    return a if a == b else None


def _onto(shape: Shape, b: Shape) -> tuple[tuple[int, ...], dict[str, int]] | None:
    """Return which dimensions of B to drop, and the attributes with which the rest lies on a run of the shape."""
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
