"""The four broadcasting rules: which dimension of each operand every dimension of the result runs over."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

from vinculum.errors import AttributeValueError, BroadcastError
from vinculum.spec.model import Broadcasting

Shape = tuple[int, ...]


@dataclass(frozen=True)
class Alignment:
    """How two operands are broadcast to the result.

    For each dimension of the result, `a` and `b` hold the operand's dimension that matches it; None where the operand
    is repeated.
    """

    shape: Shape
    a: tuple[int | None, ...]
    b: tuple[int | None, ...]


def equal(a: Shape, b: Shape) -> Alignment:
    """Join equal shapes (Divide-1 ``none``, Div-1 and Div-6 without ``broadcast=1``, SONNX [C1])."""
    if a != b:
        raise BroadcastError(f"A has shape {a} and B {b}; without broadcasting they must be equal")
    return Alignment(a, tuple(range(len(a))), tuple(range(len(a))))


def multidirectional(a: Shape, b: Shape) -> Alignment:
    """Join as NumPy does: aligned at the last dimension, a 1 of either stretching (Div-7 on, Divide-1 ``numpy``)."""
    rank = max(len(a), len(b))
    skip_a, skip_b = rank - len(a), rank - len(b)
    shape: list[int] = []
    for d in range(rank):
        size_a = a[d - skip_a] if d >= skip_a else 1
        size_b = b[d - skip_b] if d >= skip_b else 1
        if size_a != size_b and 1 not in (size_a, size_b):
            raise BroadcastError(
                f"A of shape {a} and B of shape {b} do not broadcast: aligned at their last dimensions, "
                f"{size_a} meets {size_b}, and neither is 1"
            )
        shape.append(size_b if size_a == 1 else size_a)
    return Alignment(tuple(shape), _stretched(a, skip_a, shape), _stretched(b, skip_b, shape))


def _stretched(operand: Shape, skip: int, shape: list[int]) -> tuple[int | None, ...]:
    return tuple(d - skip if d >= skip and operand[d - skip] == size else None for d, size in enumerate(shape))


def limited(a: Shape, b: Shape, axis: int | None = None) -> Alignment:
    """Join B onto A: one element, or a contiguous run of A's shape from `axis`, else A's suffix (Div-1, Div-6).

    A dimension of size 1 in B does not stretch unless B has one element. AttributeValueError if `axis` is negative,
    which the document does not define.
    """
    if axis is not None and axis < 0:
        raise AttributeValueError(
            f"axis is {axis}; Div-1 and Div-6 define no negative axis: count from the front, 0 to {max(len(a) - 1, 0)}"
        )
    if len(b) > len(a):
        raise BroadcastError(
            f"B of shape {b} has a higher rank than A of shape {a}; B is broadcast onto A, never A onto B"
        )
    own = tuple(range(len(a)))
    if all(size == 1 for size in b):
        return Alignment(a, own, (None,) * len(a))
    start = len(a) - len(b) if axis is None else axis
    if a[start : start + len(b)] != b:
        place = "A's last dimensions" if axis is None else f"A's dimensions from axis {axis}"
        raise BroadcastError(
            f"B of shape {b} is not {place} {a[start : start + len(b)]}, A having shape {a}; "
            "B must be one element or a contiguous run of A's shape, and a 1 in B does not stretch"
        )
    return Alignment(a, own, tuple(d - start if start <= d < start + len(b) else None for d in own))


def pdpd(a: Shape, b: Shape, axis: int = -1) -> Alignment:
    """Join B onto A from `axis` after dropping B's trailing dimensions of size 1 (Divide-1 ``pdpd``).

    ``axis=-1`` stands for ``rank(A) - rank(B)``, B's rank before dropping; a 1 that remains in B stretches.
    AttributeValueError if `axis` is below -1.
    """
    if axis < -1:
        raise AttributeValueError(f"axis is {axis}; pdpd broadcasting allows -1 (align at the end) and 0 to {len(a)}")
    own = tuple(range(len(a)))
    kept = len(b)
    while kept and b[kept - 1] == 1:
        kept -= 1
    if not kept:
        return Alignment(a, own, (None,) * len(a))
    start = len(a) - len(b) if axis == -1 else axis
    run = b[:kept]
    onto = a[start : start + kept] if start >= 0 else ()
    if len(onto) != kept or any(size_b not in (1, size_a) for size_a, size_b in zip(onto, run, strict=True)):
        raise BroadcastError(
            f"B of shape {b} does not fit A of shape {a} from axis {start} (pdpd): without its trailing ones B is "
            f"{run}, which meets {onto}"
        )
    own_b = tuple(d - start if start <= d < start + kept and b[d - start] == a[d] else None for d in own)
    return Alignment(a, own, own_b)


@lru_cache(maxsize=4096)
def join(rule: Broadcasting, a: Shape, b: Shape, axis: int | None = None) -> Alignment:
    """Join two shapes by the rule named; `axis` for the two that have one."""
    if rule is Broadcasting.MULTIDIRECTIONAL:
        return multidirectional(a, b)
    if rule is Broadcasting.LIMITED:
        return limited(a, b, axis)
    if rule is Broadcasting.PDPD:
        return pdpd(a, b, -1 if axis is None else axis)
    return equal(a, b)
