"""At least 10^8 pairs each of int32 and uint32 of at most 24 bits, on every backend or on those of --backend."""

from __future__ import annotations

from functools import partial

import pytest

from tests.exhaustive.enumeration import divisions, enumerate_parts
from tests.exhaustive.twenty_four_bits import PARTS, compare
from vinculum.kernels.contract import Backend


@pytest.mark.exhaustive
@pytest.mark.parametrize(("name", "floor"), [("int32", False), ("int32", True), ("uint32", False)])
def test_next_to_multiples(name: str, floor: bool, chosen: list[Backend], one_in: int) -> None:
    """The whole part of the quotient, or its floor."""
    part = partial(compare, name, floor, divisions(chosen, floor=floor))
    enumerate_parts(f"{name} of few bits{', floored' * floor}", part, PARTS, one_in)
