"""Comparison by bits, in which all NaNs are equal, and errors in ulps."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest
from numpy.typing import NDArray

from vinculum.spec.element_types import BFLOAT16, FLOAT, INT32, ElementType
from vinculum.tensors.comparison import different, ulps_apart


@pytest.mark.parametrize(("element_type", "dtype"), [(FLOAT, np.float32), (BFLOAT16, ml_dtypes.bfloat16)], ids=str)
def test_zeros_differ_and_nans_do_not(element_type: ElementType, dtype: type) -> None:
    one: NDArray[Any] = np.array([0.0, np.nan, np.nan, np.nan, 1, np.inf], dtype)
    other: NDArray[Any] = np.array([-0.0, np.nan, 1, -np.nan, 1, np.inf], dtype)
    bits = other.view(f"u{other.itemsize}")
    bits[1] = bits[5] + 1  # the least NaN
    bits[5] += 2
    assert different(one, other, element_type).tolist() == [True, False, True, False, False, True]


def test_integers_are_compared_as_numbers() -> None:
    assert different(np.array([1, 2]), np.array([1, 3]), INT32).tolist() == [False, True]
    assert ulps_apart(np.array([1]), np.array([3]), INT32) is None


def test_ulps() -> None:
    one = np.array([1.0, 0.0, -2.0], np.float32)
    assert ulps_apart(one, np.nextafter(one, np.float32(-np.inf)), FLOAT) is None, "0.0 becomes negative"
    assert ulps_apart(one[::2], np.nextafter(one[::2], np.float32(9)), FLOAT) == [1, 1]
    largest = np.array([np.finfo(np.float32).max])
    assert ulps_apart(largest, np.nextafter(largest, np.float32(0)), FLOAT) == [1]
    assert ulps_apart(one[:1], np.array([2.0], np.float32), FLOAT) is None, "a binade away"
    assert ulps_apart(one[:1], np.array([np.inf], np.float32), FLOAT) is None
