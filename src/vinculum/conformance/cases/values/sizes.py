"""Tensors of one dimension: sizes that fill SIMD vectors of 4 to 32 elements, and sizes that leave a remainder."""

from __future__ import annotations

from vinculum.conformance.cases.case import Level
from vinculum.conformance.cases.clauses import Subject
from vinculum.conformance.cases.operation import BOTH, DIVISOR
from vinculum.conformance.cases.values.encodings import dividends, divisors
from vinculum.conformance.cases.values.value_class import CHOSEN_TYPES, Joined, Maker, ValueClass, every
from vinculum.spec.element_types import ElementType

QUICK, DEFAULT, FULL = Level
_SIZES = (1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 31, 32, 33, 1000, 70_001)


def _chosen(t: ElementType) -> bool:
    return t.name in CHOSEN_TYPES


def _others(t: ElementType) -> bool:
    return not _chosen(t)


def _chosen_integers(t: ElementType) -> bool:
    return _chosen(t) and t.is_integer


def _but_chosen_integers(t: ElementType) -> bool:
    return not _chosen_integers(t)


# The level for the newest version, and the element types that it applies to.
_OF_CHOSEN = ((DEFAULT, _chosen), (FULL, _others))
_LEVELS = {
    **dict.fromkeys((2, 5, 9), _OF_CHOSEN),
    31: ((QUICK, every),),  # For vectors of every width the remainder is one less than a full vector.
    # Split among threads, with less work for the last one; the exact quotients of that many floats take long.
    70_001: ((DEFAULT, _chosen_integers), (FULL, _but_chosen_integers)),
}
_IN_OLDER = (1, 17)  # Sizes that older versions run at the default level, and the newest with constants too.


def sizes(operands: int) -> tuple[ValueClass, ...]:
    """Return a class for each size, for operators with this number of operands."""
    joined, constants = ("equal shapes", DIVISOR) if operands > 1 else ("a shape", BOTH)
    return tuple(
        ValueClass(
            "numbers in sequence", Subject.SIZE, _in_sequence(size, operands), level,
            DEFAULT if size in _IN_OLDER else FULL, constants if size in _IN_OLDER else (), Joined.EQUAL, types,
            f"{joined} of {size} element{'s' if size > 1 else ''}",
        )
        for size in _SIZES
        for level, types in _LEVELS.get(size, ((DEFAULT, every),))
    )  # fmt: skip


def _in_sequence(size: int, operands: int) -> Maker:
    return lambda t: (dividends((size,), t), divisors((size,), t))[-operands:]
