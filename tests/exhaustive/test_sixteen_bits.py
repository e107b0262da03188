"""Every pair of int16, uint16, float16 and bfloat16, 2^32 each, on every backend or on those of --backend."""

from __future__ import annotations

import pytest

from tests.exhaustive.enumeration import divisions, enumerate_parts
from tests.exhaustive.exact_16 import FORMATS
from tests.exhaustive.sixteen_bits import PARTS, Enumeration
from vinculum.kernels.contract import Backend

KINDS = [
    pytest.param("int16", False, id="int16"),
    pytest.param("int16", True, id="int16-floored"),
    pytest.param("uint16", False, id="uint16"),
    pytest.param("uint16", True, id="uint16-floored"),
    pytest.param("float16", False, id="float16"),
    pytest.param("bfloat16", False, id="bfloat16"),
]


@pytest.mark.exhaustive
@pytest.mark.parametrize(("name", "floor"), KINDS)
class TestEveryPair:
    """Integers truncated or floored, floats rounded once to nearest, ties to even."""

    def test_equal_shapes(self, name: str, floor: bool, chosen: list[Backend], one_in: int) -> None:
        pairs = Enumeration(name, divisions(chosen, floor=floor), floor)
        enumerate_parts(f"{name}{', floored' * floor}", pairs.equal_shapes, PARTS, one_in)

    def test_by_a_scalar(self, name: str, floor: bool, chosen: list[Backend], one_in: int) -> None:
        pairs = Enumeration(name, divisions(chosen, floor=floor), floor)
        enumerate_parts(f"{name} by a scalar{', floored' * floor}", pairs.scalar_divisor, PARTS, one_in)


@pytest.mark.exhaustive
@pytest.mark.parametrize("name", FORMATS)
def test_floats_by_a_row(name: str, chosen: list[Backend], one_in: int) -> None:
    """Lines of dividends by one line of divisors, of which the core takes the reciprocals."""
    enumerate_parts(f"{name} by a row", Enumeration(name, divisions(chosen)).row, PARTS, one_in)
