"""The bounds of SONNX's numeric accuracy are sound and attained, and near misses of them are caught."""

from __future__ import annotations

import itertools
import math
import random
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import cache

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vinculum.reference.accuracy import Bound, error_bounds
from vinculum.reference.exact_quotient import truncating
from vinculum.reference.rounding import decode, round_to_nearest_even
from vinculum.spec.element_types import (
    BFLOAT16,
    DOUBLE,
    FLOAT,
    FLOAT8E5M2,
    FLOAT16,
    INT4,
    INT8,
    INT64,
    REAL,
    UINT8,
    BinaryFormat,
    ElementType,
)

PROPAGATED, INTRODUCED, TOTAL = "propagated", "introduced", "total"
HALF = Fraction(1, 2)


@dataclass(frozen=True)
class Case:
    """A quotient, the bounds p and q of its operands' errors, and true errors within them."""

    element_type: ElementType
    a: Fraction
    b: Fraction
    p: Fraction
    q: Fraction
    a_err: Fraction
    b_err: Fraction


Bounds = Callable[[Case], tuple[Bound, Bound, Bound]]


def ours(case: Case) -> tuple[Bound, Bound, Bound]:
    """Return the bounds under test."""
    return error_bounds(case.a, case.b, case.p, case.q, case.element_type)


def form(element_type: ElementType) -> BinaryFormat:
    """Return the binary format of a floating-point type."""
    assert element_type.binary_format is not None
    return element_type.binary_format


def operator(a: Fraction, b: Fraction, element_type: ElementType) -> Fraction | None:
    """Return what the operator gives for real operands, None for an infinity; b is not 0."""
    if element_type.is_integer:
        return Fraction(math.trunc(a / b))
    if element_type is REAL:
        return a / b
    number = decode(round_to_nearest_even(a / b, form(element_type)), form(element_type))
    return number.value if number.is_finite else None


def violated(bounds: Bounds, case: Case) -> set[str]:
    """Return which of the three bounds the true errors of a case exceed, both ways round for the total."""
    propagated, introduced, total = bounds(case)
    erroneous = case.a + case.a_err, case.b + case.b_err
    exact = case.a / case.b
    if erroneous[1] == 0:
        return {name for name, bound in ((PROPAGATED, propagated), (TOTAL, total)) if bound is not None}
    off = erroneous[0] / erroneous[1]
    errors: list[tuple[str, Bound, Fraction | None, Fraction]] = [(PROPAGATED, propagated, off, exact)]
    if gives_a_result(case.a, case.b, case.element_type):
        result = operator(case.a, case.b, case.element_type)
        errors += [(INTRODUCED, introduced, result, exact), (TOTAL, total, result, off)]
    if gives_a_result(*erroneous, case.element_type):
        errors.append((TOTAL, total, operator(*erroneous, case.element_type), exact))
    return {
        name for name, bound, got, wanted in errors if bound is not None and (got is None or abs(got - wanted) > bound)
    }


def gives_a_result(a: Fraction, b: Fraction, element_type: ElementType) -> bool:
    """Return whether integer operands and their quotient are values of the type; others always are."""
    if not element_type.is_integer:
        return True
    low, high = element_type.minimum, element_type.maximum
    return all(v.denominator == 1 and low <= v <= high for v in (a, b)) and a / b <= high


def drawn_case(draw: random.Random, element_type: ElementType) -> Case:
    """Return a case with operands of the type and errors within their bounds, often at the extremes."""
    a, b = (operand(draw, element_type) for _ in range(2))
    b = b or Fraction(1)  # a zero divisor has no bound and its own test
    p, q = abs(a) * size(draw), abs(b) * size(draw)
    a_err, b_err = p * signed_part(draw), q * signed_part(draw)
    if element_type.is_integer:
        a_err, b_err = Fraction(math.trunc(a_err)), Fraction(math.trunc(b_err))
    return Case(element_type, a, b, p, q, a_err, b_err)


