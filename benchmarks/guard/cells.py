"""What is counted: each cell a call and how often it is repeated.

Run as a program inside callgrind, it tells where each cell begins and ends.
"""

from __future__ import annotations

import ctypes
import gc
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import ml_dtypes
import numpy as np

import vinculum

INTEGERS = ("int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64")
FLOATS = ("float16", "bfloat16", "float32", "float64")
MANY = 20_000
# Distinct pairs that no predictor of jumps learns.
UNLEARNABLE = 100_000


@dataclass(frozen=True)
class Cell:
    """One number that is guarded.

    Attributes
    ----------
    name : str
        What is divided.
    call : callable
        Divides once.
    repeats : int
        How often it is called.
    """

    name: str
    call: Callable[[], object]
    repeats: int


def cells() -> Iterator[Cell]:
    """Yield every cell, on one thread."""
    vinculum.set_threads(1)
    div, floor, reciprocal = (vinculum.Operator(name) for name in ("Div", "Divide", "Reciprocal"))
    rng = np.random.default_rng(0)
    for name in INTEGERS + FLOATS:
        dtype = np.dtype(getattr(ml_dtypes, name, name))
        a, b = (rng.integers(1, 100, MANY).astype(dtype) for _ in range(2))
        if dtype.itemsize == 8 and dtype.kind in "iu":
            a <<= 55  # too large for the quicker way of small integers
        few, out, few_out = slice(0, 16), np.empty_like(a), np.empty(16, dtype)
        yield Cell(f"{name}, 16", lambda a=a[few], b=b[few], out=few_out: div(a, b, out), 100)  # type: ignore[misc]
        yield Cell(f"{name}, many", lambda a=a, b=b, out=out: div(a, b, out), 5)  # type: ignore[misc]
        yield Cell(f"{name}, one divisor", lambda a=a, b=b[:1], out=out: div(a, b, out), 5)  # type: ignore[misc]
        if name in ("int8", "int64"):
            yield Cell(f"{name}, floor", lambda a=a, b=b, out=out: floor(a, b, out), 5)  # type: ignore[misc]
    for name in ("int32", "int64"):
        dtype = np.dtype(name)
        limits = np.iinfo(dtype)
        a, b = (rng.integers(limits.min, limits.max, UNLEARNABLE, dtype) for _ in range(2))
        b = (
            b >> rng.integers(0, limits.bits - 1, UNLEARNABLE, dtype) | 1
        )  # of all magnitudes, so that few quotients are zero
        out = np.empty_like(a)
        yield Cell(f"{name}, signs", lambda a=a, b=b, out=out: div(a, b, out), 1)  # type: ignore[misc]
        yield Cell(f"{name}, signs, floor", lambda a=a, b=b, out=out: floor(a, b, out), 1)  # type: ignore[misc]
    small = rng.integers(1, 1 << 40, MANY)
    yield Cell("int64, small", lambda: div(small, small, np.empty_like(small)), 5)
    single = rng.uniform(1, 2, (100, 200)).astype(np.float32)
    out = np.empty_like(single)
    yield Cell("float32, row", lambda: div(single, single[0], out), 5)
    yield Cell("float32, column", lambda: div(single, single[:, :1], out), 5)
    yield Cell("float32, every other", lambda: div(single[:, ::2], single[:, ::2], out[:, ::2]), 5)
    yield Cell("float32, transposed", lambda: div(single, single.reshape(200, 100).T, out), 5)
    block = single[0, :16].reshape(4, 4)
    yield Cell("float32, row of 16", lambda: div(block, block[0], out[0, :16].reshape(4, 4)), 100)
    yield Cell("float32, reciprocal of 16", lambda: reciprocal(single[0, :16], None, out[0, :16]), 100)
    yield Cell("float32, div of 16", lambda: vinculum.div(single[0, :16], single[1, :16]), 100)


def main() -> None:
    """Divide every cell, its first calls apart, which prepare operators; tell callgrind if a library is named."""
    marks = ctypes.CDLL(sys.argv[1]) if len(sys.argv) > 1 else None
    gc.disable()
    for cell in cells():
        cell.call()
        cell.call()
        if marks is not None:
            marks.begin()
        for _ in range(cell.repeats):
            cell.call()
        if marks is not None:
            marks.end(f"{cell.name}|{cell.repeats}".encode())


if __name__ == "__main__":
    main()
