"""Constants lie within their bounds; a join stands for both operands. `test_known` records the rest."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pytest

from tests.analysis.containment import complaint, enclosing
from vinculum.analysis.domain.abstract_tensor import AbstractTensor, constant, holds, join, tensor, widened


@pytest.mark.parametrize("value", [2**53 + 1, -(2**53) - 1, 2**63 - 1, -(2**63), 2**63 + 1, 2**64 - 1])
def test_integers_that_float64_has_not_lie_between_their_neighbours(value: int) -> None:
    known = constant(np.array([value]))
    assert int(known.low[0]) <= value <= int(known.high[0])
    assert known.largest - float(known.mag[0]) < 2.0**13


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.float16, np.int32, np.uint8, np.bool_])
@pytest.mark.parametrize("size", [10, 100_000])
def test_a_constant_of_any_size(size: int, dtype: Any) -> None:
    array = (np.arange(size) % 2000).reshape(-1, 2).astype(dtype)
    if array.dtype.kind == "f":
        array[3:, 1] = np.nan
    known = constant(array)
    assert known.may_nan == (array.dtype.kind == "f")
    assert complaint(known, array) == ""
    assert known.box.hull() == (np.nanmin(array), np.nanmax(array))


@pytest.mark.parametrize("size", [10, 100_000])
def test_a_constant_in_a_narrower_type(size: int) -> None:
    array = np.linspace(0.1, 0.7, size, dtype=np.float32).reshape(-1, 2)
    known = constant(array, "float16")
    assert known.element_type == "float16"
    assert known.box.hull() == (float(np.float16(0.1)), float(np.float16(0.7)))


_NUMBERS = ([1, 3], [-2, -0.5], [4, 5], [0.0, 5], [-0.0, 7], [np.nan, 7], [-1, np.inf], [0.25, 0.5], [[9, 2, 6]])
ARRAYS = [np.array(numbers, np.float32) for numbers in _NUMBERS]


def known_of(array: Any) -> AbstractTensor:
    known = enclosing(array)
    assert known is not None
    return known


@pytest.mark.parametrize("both", [join, widened])
def test_each_is_inside(both: Any) -> None:
    for first, second in product(ARRAYS, repeat=2):
        a, b = known_of(first), known_of(second)
        together = both(a, b)
        assert [complaint(together, array) for array in (first, second)] == ["", ""], (first, second)
        assert holds(together, a)
        assert holds(together, b)
        assert not holds(a, b) or complaint(a, second) == ""


def test_a_shape_holds_itself_and_an_unknown_one_every_shape() -> None:
    for first, second, expected in (((2,), (2,), True), (None, (2,), True), ((2,), (3,), False)):
        assert holds(tensor("float32", first, 0, 1), tensor("float32", second, 0, 1)) == expected


def test_what_both_say_stays() -> None:
    joined = join(known_of(ARRAYS[0]), known_of(ARRAYS[1]))
    assert (joined.box.hull(), float(joined.mag.min())) == ((-2, 3), 0.5)
    assert (joined.may_zero, joined.may_nan, joined.integral) == (False, False, False)
    joined = join(constant(np.array([1, 2])), constant(np.array([3, 4, 5])))  # Of two shapes one interval.
    assert (joined.box.hull(), joined.low.size) == ((1, 5), 1)
