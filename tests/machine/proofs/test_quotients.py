"""The extracted rules give exact quotients: direct ones, those in two steps, and those by a prepared divisor."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from tests.kernels import integer_operands
from tests.kernels.comparing import exact_quotients
from tests.machine.proofs.compiled_rules import RULES, CompiledRules

Array = npt.NDArray[Any]

COUNT = 250_000
# The largest operand for which the rules of 51 bits are proved.
SMALL = (1 << 51) - 1
# The type of each rule, and the least and the greatest operand for which it is proved.
PROVED_FOR = {
    name: (element, *((-SMALL if "i64" in name else 0, SMALL) if "_51_" in name else integer_operands.limits(element)))
    for name, element in RULES.items()
}


@cache
def edges(element: str, least: int, greatest: int) -> tuple[Array, Array]:
    """Return all pairs of edge values; for 8 and 16 bits with all dividends, and for 8 bits with all divisors."""
    values = [n for n in [*integer_operands.edges(element), least, greatest] if least <= n <= greatest]
    every = range(least, greatest + 1)
    divisors = np.array([n for n in (every if greatest < 1 << 8 else values) if n], element)
    dividends = np.array(every if greatest < 1 << 16 else values, element)
    a, b = (side.ravel() for side in np.meshgrid(dividends, divisors))
    return a, b


@cache
def drawn(element: str, least: int, greatest: int) -> tuple[Array, Array]:
    """Return divisors of every magnitude, and dividends, two thirds of them multiples of the divisor or next to one.

    Every divisor of 16 bits is among them, several times.
    """
    random = np.random.default_rng(6)
    dividends, divisors = (random.integers(least, greatest, COUNT, element, endpoint=True) for _ in range(2))
    divisors >>= random.integers(0, greatest.bit_length(), COUNT, element)
    if greatest < 1 << 16:
        divisors = np.resize(np.arange(least, greatest + 1), COUNT).astype(element)
    divisors[divisors == 0] = 1
    with np.errstate(over="ignore"):  # a number beyond the limits wraps to some other dividend
        near = dividends // divisors * divisors + random.integers(-1, 2, COUNT).astype(element)
    inside = (near >= least) & (near <= greatest) & (random.random(COUNT) < 2 / 3)
    return np.where(inside, near, dividends), divisors


@pytest.mark.parametrize("operands", sorted(set(PROVED_FOR.values())), ids=str)
def test_the_pairs_cover_edges_and_multiples(operands: tuple[str, int, int]) -> None:
    element, least, greatest = operands
    a, b = edges(*operands)
    assert b.all()
    assert {least, greatest} <= set(a.tolist()) & {*b.tolist(), 0}
    assert not least or ((a == least) & (b == -1)).any()
    a, b = drawn(*operands)
    assert b.all()
    assert element not in ("int16", "uint16") or len(np.unique(b)) == 65535
    assert min((a % b == rest).mean() for rest in (0, 1, b - np.array(1, element))) > 1 / 40


@pytest.mark.parametrize("name", RULES)
def test_quotients(name: str, rules: CompiledRules) -> None:
    """MIN/-1 wraps."""
    for a, b in (edges(*PROVED_FOR[name]), drawn(*PROVED_FOR[name])):
        expected = exact_quotients(a, b, floor="truncating" not in name, overflow="wrap")
        np.testing.assert_array_equal(rules(name, a, b), expected)
