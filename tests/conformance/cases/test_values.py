"""The classes of values catch what they are after; that they stay as they are, `recorded.txt` says."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from vinculum.conformance.cases.case import Level
from vinculum.conformance.cases.enumeration import cases, value_classes
from vinculum.conformance.cases.floats import format_of, nearest_to_halfway, subnormal_ties
from vinculum.reference import elements
from vinculum.reference.rounding import decode, round_to_nearest_even
from vinculum.spec.element_types import (
    BFLOAT16,
    DOUBLE,
    FLOAT,
    FLOAT8E4M3FN,
    FLOAT8E5M2,
    FLOAT16,
    INT4,
    INT8,
    UINT4,
    UINT8,
    BinaryFormat,
    ElementType,
)
from vinculum.spec.onnx_div import DIV_14

LONG_FLOATS = [BFLOAT16, FLOAT16, FLOAT, DOUBLE]
FLOATS = [*LONG_FLOATS, FLOAT8E4M3FN, FLOAT8E5M2]


@pytest.mark.parametrize("element_type", LONG_FLOATS, ids=str)
def test_hard_quotients_are_as_near_to_halfway_as_quotients_get(element_type: ElementType) -> None:
    fmt = format_of(element_type)
    for a, b in nearest_to_halfway(element_type, fmt, 1000):
        off = from_halfway(decode(a, fmt).value / decode(b, fmt).value, fmt)
        assert 0 < off < Fraction(1, 2 ** (fmt.significand_bits - 2))


def from_halfway(exact: Fraction, fmt: BinaryFormat) -> Fraction:
    """Return how far a quotient is from halfway between two numbers, of their distance."""
    nearest = round_to_nearest_even(abs(exact), fmt)
    spacing = decode(nearest + 1, fmt).value - decode(nearest, fmt).value
    return abs(abs(abs(exact) - decode(nearest, fmt).value) / spacing - Fraction(1, 2))


@pytest.mark.parametrize("element_type", FLOATS, ids=str)
def test_subnormal_ties(element_type: ElementType) -> None:
    """They are at and next to halfway between two subnormal numbers, from the smallest to the largest."""
    fmt = format_of(element_type)
    pairs = subnormal_ties(element_type, fmt)
    exact = {abs(decode(a, fmt).value / decode(b, fmt).value) / decode(1, fmt).value for a, b in pairs}
    halves = {q for q in exact if q.denominator == 2}
    largest_subnormal = 2**fmt.trailing_bits - 1
    assert halves >= {Fraction(1, 2), Fraction(3, 2), largest_subnormal + Fraction(1, 2)}
    assert len(exact - halves) > len(halves)


@pytest.mark.parametrize("element_type", [INT8, UINT8, INT4, UINT4], ids=str)
def test_every_pair_of_narrow_integers(element_type: ElementType) -> None:
    """The pairs without a quotient are asked apart from the others."""
    pairs: set[tuple[int, int]] = set()
    for values in value_classes(element_type, 2):
        a, b = np.broadcast_arrays(*values.operands(element_type))
        pairs |= set(zip(elements(a, element_type), elements(b, element_type), strict=True))
    zero_divisors = {(x, 0) for x in range(element_type.minimum, element_type.maximum + 1)}
    assert len(pairs | zero_divisors) == 4**element_type.bits
    assert len(pairs & zero_divisors) >= min(40, len(zero_divisors))


@pytest.mark.parametrize("pair", ["a zero divisor", "MIN divided by -1"])
def test_the_default_level_tells_vectors_of_every_width_apart(pair: str) -> None:
    """Which cases have a pair in the remainder after vectors differs from width to width, and from the whole."""
    places = set()
    for case in cases(Level.DEFAULT, [DIV_14]):
        if case.id.matches(f"Div-14/int32/{pair}*/equal shapes of */run-time operands"):
            unspecified = case.expectation.unspecified
            assert unspecified is not None
            places.add((unspecified.size, int(np.argmax(unspecified))))
    dying = [{p for p in places if p[1] >= p[0] - p[0] % width} for width in (1, 4, 8, 16, 32)]
    dying += [{p for p in places if p[0] == 1}, {p for p in places if p[0] % 2}, places]
    assert len(set(map(frozenset, dying))) == len(dying)
