"""The classes of operands of Reciprocal."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial

from vinculum.conformance.cases.case import Level
from vinculum.conformance.cases.clauses import Subject
from vinculum.conformance.cases.placements import Placement
from vinculum.conformance.cases.values.encodings import floats, random_bits, random_normals
from vinculum.conformance.cases.values.float_operands import (
    ordinary_floats,
    special_codes,
    subnormal_codes,
    whole_floats,
)
from vinculum.conformance.cases.values.hard_quotients import hard_reciprocals
from vinculum.conformance.cases.values.value_class import Operands, ValueClass
from vinculum.models.sampling.edge_values import edge_values
from vinculum.spec.element_types import BinaryFormat, ElementType

QUICK, DEFAULT, FULL = Level
_CONSTANTS = (Placement.CONSTANTS,)


def reciprocal_classes(t: ElementType, fmt: BinaryFormat) -> Iterable[ValueClass]:
    """Yield the classes of a floating-point type, the quick ones first."""
    specials = _of(t, partial(special_codes, fmt))
    yield ValueClass("zeros, infinities and NaN", Subject.SPECIAL, specials, QUICK, QUICK, _CONSTANTS)
    yield ValueClass("ordinary numbers", Subject.ORDINARY, partial(_ordinary, t, fmt), QUICK, QUICK, _CONSTANTS)
    hard = _of(t, partial(hard_reciprocals, fmt, 300))
    yield ValueClass("reciprocals hard to round", Subject.QUOTIENT, hard, QUICK, QUICK, _CONSTANTS)
    yield ValueClass("edge numbers", Subject.SPECIAL, lambda: (edge_values(t),), DEFAULT, DEFAULT, _CONSTANTS)
    subnormal = _of(t, partial(subnormal_codes, t, fmt, 500))
    yield ValueClass("subnormal numbers", Subject.QUOTIENT, subnormal, DEFAULT, DEFAULT, _CONSTANTS)
    largest = fmt.largest >> fmt.trailing_bits
    too_large = _of(t, partial(random_normals, "the largest", t, fmt, largest - 1, largest, 500))
    yield ValueClass("subnormal reciprocals", Subject.QUOTIENT, too_large, DEFAULT, DEFAULT, _CONSTANTS)
    overflow = _of(t, partial(_next_to_overflow, fmt))
    yield ValueClass("reciprocals next to overflow", Subject.TOO_LARGE, overflow, DEFAULT, DEFAULT, _CONSTANTS)
    whole = partial(_whole, t, fmt)
    yield ValueClass("the whole numbers to 1000", Subject.QUOTIENT, whole, DEFAULT, FULL, _CONSTANTS)
    drawn = _of(t, partial(random_bits, "random bit patterns", t, 3000))
    yield ValueClass("random bit patterns", Subject.QUOTIENT, drawn, DEFAULT, DEFAULT, _CONSTANTS)
    if t.bits == 16:
        every = _of(t, lambda: list(range(1 << 16)))
        yield ValueClass("every 16-bit value", Subject.QUOTIENT, every, FULL, FULL)
    else:
        many = _of(t, partial(random_bits, "many random bit patterns", t, 1 << 15))
        yield ValueClass("32768 random bit patterns", Subject.QUOTIENT, many, FULL, FULL)


def _of(t: ElementType, codes: Callable[[], list[int]]) -> Callable[[], Operands]:
    return lambda: (floats(codes(), t),)


def _ordinary(t: ElementType, fmt: BinaryFormat) -> Operands:
    return (ordinary_floats(t, fmt, 1000, "operands of Reciprocal"),)


def _whole(t: ElementType, fmt: BinaryFormat) -> Operands:
    return (whole_floats(range(1, 1001), t, fmt),)


def _next_to_overflow(fmt: BinaryFormat) -> list[int]:
    """Return the numbers around 2**-(largest exponent + 1), whose reciprocal is the first beyond the largest number."""
    middle = 1 << (fmt.trailing_bits - 2)
    return [code | sign for code in range(middle - 20, middle + 21) if code > 0 for sign in (0, fmt.sign_mask)]
