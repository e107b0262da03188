"""The extracted rules for 64-bit integers divide as exact integers do, and what the texts of the proof say agrees."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from tests.machine.proofs.compiled_rules import TWO_STEP, CompiledRules
from tests.machine.proofs.two_step_pairs import COUNT, adversarial_pairs, edges, exact_quotients

Array = npt.NDArray[Any]


@cache
def words() -> tuple[Array, Array]:
    """Return dividends and divisors, no divisor zero."""
    return adversarial_pairs(1)


def test_the_pairs_are_what_they_are_for() -> None:
    a, b = words()
    assert a.size == b.size == COUNT
    assert b.all()
    assert {1, 2**53 + 1, 2**63, 2**64 - 1} <= set(edges().tolist())
    assert ((a == 2**63) & (b == 2**64 - 1)).any()  # MIN/-1
    multiples = (a % b == 0) & (b > 1) & (a > b)
    below = ((a + np.uint64(1)) % b == 0) & (b > 2) & (a > b)
    assert min(multiples.sum(), below.sum()) > COUNT // 20


@cache  # not a fixture: tests of a module do not follow each other, since those of one compiler do
def operands_and_quotients(name: str) -> tuple[Array, Array, Array]:
    """Return the words as a rule takes them, and the exact quotients."""
    a, b = (side.view(TWO_STEP[name]) for side in words())
    return a, b, exact_quotients(a, b, floor="floor" in name)


@pytest.mark.parametrize("name", TWO_STEP)
def test_adversarial_pairs(name: str, rules: CompiledRules) -> None:
    a, b, quotients = operands_and_quotients(name)
    np.testing.assert_array_equal(rules(name, a, b), quotients)