def operand(draw: random.Random, element_type: ElementType) -> Fraction:
    """Return a finite value of the type, small integers and subnormals among them more often than not."""
    if element_type is REAL:
        return Fraction(draw.randint(-20, 20), draw.randint(1, 20))
    if element_type.is_integer:
        near_zero = draw.random() < 0.5
        low, high = max(element_type.minimum, -9), min(element_type.maximum, 9)
        return Fraction(draw.randint(low, high) if near_zero else whole_range(draw, element_type))
    fmt = form(element_type)
    top = fmt.largest if draw.random() < 0.5 else 2 << fmt.trailing_bits
    return decode(draw.randint(0, top) | draw.choice((0, fmt.sign_mask)), fmt).value


def whole_range(draw: random.Random, element_type: ElementType) -> int:
    """Return any integer of the type."""
    return draw.randint(element_type.minimum, element_type.maximum)


def size(draw: random.Random) -> Fraction:
    """Return a relative bound: zero, small, or as large as the operand."""
    return draw.choice((Fraction(0), Fraction(1, 1000), Fraction(1, 8), HALF, Fraction(draw.random()), Fraction(1)))


def signed_part(draw: random.Random) -> Fraction:
    """Return which part of its bound an error takes, from -1 to 1."""
    return Fraction(draw.choice((-1, 0, 1, draw.uniform(-1, 1))))


@cache
def drawn_cases() -> list[Case]:
    """Return cases of every kind of arithmetic, the same ones each time."""
    draw = random.Random(754)
    counts = {FLOAT8E5M2: 1300, FLOAT16: 500, BFLOAT16: 250, FLOAT: 250, DOUBLE: 250, REAL: 500}
    counts |= {INT4: 1500, INT8: 1000, UINT8: 500, INT64: 250}
    return [drawn_case(draw, element_type) for element_type, n in counts.items() for _ in range(n)]


class TestSoundness:
    """SONNX Div, 'Numeric accuracy': no error exceeds its bound."""

    def test_drawn_cases_of_every_arithmetic(self) -> None:
        assert [case for case in drawn_cases() if violated(ours, case)] == []

    @pytest.mark.parametrize("element_type", [FLOAT16, FLOAT, DOUBLE, INT8, INT64, UINT8, REAL], ids=str)
    @given(st.randoms(use_true_random=False))
    def test_any_case(self, element_type: ElementType, draw: random.Random) -> None:
        assert violated(ours, drawn_case(draw, element_type)) == set()

    def test_every_small_integer_with_every_error(self) -> None:
        bounds_of_errors = list(itertools.product((0, 1, 2, 5), (0, 1, 2)))
        for a, b, (p, q) in itertools.product(range(8), range(1, 8), bounds_of_errors):
            _, _, bound = error_bounds(Fraction(a), Fraction(b), Fraction(p), Fraction(q), INT4)
            if bound is None:
                assert q >= b
                continue
            for other_a, other_b in itertools.product(range(a - p, a + p + 1), range(b - q, b + q + 1)):
                assert abs(truncating(other_a, other_b) - Fraction(a, b)) <= bound
                assert abs(truncating(a, b) - Fraction(other_a, other_b)) <= bound


