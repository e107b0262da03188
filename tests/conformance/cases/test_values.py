"""The classes of values: each holds the numbers that its name says, and they catch what they are after."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from vinculum.conformance.cases.case import Level, Subject
from vinculum.conformance.cases.enumeration import cases, value_classes
from vinculum.conformance.cases.floats import format_of, nearest_to_halfway
from vinculum.conformance.cases.values import Joined, Operands, ValueClass
from vinculum.reference import elements
from vinculum.reference.rounding import decode, round_to_nearest_even
from vinculum.spec.element_types import (
    BFLOAT16,
    DOUBLE,
    ELEMENT_TYPES,
    FLOAT,
    FLOAT8E4M3FN,
    FLOAT8E5M2,
    FLOAT16,
    INT4,
    INT8,
    INT32,
    INT64,
    UINT4,
    UINT8,
    UINT32,
    BinaryFormat,
    ElementType,
)
from vinculum.spec.onnx_div import DIV_14

LONG_FLOATS = [BFLOAT16, FLOAT16, FLOAT, DOUBLE]
FLOATS = [*LONG_FLOATS, FLOAT8E4M3FN, FLOAT8E5M2]
INTEGERS = [t for t in ELEMENT_TYPES if t.is_integer]


def of(element_type: ElementType, tried: str, operands: int = 2) -> ValueClass:
    """Return the first class of that name."""
    return next(v for v in value_classes(element_type, operands) if v.tried == tried)


def given(element_type: ElementType, tried: str) -> Operands:
    """Return the operands of the first class of that name."""
    return of(element_type, tried).operands(element_type)


def exact_quotients(element_type: ElementType, tried: str) -> list[Fraction]:
    """Return the quotients of a class as rationals."""
    fmt = format_of(element_type)
    codes = (elements(operand, element_type) for operand in given(element_type, tried))
    return [decode(a, fmt).value / decode(b, fmt).value for a, b in zip(*codes, strict=True)]


class TestEveryClass:
    """Operands may not be written, and join as the class says."""

    @pytest.mark.parametrize("element_type", INTEGERS, ids=str)
    def test_only_what_is_unspecified_has_no_quotient(self, element_type: ElementType) -> None:
        minimum = element_type.minimum
        for values in value_classes(element_type, 2):
            operands = values.operands(element_type)
            a, b = (x.astype(np.int64) if element_type.bits < 8 else x for x in operands)  # of which ml_dtypes has none
            is_open = (b == 0) | ((a == minimum) & (b == -1))
            assert is_open.any() == (values.subject in (Subject.ZERO_DIVISOR, Subject.MINIMUM)), values.tried
            assert (is_open.any() and not is_open.all()) == ("beside" in values.tried or ", " in values.tried), (
                values.tried
            )


class TestHardQuotients:
    """They are next to halfway between two numbers, as near as quotients get."""

    @pytest.mark.parametrize("element_type", LONG_FLOATS, ids=str)
    def test_the_distance_from_halfway(self, element_type: ElementType) -> None:
        fmt = format_of(element_type)
        for a, b in nearest_to_halfway(element_type, fmt, 1000):
            off = from_halfway(decode(a, fmt).value / decode(b, fmt).value, fmt)
            assert 0 < off < Fraction(1, 2 ** (fmt.significand_bits - 2))


def from_halfway(exact: Fraction, fmt: BinaryFormat) -> Fraction:
    """Return how far a quotient is from halfway between two numbers, of their distance."""
    nearest = round_to_nearest_even(abs(exact), fmt)
    spacing = decode(nearest + 1, fmt).value - decode(nearest, fmt).value
    return abs(abs(abs(exact) - decode(nearest, fmt).value) / spacing - Fraction(1, 2))


class TestTheEndsOfAFormat:
    """Quotients at and next to where they become subnormal, zero or infinite."""

    @pytest.mark.parametrize("element_type", FLOATS, ids=str)
    def test_subnormal_ties(self, element_type: ElementType) -> None:
        fmt = format_of(element_type)
        smallest = decode(1, fmt).value
        exact = {abs(q) / smallest for q in exact_quotients(element_type, "subnormal quotients at and next to ties")}
        halves = {q for q in exact if q.denominator == 2}
        largest_subnormal = 2**fmt.trailing_bits - 1
        assert halves >= {Fraction(1, 2), Fraction(3, 2), largest_subnormal + Fraction(1, 2)}
        assert len(exact - halves) > len(halves)


class TestSpecials:
    """Zeros, infinities and NaN of both signs, and every pair of narrow numbers."""

    @pytest.mark.parametrize("element_type", [INT8, UINT8, INT4, UINT4], ids=str)
    def test_every_pair_of_integers(self, element_type: ElementType) -> None:
        """The pairs without a quotient are asked apart from the others."""
        pairs: set[tuple[int, int]] = set()
        for values in value_classes(element_type, 2):
            a, b = np.broadcast_arrays(*values.operands(element_type))
            pairs |= set(zip(elements(a, element_type), elements(b, element_type), strict=True))
        both = range(element_type.minimum, element_type.maximum + 1)
        zero_divisors = {(x, 0) for x in both}
        assert len(pairs | zero_divisors) == 4**element_type.bits
        assert len(pairs & zero_divisors) >= min(40, len(zero_divisors))


class TestPlaces:
    """A pair without a quotient stands among ordinary ones, in every length that leaves a remainder beside vectors."""

    LENGTHS = (1, 2, 3, 4, 5, 6, 7, 8, 9, 15, 16, 17, 31, 32, 33, 64, 65, 1001)

    @pytest.mark.parametrize("element_type", INTEGERS, ids=str)
    @pytest.mark.parametrize("pair", ["a zero divisor", "MIN divided by -1"])
    def test_each_length_has_it_at_each_place(self, element_type: ElementType, pair: str) -> None:
        asked = {}
        for values in value_classes(element_type, 2):
            tried, _, place = values.tried.partition(", ")
            if tried == pair and values.joined is Joined.EQUAL:
                a, b = (np.asarray(elements(x, element_type)) for x in values.operands(element_type))
                without = (b == 0) | ((a == element_type.minimum) & (b == -1))
                asked[len(a), place] = np.flatnonzero(without).tolist()
        expected = {(1, ""): [0]}
        for length in self.LENGTHS[1:]:
            expected |= {(length, "first"): [0], (length, "last"): [length - 1]}
            expected |= {(length, "in the middle"): [length // 2]} if length > 2 else {}
        assert asked == (expected if element_type.minimum or pair == "a zero divisor" else {})

    @pytest.mark.parametrize("pair", ["a zero divisor", "MIN divided by -1"])
    def test_the_default_level_tells_vectors_of_every_width_apart(self, pair: str) -> None:
        """Which of its cases lie in the remainder after vectors differs from width to width, and from the whole."""
        places = set()
        for case in cases(Level.DEFAULT, [DIV_14]):
            if case.id.matches(f"Div-14/int32/{pair}*/equal shapes of */run-time operands"):
                unspecified = case.expectation.unspecified
                assert unspecified is not None
                places.add((unspecified.size, int(np.argmax(unspecified))))
        dying = [{p for p in places if p[1] >= p[0] - p[0] % width} for width in (1, 4, 8, 16, 32)]
        dying += [{p for p in places if p[0] == 1}, {p for p in places if p[0] % 2}, places]
        assert len(set(map(frozenset, dying))) == len(dying)


class TestSizes:
    """One dimension of every size that leaves a remainder beside vectors."""

    @pytest.mark.parametrize("element_type", [INT32, INT64, UINT32, FLOAT], ids=str)
    def test_no_part_of_many_numbers_is_another_part(self, element_type: ElementType) -> None:
        """What a thread computes at the place of another would show."""
        a, b = next(v for v in value_classes(element_type, 2) if "70001" in v.label).operands(element_type)
        for step in (1 << k for k in range(2, 17)):
            assert not np.array_equal(a[step:] // b[step:], (a // b)[:-step])
