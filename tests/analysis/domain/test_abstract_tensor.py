"""Bounds of a tensor agree with what else is said of it."""

from __future__ import annotations

import numpy as np
import pytest

from vinculum.analysis.domain.abstract_tensor import tensor

LEAST = 2.0**-149


@pytest.mark.parametrize(("low", "high", "expected"), [(0.0, 1.0, (LEAST, 1.0)), (-1.0, 0.0, (-1.0, -LEAST))])
def test_without_zeros_a_bound_is_not_zero(low: float, high: float, expected: tuple[float, float]) -> None:
    known = tensor("float32", (2,), low, high, may_plus_zero=False, may_minus_zero=False)
    assert (known.box.hull(), float(known.mag.min()), known.may_zero) == (expected, LEAST, False)


def test_a_bound_is_not_nearer_to_zero_than_the_magnitude() -> None:
    low, high, mag = np.array([-1.0, -5.0, 0.0]), np.array([4.0, 1.0, 9.0]), np.array([2.0, 2.0, 0.0])
    known = tensor("float32", (3,), low, high, mag)
    assert (known.low.tolist(), known.high.tolist()) == ([2.0, -5.0, 0.0], [4.0, -2.0, 9.0])
    assert known.may_zero


def test_bounds_of_one_sign_say_how_far_from_zero() -> None:
    known = tensor("float32", (3,), [1.0, -4.0, -1.0], [2.0, -3.0, 1.0])
    assert known.mag.tolist() == [1.0, 3.0, 0.0]


@pytest.mark.parametrize(
    ("low", "minus_zero", "expected"), [(0.0, False, True), (0.0, True, False), (-1.0, False, False)]
)
def test_never_negative_excludes_minus_zero_too(low: float, minus_zero: bool, expected: bool) -> None:
    known = tensor("float32", (2,), low, 1.0, may_plus_zero=True, may_minus_zero=minus_zero)
    assert known.never_negative == expected
