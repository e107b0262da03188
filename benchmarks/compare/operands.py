"""The random operands of a cell, the same in every process."""

from __future__ import annotations

from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.compare.cells import Cell, Shape
from vinculum.tensors.storage import dtype_of

_SEED = 0
_PERIOD = 1_000_003
_MAGNITUDES = 4  # Powers of two beside 1: float16 quotients stay normal, as processors differ on subnormal ones.
_SCALAR_DIVISOR = 7  # Among small divisors it needs the longest sequence of multiplications and shifts.


def drawn_operands(cell: Cell) -> tuple[NDArray[Any], ...]:
    """Return operands that crash no runtime: divisors of all magnitudes, but no zero divisor and no MIN/-1.

    They repeat after a million numbers, which is too long for a branch predictor to learn.
    """
    rng = np.random.default_rng(_SEED)
    dtype = dtype_of(cell.type)
    draw = (_dividends, _divisors) if cell.type.is_integer else (_floats, _floats)
    return tuple(
        _filled(draw[place](rng, min(prod(shape), _PERIOD), dtype), shape) for place, shape in enumerate(cell.shapes)
    )


def _filled(numbers: NDArray[Any], shape: Shape) -> NDArray[Any]:
    array = np.empty(shape, numbers.dtype)
    flat = array.reshape(-1)
    for start in range(0, flat.size, numbers.size):
        part = flat[start : start + numbers.size]
        part[:] = numbers[: part.size]
    return array


def _floats(rng: np.random.Generator, count: int, dtype: np.dtype[Any]) -> NDArray[Any]:
    magnitudes = np.ldexp(rng.uniform(1, 2, count), rng.integers(-_MAGNITUDES, _MAGNITUDES, count))
    signed: NDArray[Any] = magnitudes * rng.choice([-1.0, 1.0], count)
    return signed.astype(dtype)


def _dividends(rng: np.random.Generator, count: int, dtype: np.dtype[Any]) -> NDArray[Any]:
    limits = np.iinfo(dtype)
    return rng.integers(limits.min // 2, limits.max, count, dtype, endpoint=True)


def _divisors(rng: np.random.Generator, count: int, dtype: np.dtype[Any]) -> NDArray[Any]:
    if count == 1:
        return np.full(1, _SCALAR_DIVISOR, dtype)
    limits = np.iinfo(dtype)
    shifts = rng.integers(0, limits.bits - 2, count).astype(dtype)
    divisors: NDArray[Any] = np.maximum(rng.integers(1, limits.max, count, dtype, endpoint=True) >> shifts, 1)
    if dtype.kind == "i":
        divisors *= rng.choice(np.array([-1, 1], dtype), count)
    return divisors
