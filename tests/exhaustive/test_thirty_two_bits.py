"""At least 10^8 pairs each of int32 and uint32, on every backend or on those of --backend."""

from __future__ import annotations

from functools import partial

import pytest

from tests.exhaustive.enumeration import divisions, enumerate_parts
from tests.exhaustive.thirty_two_bits import PARTS, few_bits, scalar_divisor
from vinculum.kernels.contract import Backend


@pytest.mark.exhaustive
@pytest.mark.parametrize(("name", "floor"), [("int32", False), ("int32", True), ("uint32", False)])
class TestNextToMultiples:
    """The whole part of the quotient, or its floor."""

    def test_few_bits(self, name: str, floor: bool, chosen: list[Backend], one_in: int) -> None:
        """Both operands have at most 24 bits."""
        part = partial(few_bits, name, floor, divisions(chosen, floor=floor))
        enumerate_parts(f"{name} of few bits{', floored' * floor}", part, PARTS, one_in)

    def test_by_a_scalar(self, name: str, floor: bool, chosen: list[Backend], one_in: int) -> None:
        part = partial(scalar_divisor, name, floor, divisions(chosen, floor=floor))
        enumerate_parts(f"{name} by a scalar{', floored' * floor}", part, PARTS, one_in)
