"""At least 10^8 adversarial pairs each of int64 and uint64, on every backend or on those of --backend."""

from __future__ import annotations

import pytest

from tests.exhaustive.enumeration import divisions, enumerate_parts
from tests.exhaustive.sixty_four_bits import PARTS, Adversary
from vinculum.kernels.contract import Backend


@pytest.mark.exhaustive
@pytest.mark.parametrize("name", ["int64", "uint64"])
@pytest.mark.parametrize("floor", [False, True], ids=["truncated", "floored"])
class TestAdversarialPairs:
    """The whole part of the quotient, or its floor, next to integers and where conversions round most."""

    def test_pairs(self, name: str, floor: bool, chosen: list[Backend], one_in: int) -> None:
        adversary = Adversary(name, divisions(chosen, floor=floor), floor)
        enumerate_parts(f"{name}{', floored' * floor}", adversary.equal_shapes, PARTS, one_in)

    def test_by_a_scalar(self, name: str, floor: bool, chosen: list[Backend], one_in: int) -> None:
        adversary = Adversary(name, divisions(chosen, floor=floor), floor)
        enumerate_parts(f"{name} by a scalar{', floored' * floor}", adversary.scalar_divisor, PARTS, one_in)
