"""Long enumerations in parts: on every core, with a progress bar, until the first wrong quotient."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import FIRST_COMPLETED, ThreadPoolExecutor, wait
from itertools import islice
from typing import Any

import numpy as np
import numpy.typing as npt
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

from tests.kernels.comparing import DTYPES
from vinculum.kernels.contract import Arithmetic, Backend

Array = npt.NDArray[Any]
Division = Callable[[Array, Array], Array]
Part = Callable[[int], str | None]
Look = Callable[[Array], str | None]


def divisions(backends: Iterable[Backend], *, floor: bool = False) -> dict[str, Division]:
    """Return each backend's division, by which integers by zero saturate and MIN/-1 wraps."""
    return {backend.name: _divided_by(backend, floor) for backend in backends}


def _divided_by(backend: Backend, floor: bool) -> Division:
    division = backend.division(Arithmetic(tuple(DTYPES.values()), False, True, floor, "saturate", "wrap"))

    def divide(a: Array, b: Array) -> Array:
        quotients = division(a, b, None)
        assert isinstance(quotients, np.ndarray)
        return quotients

    return divide


def once(wrong: Look) -> Look:
    """Return a look at quotients of the same operands that passes what is, bit for bit, what it found right before.

    What backends agree on is so held against the exact quotients once, which takes longer than to divide.
    """
    right: Array | None = None

    def look(quotients: Array) -> str | None:
        nonlocal right
        bits = quotients.view(f"u{quotients.itemsize}")
        if right is not None and np.array_equal(bits, right):
            return None
        told = wrong(quotients)
        if told is None:
            right = bits
        return told

    return look


def first_wrong(divisions: Mapping[str, Division], a: Array, b: Array, wrong: Look) -> str | None:
    """Divide by each, and return a line about the first whose quotients are wrong."""
    look = once(wrong)
    for name, divide in divisions.items():
        if told := look(divide(a, b)):
            return f"{name}: {told}"
    return None


def enumerate_parts(title: str, part: Part, parts: int, one_in: int = 1) -> None:
    """Run parts in threads (the kernels release the lock); fail with what the first wrong one tells.

    Parameters
    ----------
    title : str
        Stands before the bar.
    part : callable
        Runs the part of that number; returns None, or a line about what is wrong.
    parts : int
        How many there are.
    one_in : int
        Run only every so many, in an order that is random but always the same.
    """
    chosen = np.random.default_rng(0).permutation(parts)[: -(-parts // one_in)].tolist()
    columns = TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn()
    workers = os.cpu_count() or 1
    with Progress(*columns, TimeRemainingColumn()) as progress, ThreadPoolExecutor(workers) as threads:
        bar = progress.add_task(title if one_in == 1 else f"{title}, one part in {one_in}", total=len(chosen))
        waiting = iter(chosen)
        running = {threads.submit(part, number) for number in islice(waiting, workers)}
        while running:
            done, running = wait(running, return_when=FIRST_COMPLETED)
            for finished in done:
                wrong = finished.result()
                assert wrong is None, wrong
                progress.advance(bar)
            running |= {threads.submit(part, number) for number in islice(waiting, len(done))}
