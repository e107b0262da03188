"""Runs what is to be replayed side by side, tells what became of each, and shows how far it is."""

from __future__ import annotations

import os
import shutil
import sys
import time
from collections import Counter
from collections.abc import Callable, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass
from typing import TextIO

from proofs.checking import children
from vinculum.interruption import Interruption

# As many as there are cores: each lets one prover run at a time.
AT_ONCE = len(os.sched_getaffinity(0))
_TICK = 0.2  # Seconds from one look for interruptions, and at the time, to the next.
# Where nobody watches, a log shows life without being flooded.
_SELDOM = 15.0
_CLEAR = "\r\x1b[K"


@dataclass(frozen=True)
class Job:
    """A piece of work.

    Attributes
    ----------
    kind : str
        What such pieces are called together: ``"theories"``.
    work : callable
        Does it; returns whether it went well, and a line that says what became of it.
    """

    kind: str
    work: Callable[[], tuple[bool, str]]


class Progress:
    """How many jobs of each kind are done: one line that is rewritten on a terminal, now and then one elsewhere."""

    def __init__(self, jobs: Sequence[Job], stream: TextIO, clock: Callable[[], float] = time.monotonic) -> None:
        self._all = Counter(job.kind for job in jobs)
        self._done: Counter[str] = Counter()
        self._stream = stream
        self._rewrites = stream.isatty()
        self._clock = clock
        self._began = self._shown = clock()

    def done(self, kind: str) -> None:
        """Count a job as done."""
        self._done[kind] += 1

    def show(self) -> None:
        """Write the line, if it is time to."""
        now = self._clock()
        minutes, seconds = divmod(round(now - self._began), 60)
        counts = [f"{kind} {self._done[kind]}/{count}" for kind, count in self._all.items()]
        line = ", ".join([*counts, f"{minutes} min {seconds} s"])
        if self._rewrites:
            self._write(_CLEAR + line[: shutil.get_terminal_size().columns - 1])
        elif now - self._shown >= _SELDOM:
            self._shown = now
            self._write(f"{line}\n")

    def clear(self) -> None:
        """Leave the terminal's line to something else."""
        if self._rewrites:
            self._write(_CLEAR)

    def _write(self, text: str) -> None:
        self._stream.write(text)
        self._stream.flush()


def failures(jobs: Sequence[Job]) -> int:
    """Run jobs, the first ones first, print the line of each, and return how many failed.

    If that is interrupted, what runs is stopped before it is left.
    """
    progress = Progress(jobs, sys.stderr)
    failed = 0
    with Interruption() as interruption, ThreadPoolExecutor(AT_ONCE) as pool:
        running = {pool.submit(job.work): job for job in jobs}
        try:
            while running:
                done, _ = wait(running, timeout=_TICK, return_when=FIRST_COMPLETED)
                interruption.check()
                for future in done:
                    progress.done(running.pop(future).kind)
                    went_well, line = future.result()
                    failed += not went_well
                    progress.clear()
                    print(line, flush=True)
                progress.show()
        except BaseException:
            _abandon(list(running))
            raise
        finally:
            progress.clear()
    return failed


def _abandon(futures: Sequence[Future[tuple[bool, str]]]) -> None:
    """Stop jobs that run, however many programs each still starts, and begin none."""
    left = [future for future in futures if not future.cancel()]
    while wait(left, timeout=_TICK / 4).not_done:
        children.stop_all()
