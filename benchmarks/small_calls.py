"""Measure whether any kind of small call is much slower than the plain one: ``python -m benchmarks.small_calls``.

Each call divides 16 elements. The last column is its time over that of the plain call, which is given a result; calls
that are not are held against the plain one that is not.
"""

from __future__ import annotations

import timeit
from collections.abc import Callable
from typing import Any

import numpy as np
import typer
from numpy.typing import NDArray
from rich.console import Console
from rich.table import Table

from vinculum import Operator
from vinculum.kernels import backend

TARGET = 1.5
_REPEATS = 9
_CALLS = 100_000

Call = Callable[[], object]


def calls() -> dict[str, tuple[Call, Call, int]]:
    """Return for each kind the call, what it is held against, and how many divisions it makes."""
    div, reciprocal = Operator("Div"), Operator("Reciprocal")
    zero, saturating = Operator("Div", zero_divisor="zero"), Operator("Div", overflow="saturate")
    a, b = np.arange(16, dtype=np.int32), np.full(16, 3, np.int32)
    out, own, with_zero = np.empty_like(a), a.copy(), b.copy()
    with_zero[5] = 0
    smallest, minus_one = np.full(16, -(2**31), np.int32), np.full(16, -1, np.int32)
    every_second = np.arange(32, dtype=np.int32)[::2]
    x, y = a.astype(np.float32), b.astype(np.float64)
    swapped = a.astype(a.dtype.newbyteorder())
    number: NDArray[Any] = np.array(3, np.int32)
    dividend, divisor = a[1], b[1]

    def plain() -> object:
        return div(a, b, out)

    def new() -> object:
        return div(a, b)

    def turns() -> None:
        div(x, x)
        div(y, y)

    return {
        "the plain call": (plain, plain, 1),
        "without out": (new, new, 1),
        "in place": (lambda: div(own, minus_one, own), plain, 1),
        "a zero divisor, policy zero": (lambda: zero(a, with_zero, out), plain, 1),
        "MIN/-1, policy wrap": (lambda: div(smallest, minus_one, out), plain, 1),
        "MIN/-1, policy saturate": (lambda: saturating(smallest, minus_one, out), plain, 1),
        "strided dividend": (lambda: div(every_second, b, out), plain, 1),
        "strided dividend, without out": (lambda: div(every_second, b), new, 1),
        "other byte order": (lambda: div(swapped, b, out), plain, 1),
        "broadcast divisor": (lambda: div(a, number, out), plain, 1),
        "NumPy scalars": (lambda: div(dividend, divisor), new, 1),
        "float32 and float64 in turns": (turns, new, 2),
        "reciprocal": (lambda: reciprocal(y, None, y), plain, 1),
    }


def main() -> None:
    """Print microseconds a call, and exit with 1 if a kind takes more than the target."""
    table = Table("16 elements", "µs a division", "times the plain call", title=f"backend {backend().name}")
    missed = False
    for kind, (call, against, divisions) in calls().items():
        times, plain = [], []
        for _ in range(_REPEATS):  # in turns, so that other load affects both alike
            times.append(timeit.timeit(call, number=_CALLS) / _CALLS / divisions)
            plain.append(timeit.timeit(against, number=_CALLS) / _CALLS)
        ratio = min(times) / min(plain)
        missed |= ratio > TARGET
        table.add_row(kind, f"{min(times) * 1e6:.3f}", f"{ratio:.2f}{' !' if ratio > TARGET else ''}")
    Console().print(table)
    if missed:
        raise SystemExit(1)


if __name__ == "__main__":
    typer.run(main)
