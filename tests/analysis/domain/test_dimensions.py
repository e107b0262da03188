"""Sizes as polynomials: equal where they are the same, and bounded."""

from __future__ import annotations

from fractions import Fraction
from math import inf

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vinculum.analysis.domain.dimensions import (
    Dimension,
    bounds,
    element_count,
    minus,
    plus,
    product,
    quotient,
    resized,
    times,
    total,
    variable,
)

N, M = variable("n"), variable("m", 2, 9)
_NAMES = {"n": 3, "m": 5}


def value(size: Dimension) -> Fraction:
    """Return what a size is where n is 3 and m is 5."""
    if isinstance(size, int):
        return Fraction(size)
    result = Fraction(0)
    for monomial, coefficient in size.terms:
        factor = coefficient
        for one in monomial:
            factor *= _NAMES[one.name]
        result += factor
    return result


sizes = st.recursive(
    st.integers(-9, 9) | st.sampled_from([N, M]),
    lambda inner: st.tuples(st.sampled_from([plus, minus, times]), inner, inner).map(
        lambda t: result if (result := t[0](t[1], t[2])) is not None else 0
    ),
    max_leaves=6,
)


@given(sizes, sizes)
def test_arithmetic_is_that_of_what_they_stand_for(a: Dimension, b: Dimension) -> None:
    for f, g in ((plus, Fraction.__add__), (minus, Fraction.__sub__), (times, Fraction.__mul__)):
        found = f(a, b)
        assert found is None or value(found) == g(value(a), value(b))
    exact = quotient(a, b)
    assert exact is None or value(exact) * value(b) == value(a)
    low, high = bounds(a)
    assert low <= value(a) <= high


def test_order_does_not_matter() -> None:
    assert times(N, M) == times(M, N)
    assert plus(N, M) == plus(M, N)
    assert minus(plus(N, 1) or 0, N) == 1


@pytest.mark.parametrize(
    ("a", "b", "expected"),
    [
        (times(N, 6), times(N, 2), 3), (times(N, M), M, N), (N, 2, None), (N, 0, None), (7, 2, None),
        (N, minus(N, 1), None),
    ],
)  # fmt: skip
def test_what_cancels_is_a_number(a: Dimension, b: Dimension, expected: Dimension | None) -> None:
    assert quotient(a, b) == expected


def test_of_several() -> None:
    assert (product([]), total([])) == (1, 0)
    assert product([N, 2, N]) == times(times(N, N) or 0, 2)
    assert total([N, 2, N]) == plus(times(N, 2) or 0, 2)
    assert total([N, None]) is None
    assert total([variable(name) for name in "abcdefghijklmnopqr"]) is None  # Too long to keep.


def test_bounds_of_names() -> None:
    assert bounds(N) == (1, inf)
    assert bounds(minus(N, 1) or 0) == (0, inf)
    assert bounds(times(M, -1) or 0) == (-9, -2)
    assert (bounds(4), bounds(variable("k", 0))) == ((4, 4), (0, inf))


def test_it_is_written_as_a_sum() -> None:
    assert str(plus(times(N, M) or 0, 2)) == "2 + m*n"


def test_elements_are_counted_beyond_64_bits() -> None:
    assert element_count((2**32, 2**32)) == (2.0**64, 2.0**64)
    assert element_count((3, M)) == (3 * bounds(M)[0], 3 * bounds(M)[1])
    assert element_count(()) == (1, 1)


def test_an_axis_gives_way_to_others() -> None:
    assert resized((2, N, 4), 1, 3, M) == (2, 3, M, 4)
    assert resized((2, N), 0) == (N,)
