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


@pytest.mark.parametrize(
    ("found", "expected"),
    [
        (times(N, M), times(M, N)),
        (plus(N, M), plus(M, N)),
        (minus(plus(N, 1) or 0, N), 1),
        (quotient(times(N, 6) or 0, times(N, 2) or 0), 3),
        (quotient(times(N, M) or 0, M), N),
        (quotient(N, 2), None),
        (quotient(N, 0), None),
        (quotient(7, 2), None),
        (quotient(N, minus(N, 1) or 0), None),
        (product([]), 1),
        (product([N, 2, N]), times(times(N, N) or 0, 2)),
        (total([N, 2, N]), plus(times(N, 2) or 0, 2)),
        (total([N, None]), None),
        (total([variable(name) for name in "abcdefghijklmnopqr"]), None),  # Too long to keep.
        (bounds(N), (1, inf)),
        (bounds(minus(N, 1) or 0), (0, inf)),
        (bounds(times(M, -1) or 0), (-9, -2)),
        (bounds(variable("k", 0)), (0, inf)),
        (str(plus(times(N, M) or 0, 2)), "2 + m*n"),
        (element_count((2**32, 2**32)), (2.0**64, 2.0**64)),  # Beyond 64 bits.
        (element_count((3, M)), (6, 27)),
        (element_count(()), (1, 1)),
        (resized((2, N, 4), 1, 3, M), (2, 3, M, 4)),
        (resized((2, N), 0), (N,)),
    ],
)
def test_what_cancels_and_is_counted(found: object, expected: object) -> None:
    assert found == expected
