"""At least 10^8 adversarial pairs each of int64 and uint64, through the operators and through both algorithms."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

import vinculum
from tests.exhaustive.enumeration import enumerate_parts
from tests.exhaustive.exact_16 import compiled
from tests.exhaustive.sixty_four_bits import PARTS, Adversary, Division
from vinculum.kernels import two_step_quotient

Array = npt.NDArray[Any]


def by_algorithm(rule: Any) -> Division:  # a function that Numba has compiled
    """Divide by one of the two algorithms, of which the kernels choose one by the processor."""

    @compiled
    def loop(a: Array, b: Array, reciprocals: Array, quotients: Array) -> None:
        for i in range(a.size):
            quotients[i] = rule(a[i], b[i], reciprocals[i])

    def divide(a: Array, b: Array) -> Array:
        quotients = np.empty_like(a)
        # The rule's own: the nearest binary64 of the divisor, and a reciprocal that is never too large.
        loop(a, b, (1 - 2.0**-50) / b.astype(np.float64), quotients)
        return quotients

    return divide


@pytest.mark.exhaustive
class TestAdversarialPairs:
    """The whole part of the quotient, or its floor, next to integers and where conversions round most."""

    @pytest.fixture
    def one_in(self, request: pytest.FixtureRequest) -> int:
        """Of how many parts one is run."""
        return int(request.config.getoption("--one-in"))

    @pytest.mark.parametrize("name", ["int64", "uint64"])
    @pytest.mark.parametrize("divide", [vinculum.div, vinculum.divide], ids=["truncated", "floored"])
    def test_pairs(self, name: str, divide: Division, one_in: int) -> None:
        adversary = Adversary(name, divide, floor=divide is vinculum.divide)
        enumerate_parts(f"{name} {divide.__name__}", adversary.equal_shapes, PARTS, one_in)

    @pytest.mark.parametrize("name", ["int64", "uint64"])
    @pytest.mark.parametrize("divide", [vinculum.div, vinculum.divide], ids=["truncated", "floored"])
    def test_by_a_scalar(self, name: str, divide: Division, one_in: int) -> None:
        adversary = Adversary(name, divide, floor=divide is vinculum.divide)
        enumerate_parts(f"{name} {divide.__name__} by a scalar", adversary.scalar_divisor, PARTS, one_in)

    @pytest.mark.parametrize("algorithm", ["two_step_quotient", "processor_quotient"])
    def test_algorithms(self, algorithm: str, one_in: int) -> None:
        adversary = Adversary("uint64", by_algorithm(getattr(two_step_quotient, algorithm)))
        enumerate_parts(algorithm, adversary.equal_shapes, PARTS, one_in)
