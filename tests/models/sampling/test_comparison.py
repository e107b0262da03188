"""Comparison of results bit for bit, in which all NaNs are equal."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest

from tests.models.built_models import one_line
from vinculum.errors import DifferenceError
from vinculum.models.sampling.comparison import check_equal

SIDES = ("one", "the other")
FLOATS = [np.float16, np.float32, np.float64, ml_dtypes.bfloat16, ml_dtypes.float8_e4m3fn, ml_dtypes.float8_e5m2]


class TestEqual:
    """Equal values; the number of elements is returned."""

    @pytest.mark.parametrize("dtype", [*FLOATS, np.int8, np.uint64, bool, ml_dtypes.int4, np.complex64, object])
    @pytest.mark.parametrize("shape", [(), (0,), (2, 3)])
    def test_the_same(self, dtype: Any, shape: tuple[int, ...]) -> None:
        array = np.ones(shape).astype(dtype)
        assert check_equal("x", array, array.copy(), SIDES) == array.size

    @pytest.mark.parametrize("dtype", FLOATS)
    def test_nans(self, dtype: Any) -> None:
        array = np.array([np.nan, 1]).astype(dtype)
        negated = (array.view(f"u{array.itemsize}") ^ np.array([1 << 8 * array.itemsize - 1, 0], "u8")).astype(
            f"u{array.itemsize}"
        )
        assert check_equal("x", array, negated.view(dtype), SIDES) == 2

    def test_layouts_and_values_that_are_no_arrays(self) -> None:
        array = np.arange(6, dtype=np.float32).reshape(2, 3)
        assert check_equal("x", array, np.asfortranarray(array), SIDES) == 6
        value = [np.ones(2), None, {"a": np.ones(3), "b": np.nan, "c": "words"}]
        assert check_equal("x", value, value, SIDES) == 7


class TestDifferent:
    """One line names the index, both values and how many elements differ."""

    @pytest.mark.parametrize("dtype", FLOATS)
    def test_one_bit(self, dtype: Any) -> None:
        array = np.array(1.5).astype(dtype)
        other = np.array(array.view(f"u{array.itemsize}") + 1, f"u{array.itemsize}").view(dtype)
        with one_line(DifferenceError, "x differs at index (): 1.5 (0x", "1 of 1 elements differ"):
            check_equal("x", array, other, SIDES)

    @pytest.mark.parametrize(
        ("expected", "actual", "words"),
        [
            (
                np.array([[1, 0], [2, 3]], np.float32),
                np.array([[1, -0.0], [2, 4]], np.float32),
                "x differs at index (0, 1): 0.0 (0x00000000) in one, -0.0 (0x80000000) in the other; 2 of 4 elements",
            ),
            (np.float16("nan"), np.float16(1), "nan (0x7e00) in one, 1.0 (0x3c00) in the other"),
            (np.int64(-3), np.int64(-4), "-3 in one, -4 in the other"),
            (np.array(1).astype(ml_dtypes.int4), np.array(-1).astype(ml_dtypes.int4), "1 in one, -1 in the other"),
            (np.array(True), np.array(False), "True in one, False in the other"),
            (np.array("a", object), np.array("b\n", object), r"'a' in one, 'b\n' in the other"),
            (np.array(1j), np.array(-1j), "1j in one, (-0-1j) in the other"),
            (np.array(1 + 1j), np.array(1 + 2j), "(1+1j) in one, (1+2j) in the other"),
            (np.array(1, np.int32), np.array(1, np.int64), "x is of element type int32 in one, int64 in the other"),
            (np.ones((2, 1)), np.ones((1, 2)), "x has shape (2, 1) in one, (1, 2) in the other"),
            ([np.ones(1)], [np.zeros(1)], "item 0 of x differs"),
            ([np.ones(1)], [], "x is list of 1 in one, list of 0 in the other"),
            ({"a": np.ones(1)}, {"a": np.zeros(1)}, "entry 'a' of x differs"),
            ({"a": np.ones(1)}, {"b": np.ones(1)}, "x is dict of 1 in one, dict of 1 in the other"),
            ({"a": 0.5}, {"a": 0.25}, "entry 'a' of x differs at index (): 0.5 (0x3fe0000000000000) in one, 0.25 ("),
            ({"a": "b"}, {"a": "bc"}, "entry 'a' of x differs at index (): 'b' in one, 'bc' in the other"),
            (None, np.ones(1), "x is NoneType in one, ndarray in the other"),
        ],
    )
    def test_the_line(self, expected: Any, actual: Any, words: str) -> None:
        first, second = (np.asarray(v) if isinstance(v, np.generic) else v for v in (expected, actual))
        with one_line(DifferenceError, words):
            check_equal("x", first, second, SIDES)
