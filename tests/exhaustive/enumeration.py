"""Long enumerations in parts: on every core, with a progress bar, until the first wrong quotient."""

from __future__ import annotations

import os
from collections.abc import Callable
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


def divided_by(backend: Backend, *, floor: bool = False) -> Division:
    """Return a backend's division, by which integers by zero saturate and MIN/-1 wraps."""
    division = backend.division(Arithmetic(tuple(DTYPES.values()), False, True, floor, "saturate", "wrap"))

    def divide(a: Array, b: Array) -> Array:
        quotients = division(a, b, None)
        assert isinstance(quotients, np.ndarray)
        return quotients

    return divide


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