class TestAttained:
    """proofs.md: the propagated bound and the integer bounds are the smallest that are sound."""

    @given(st.randoms(use_true_random=False))
    def test_propagated(self, draw: random.Random) -> None:
        case = drawn_case(draw, REAL)
        propagated = ours(case)[0]
        if case.q < abs(case.b):
            a_err = case.p if case.a >= 0 else -case.p
            b_err = -case.q if case.b > 0 else case.q
            worst = (case.a + a_err) / (case.b + b_err) - case.a / case.b
            assert abs(worst) == propagated
        else:
            assert propagated is None

    @pytest.mark.parametrize("b", [1, 2, 3, 100, -7, -128])
    def test_introduced_by_truncation(self, b: int) -> None:
        a = abs(b) - 1
        _, introduced, _ = error_bounds(Fraction(a), Fraction(b), Fraction(0), Fraction(0), INT8)
        assert introduced == abs(Fraction(a, b) - truncating(a, b))

    def test_total_of_truncation(self) -> None:
        """The operator gives 2 / 3 = 0 where the dividend may have been 3."""
        _, _, total = error_bounds(Fraction(2), Fraction(3), Fraction(1), Fraction(0), INT8)
        assert total == Fraction(3, 3) - truncating(2, 3)

    @pytest.mark.parametrize("element_type", [FLOAT16, BFLOAT16, FLOAT, DOUBLE], ids=str)
    def test_rounding_among_the_subnormals(self, element_type: ElementType) -> None:
        """The smallest subnormal by 2 is off by half of it; three of them by 2, for one, by three halves."""
        smallest = decode(1, form(element_type)).value
        _, introduced, total = error_bounds(smallest, Fraction(2), 2 * smallest, Fraction(0), element_type)
        assert introduced == smallest / 2
        rounded = operator(3 * smallest, Fraction(2), element_type)
        assert rounded is not None
        assert total == rounded - smallest / 2

    @pytest.mark.parametrize("element_type", [FLOAT8E5M2, FLOAT16, BFLOAT16], ids=str)
    def test_rounding_of_normal_numbers_comes_close(self, element_type: ElementType) -> None:
        fmt = form(element_type)
        binade = [decode((fmt.bias << fmt.trailing_bits) + i, fmt).value for i in range(1 << fmt.trailing_bits)]
        part = 0.0
        for a, b in itertools.product(binade[:64], binade[:64]):
            rounded = operator(a, b, element_type)
            _, introduced, _ = error_bounds(a, b, Fraction(0), Fraction(0), element_type)
            assert rounded is not None
            assert introduced is not None
            part = max(part, float(abs(rounded - a / b) / introduced))
        assert 0.7 < part <= 1


def without_subnormals(case: Case, p: Bound, i: Bound, t: Bound) -> Bound:
    fmt = case.element_type.binary_format
    return i if fmt is None or i is None else abs(case.a / case.b) / (1 << fmt.significand_bits)


def without_overflow(case: Case, p: Bound, i: Bound, t: Bound) -> Bound:
    fmt = case.element_type.binary_format
    if fmt is None or p is None or t is not None:
        return t
    return p + (abs(case.a / case.b) + p) / (1 << fmt.significand_bits)


# A bound, and what would stand in its place, of the case and the right bounds.
WRONG: dict[str, tuple[str, Callable[[Case, Bound, Bound, Bound], Bound]]] = {
    "by abs(B) once more, as the note has it": (PROPAGATED, lambda case, p, i, t: p and p / abs(case.b)),
    "no smaller divisor": (PROPAGATED, lambda case, p, i, t: (case.p + abs(case.a / case.b) * case.q) / abs(case.b)),
    "q without its factor": (PROPAGATED, lambda case, p, i, t: p and (case.p + case.q) / (abs(case.b) - case.q)),
    "one half, as the note has it": (INTRODUCED, lambda case, p, i, t: HALF if case.element_type.is_integer else i),
    "no subnormal numbers": (INTRODUCED, without_subnormals),
    "no overflow": (TOTAL, without_overflow),
    "rounded at the exact quotient": (TOTAL, lambda case, p, i, t: None if p is None or i is None else p + i),
    "the propagated one": (TOTAL, lambda case, p, i, t: p),
}


@pytest.mark.parametrize("name", WRONG)
def test_wrong_bounds_are_caught(name: str) -> None:
    """The property that holds the bounds is strict: it rejects each of these near misses."""
    violates, instead = WRONG[name]

    def wrong(case: Case) -> tuple[Bound, Bound, Bound]:
        p, i, t = ours(case)
        other = instead(case, p, i, t)
        return (other, i, t) if violates is PROPAGATED else (p, other, t) if violates is INTRODUCED else (p, i, other)

    assert any(violates in violated(wrong, case) for case in drawn_cases())
