"""Threads that help: what they divide is what one thread divides, however many there are and whoever else divides."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

import vinculum
from tests.kernels.comparing import DTYPES, INTEGERS, assert_same, encodings, exact_quotients, lenient, random_encodings

Array = npt.NDArray[Any]

pytestmark = pytest.mark.usefixtures("twelve_threads")


@cache
def square(name: str, seed: int) -> Array:
    """Return the elements of about 16 blocks, of which each of twelve threads may divide some, whatever the type."""
    side = {1: 720, 2: 510, 4: 360, 8: 260}[DTYPES[name].itemsize]
    return random_encodings(name, (side, side), seed)


def every_way(name: str) -> dict[str, tuple[Array, Array]]:
    """Return operands of each layout that threads share in a way of its own."""
    a, b = square(name, 0), square(name, 1)
    return {
        "contiguous": (a, b),
        "a scalar": (a, b[3, 5, ...]),
        "of a scalar": (a[3, 5, ...], b),
        "rows": (a, b[1]),
        "columns": (a, b[:, 2:3]),
        "outer": (a[:, :1], b[:1]),
        "every other": (a[:, ::2], b[:, ::2]),
        "reversed": (a[::-1, ::-1], b),
        "transposed": (a.T, b),
        "both transposed": (a.T, b.T),
        "with gaps": (a[:, :-3], b[:, 3:]),
    }


class TestNumberOfThreads:
    """Neither a quotient, nor where it lies in memory, depends on it."""

    @pytest.mark.parametrize("name", DTYPES)
    def test_quotients(self, name: str) -> None:
        for way, (a, b) in every_way(name).items():
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
