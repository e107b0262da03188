"""Measure which chunk sizes suit Dask on threads: ``python -m benchmarks.dask_chunks``.

Both operands have 256 MiB of int32 in memory, and the quotients are dropped. The last column is Dask's own true divide
of the same chunks. A plain call, without Dask, is measured in the same rounds.
The last rows are what a block costs that is too small to count, on threads and on a cluster of two processes.
"""

from __future__ import annotations

from time import perf_counter
from typing import Any

import dask
import dask.array as da
import numpy as np
import typer
from distributed import Client, LocalCluster
from rich.console import Console
from rich.table import Table

import vinculum

_ELEMENTS = 1 << 26
_CHUNKS = [1 << power for power in range(16, 27)]  # Bytes.
_ROUNDS = 3


class Dropped:
    """Where quotients go that nobody reads."""

    def __setitem__(self, place: Any, quotients: Any) -> None:
        """Forget them."""


def milliseconds(lazy: da.Array) -> float:
    """Return how long it takes to compute each block once."""
    start = perf_counter()
    da.store(lazy, Dropped(), lock=False, scheduler="threads")
    return (perf_counter() - start) * 1e3


def overhead(blocks: int = 1000) -> list[str]:
    """Return the milliseconds that a block of eight elements takes on the scheduler in force."""
    x = da.ones(8 * blocks, chunks=8, dtype=np.int32).persist()
    (x / x).compute()  # workers import what they need
    div: Any = vinculum.div
    div(x, x).compute()
    found = []
    for lazy in (div(x, x), div(x, x, zero_divisor="zero"), x / x):
        start = perf_counter()
        lazy.compute()
        found.append(f"{(perf_counter() - start) * 1e3 / blocks:.2f}")
    return found


def main(rounds: int = _ROUNDS) -> None:
    """Print milliseconds, the least of some rounds."""
    rng = np.random.default_rng(0)
    a = rng.integers(-(2**31), 2**31, _ELEMENTS, dtype=np.int32)
    b = rng.integers(1, 2**31, _ELEMENTS, dtype=np.int32)
    out = np.empty_like(a)
    times: dict[int, list[list[float]]] = {chunk: [] for chunk in _CHUNKS}
    plain: list[float] = []
    div: Any = vinculum.div  # typed as for NumPy arrays
    for _ in range(rounds):
        start = perf_counter()
        div(a, b, out=out)
        plain.append((perf_counter() - start) * 1e3)
        for chunk in _CHUNKS:
            x, y = (da.from_array(array, chunks=chunk // 4, name=False) for array in (a, b))
            lazy = (div(x, y), div(x, y, zero_divisor="zero"), x / y)
            times[chunk].append([milliseconds(one) for one in lazy])
    table = Table("chunk", "div", "div, policy zero", "Dask's /", title=f"ms; a plain call with out: {min(plain):.0f}")
    for chunk, runs in times.items():
        least = [f"{min(column):.0f}" for column in zip(*runs, strict=True)]
        table.add_row(f"{chunk >> 10} KiB" if chunk < 1 << 20 else f"{chunk >> 20} MiB", *least)
    table.add_section()
    table.add_row("a tiny one, threads", *overhead())
    with LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster, Client(cluster):
        table.add_row("a tiny one, 2 processes", *overhead())
    Console().print(table, f"Dask {dask.__version__}, {vinculum.get_threads()} threads")


if __name__ == "__main__":
    typer.run(main)
