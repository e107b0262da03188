"""The kernels for 8, 16 and 32 bits give what direct_division.mlw proves, at the ends of the ranges that it proves."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from fractions import Fraction
from functools import cache
from pathlib import Path
from typing import Any

import numba
import numpy as np
import numpy.typing as npt
import pytest

from vinculum.kernels import direct_quotient
from vinculum.kernels.jit import inlined
from vinculum.spec.element_types import INT8, INT16, INT32, UINT8, UINT16, UINT32, ElementType

Array = npt.NDArray[Any]
Rounding = Callable[[Fraction], int]
Loop = Callable[[Array, Array, Array], None]

THEORIES = Path(__file__).parents[2] / "proofs" / "theories"
TYPES_16 = (INT8, INT16, UINT8, UINT16)
TYPES_32 = (INT32, UINT32)
# What the view of a whole number's sum with 1.5 * 2^52 exceeds the whole number by.
EXCESS = int(np.float64(1.5 * 2.0**52).view(np.int64))

each_rounding = pytest.mark.parametrize(
    ("name", "rounding"), [("truncating", math.trunc), ("floor", math.floor)], ids=["truncating", "floor"]
)


def exact_up_to(module: str) -> int:
    """Return the bound below which a module of the theory proves the quotients of dividends."""
    text = (THEORIES / "direct_division_operations.mlw").read_text(encoding="utf-8")
    found = re.search(rf"^module {module}$.*?constant exact_up_to : int = (\w+)", text, re.MULTILINE | re.DOTALL)
    assert found is not None
    return int(found[1], 0)


@cache
def operands(minimum: int, maximum: int) -> tuple[Array, Array]:
    """Return pairs within bounds: the ends, powers of two, and dividends next to multiples of their divisor."""
    random = np.random.default_rng(5)
    around = {sign * (2**k + d) for k in range(33) for d in (-1, 0, 1) for sign in (-1, 1)} | {minimum, maximum}
    around |= {41, -41, 49, -49, minimum + 1, maximum - 1}
    around |= set(random.integers(minimum, maximum, 100, endpoint=True).tolist())
    values = sorted(value for value in around if minimum <= value <= maximum)
    pairs = [(a, b) for a in values for b in values if b]
    for b in filter(None, values):
        most = max(abs(minimum), maximum) // abs(b)
        for k in {1, most - 1, most, *random.integers(0, most, 3, endpoint=True).tolist()}:
            pairs += [(sign * k * abs(b) + d, b) for d in (-1, 0, 1) for sign in (-1, 1)]
    kept = np.array([pair for pair in pairs if minimum <= pair[0] <= maximum])
    return kept[:, 0], kept[:, 1]


@cache
def exact(rounding: Rounding, minimum: int, maximum: int) -> Array:
    """Return the rational quotients of the pairs within bounds, rounded."""
    pairs = zip(*(side.tolist() for side in operands(minimum, maximum)), strict=True)
    return np.array([rounding(Fraction(a, b)) for a, b in pairs])


def divided(name: str, dividends: Array, divisors: Array) -> Array:
    """Return what a rule of the kernel gives, before it is stored."""
    results = np.empty(dividends.size, np.int64)
    _loop(name)(dividends, divisors, results)
    return results


@cache
def _loop(name: str) -> Loop:
    rule = inlined(getattr(direct_quotient, name))

    @numba.njit(error_model="numpy")  # type: ignore[untyped-decorator]  # Numba has no types
    def loop(dividends: Array, divisors: Array, results: Array) -> None:
        for i in range(results.size):
            results[i] = rule(dividends[i], divisors[i])

    return loop  # type: ignore[no-any-return]  # for the same reason


@pytest.mark.parametrize(("module", "types"), [("Operations32", TYPES_16), ("Operations64", TYPES_32)])
def test_the_proved_range_holds_the_types(module: str, types: tuple[ElementType, ...]) -> None:
    assert max(max(-kind.minimum, kind.maximum) for kind in types) < exact_up_to(module)


@each_rounding
@pytest.mark.parametrize("element_type", [*TYPES_16, *TYPES_32], ids=str)
def test_the_types(name: str, rounding: Rounding, element_type: ElementType) -> None:
    a, b = operands(element_type.minimum, element_type.maximum)
    typed = (a.astype(element_type.numpy), b.astype(element_type.numpy))
    bits, excess = (16, 0) if element_type in TYPES_16 else (32, EXCESS)
    expected = exact(rounding, element_type.minimum, element_type.maximum)
    np.testing.assert_array_equal(divided(f"{name}_{bits}", *typed) - excess, expected)


@each_rounding
@pytest.mark.parametrize(
    ("bits", "limit", "excess"),
    # Of 32 and 51 bits the view of the quotient is proved up to 2^51.
    [(16, exact_up_to("Operations32") - 1, 0), (32, (1 << 51) - 1, EXCESS), (51, (1 << 51) - 1, 0)],
)
def test_the_whole_proved_range(name: str, rounding: Rounding, bits: int, limit: int, excess: int) -> None:
    assert limit < exact_up_to("Operations32" if bits == 16 else "Operations64")
    a, b = operands(-limit, limit)
    assert {-limit, limit} <= set(a.tolist()) & set(b.tolist())
    np.testing.assert_array_equal(divided(f"{name}_{bits}", a, b) - excess, exact(rounding, -limit, limit))


@pytest.mark.parametrize("element_type", [INT8, INT16, INT32], ids=str)
@pytest.mark.parametrize("name", ["truncating", "floor"])
def test_minimum_by_minus_one(element_type: ElementType, name: str) -> None:
    narrow = element_type is not INT32
    a, b = (np.array([value], element_type.numpy) for value in (element_type.minimum, -1))
    result = divided(f"{name}_{16 if narrow else 32}", a, b)
    assert result[0] - (0 if narrow else EXCESS) == -element_type.minimum
    assert result.astype(element_type.numpy)[0] == element_type.minimum
