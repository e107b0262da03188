"""binary16 and bfloat16 by a divisor that is repeated: by its reciprocal, and yet rounded as the division is."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

import vinculum
from tests.kernels.comparing import DTYPES, assert_same

Array = npt.NDArray[Any]

SMALLEST_NORMAL = {"float16": 0x0400, "bfloat16": 0x0080}
LARGEST = {"float16": 0x7BFF, "bfloat16": 0x7F7F}
MAGNITUDE = 0x7FFF

each_name = pytest.mark.parametrize("name", SMALLEST_NORMAL)


def every(name: str) -> Array:
    """Return the value of every encoding."""
    return np.arange(1 << 16, dtype=np.uint16).view(DTYPES[name])


def compared(name: str, divisors: Iterable[int]) -> Iterator[int]:
    """Divide every dividend by each divisor, repeated and not, and yield how many have normal quotients or 0.

    Those are divided once more without the others, which would have their runs divided again.
    """
    dividends = every(name)
    for divisor in divisors:
        divisors_alike = np.full(dividends.size, divisor, np.uint16).view(DTYPES[name])
        one, expected = divisors_alike[:1], vinculum.div(dividends, divisors_alike)
        assert_same(vinculum.div(dividends, one), expected)
        magnitudes = expected.view(np.uint16) & MAGNITUDE
        quick = (magnitudes >= SMALLEST_NORMAL[name]) | (dividends.view(np.uint16) & MAGNITUDE == 0)
        assert_same(vinculum.div(dividends[quick], one), expected[quick])
        yield int(quick.sum())


@each_name
class TestRepeatedDivisor:
    """Each quotient is that of the pair where nothing is repeated, which other tests compare with the reference."""

    def test_edges(self, name: str) -> None:
        normal = SMALLEST_NORMAL[name]
        limits = {0, normal, LARGEST[name], LARGEST[name] + 1, 0x7FFF}  # and of the reciprocals, near 2^127
        near = {limit + step for limit in (*limits, 0x7E80, 0x7F00) for step in (-2, -1, 0, 1, 2)}
        numbers = {0x3C00, 0x3F80, 0x5220, 0x3555, 0x3EAB}
        edges = {d for d in near | numbers if 0 <= d <= MAGNITUDE}
        assert all(compared(name, [d | sign for d in sorted(edges) for sign in (0, 0x8000)]))

    def test_some(self, name: str) -> None:
        rng = np.random.default_rng(0)
        assert sum(compared(name, rng.integers(0, 1 << 16, 200).tolist())) > 200 << 13

    @pytest.mark.exhaustive
    def test_all(self, name: str, request: pytest.FixtureRequest) -> None:
        one_in = int(request.config.getoption("--one-in"))
        assert sum(compared(name, range(0, 1 << 16, one_in))) > (1 << 29) // one_in

    @pytest.mark.parametrize("count", [63, 64, 65, 5000, 200_000])
    def test_layouts(self, name: str, count: int) -> None:
        """Rows of one divisor each, in place, strided and streamed, some quotients of each row subnormal."""
        rng = np.random.default_rng(count)
        dividends = rng.integers(0, 1 << 16, (5, count), dtype=np.uint16).view(DTYPES[name])
        divisors = rng.integers(0, 1 << 16, (5, 1), dtype=np.uint16).view(DTYPES[name])
        expected = vinculum.div(dividends, np.repeat(divisors, count, axis=1))
        assert_same(vinculum.div(dividends, divisors), expected)
        assert_same(vinculum.div(dividends[:, ::-1], divisors), expected[:, ::-1])
        assert_same(vinculum.div(dividends.copy(order="F"), divisors), expected)
        place = dividends.copy()
        vinculum.div(place, divisors, out=place)
        assert_same(place, expected)
