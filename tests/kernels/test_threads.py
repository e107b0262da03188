"""Division by several threads: the result is that of one thread, whatever their number."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

import vinculum
from tests.kernels.comparing import DTYPES, INTEGERS, assert_same, encodings, exact_quotients, lenient, random_encodings
from tests.kernels.layouts import LAYOUTS

Array = npt.NDArray[Any]

pytestmark = pytest.mark.usefixtures("twelve_threads")


@cache
def square(name: str, seed: int) -> Array:
    """Return random elements for about 16 blocks, enough for twelve threads, of any type."""
    side = {1: 720, 2: 510, 4: 360, 8: 260}[DTYPES[name].itemsize]
    return random_encodings(name, (side, side), seed)


class TestNumberOfThreads:
    """Neither the quotients nor the layout of the result depends on it."""

    @pytest.mark.parametrize("name", DTYPES)
    def test_quotients(self, name: str) -> None:
        side = len(square(name, 0)) // 2
        operands = [square(name, seed).reshape(side, 4, side) for seed in (0, 1)]
        for way, picked in LAYOUTS.items():
            a, b = picked(*operands)
            truncated = exact_quotients(a, b, floor=False)
            floored = exact_quotients(a, b) if name in INTEGERS else truncated
            for exact, operator in ((truncated, vinculum.div), (floored, vinculum.divide)):
                with vinculum.threads(1):
                    expected = operator(a, b, **lenient(name))
                assert_same(expected, exact)
                for count in (2, 3, 12):
                    with vinculum.threads(count):
                        result = operator(a, b, **lenient(name))
                    assert result.strides == expected.strides, way
                    assert np.array_equal(encodings(result), encodings(expected)), way  # a NaN's payload too
