"""Every pair of int16, uint16, float16 and bfloat16 through the public operators: 2^32 each."""

from __future__ import annotations

from typing import Any

import numpy.typing as npt
import pytest

import vinculum
from tests.exhaustive.enumeration import enumerate_parts
from tests.exhaustive.sixteen_bits import PARTS, Division, Enumeration

Array = npt.NDArray[Any]


def truncated(a: Array, b: Array) -> Array:
    """Divide by Div-14."""
    return vinculum.div(a, b, zero_divisor="saturate")


def floored(a: Array, b: Array) -> Array:
    """Divide by Divide-1."""
    return vinculum.divide(a, b, zero_divisor="saturate")


@pytest.mark.exhaustive
class TestEveryPair:
    """Div-14, Divide-1: integers truncated or floored, floats rounded once to nearest, ties to even."""

    @pytest.fixture
    def one_in(self, request: pytest.FixtureRequest) -> int:
        """Of how many parts one is run."""
        return int(request.config.getoption("--one-in"))

    @pytest.mark.parametrize("name", ["int16", "uint16"])
    @pytest.mark.parametrize("divide", [truncated, floored])
    def test_integers(self, name: str, divide: Division, one_in: int) -> None:
        pairs = Enumeration(name, divide, floor=divide is floored)
        enumerate_parts(f"{name} {divide.__name__}", pairs.equal_shapes, PARTS, one_in)

    @pytest.mark.parametrize("name", ["int16", "uint16"])
    @pytest.mark.parametrize("divide", [truncated, floored])
    def test_integers_by_a_scalar(self, name: str, divide: Division, one_in: int) -> None:
        pairs = Enumeration(name, divide, floor=divide is floored)
        enumerate_parts(f"{name} {divide.__name__} by a scalar", pairs.scalar_divisor, PARTS, one_in)

    @pytest.mark.parametrize("name", ["float16", "bfloat16"])
    def test_floats(self, name: str, one_in: int) -> None:
        enumerate_parts(name, Enumeration(name, vinculum.div).equal_shapes, PARTS, one_in)
