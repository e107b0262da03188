"""Every pair of int16, uint16, float16 and bfloat16, 2^32 each, on the backend in force or on those of --backend."""

from __future__ import annotations

import pytest

from tests.exhaustive.enumeration import divided_by, enumerate_parts
from tests.exhaustive.sixteen_bits import PARTS, Enumeration
from vinculum.kernels.contract import Backend

KINDS = [
    ("int16", False),
    ("int16", True),
    ("uint16", False),
    ("uint16", True),
    ("float16", False),
    ("bfloat16", False),
]


@pytest.mark.exhaustive
@pytest.mark.parametrize(("name", "floor"), KINDS)
class TestEveryPair:
    """Integers truncated or floored, floats rounded once to nearest, ties to even."""

    def test_equal_shapes(self, name: str, floor: bool, backend: Backend, one_in: int) -> None:
        pairs = Enumeration(name, divided_by(backend, floor=floor), floor)
        enumerate_parts(f"{name} on {backend.name}{', floored' * floor}", pairs.equal_shapes, PARTS, one_in)

    def test_by_a_scalar(self, name: str, floor: bool, backend: Backend, one_in: int) -> None:
        pairs = Enumeration(name, divided_by(backend, floor=floor), floor)
        title = f"{name} by a scalar on {backend.name}{', floored' * floor}"
        enumerate_parts(title, pairs.scalar_divisor, PARTS, one_in)
