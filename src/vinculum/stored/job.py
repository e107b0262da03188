"""A resumable job on stored arrays, whose results appear only when they are complete.

While it runs there are ``C.partial`` and ``C.journal``. When all blocks are done, the operands are unchanged and no
policy raises, the data are flushed to disk, ``C.partial`` is renamed to ``C``, and the journal is removed.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, Protocol, Self

from vinculum.errors import ConstraintError, DivisionByZeroError, IntegerOverflowError, ModelError
from vinculum.stored.arrays import Place
from vinculum.stored.journal import Done, Journal, sync_data
from vinculum.stored.workers import Call, Workers

Advance = Callable[[int], None]


class Work(Protocol):
    """The work on each block; it is pickled for the workers."""

    @property
    def targets(self) -> tuple[Place, ...]:
        """Where the blocks are written."""

    @property
    def blocks(self) -> int:
        """The number of blocks."""

    def job(self) -> dict[str, Any]:
        """Return the data that identify this job, as plain JSON."""

    def at(self, targets: tuple[Place, ...]) -> Self:
        """Return the same work with its targets in other places."""

    def create(self) -> None:
        """Make the targets without writing their elements."""

    def run(self, start: int, stop: int, write: bool) -> Done:
        """Compute some blocks and write them; without `write`, only find exceptions for which a policy raises."""

    def intact(self, done: Done) -> Done | None:
        """Return the finished blocks if the targets still contain them, else None."""

    def finish(self, done: Sequence[Done]) -> None:
        """Raise if an operand has changed, or if a policy raises."""


def carry_out(work: Work, journal: Path, workers: Workers, at_once: int, advance: Advance | None = None) -> int:
    """Do a job, or the rest of it, and return how many blocks an earlier run had done.

    Parameters
    ----------
    work : Work
        The work; its targets are the places of the results.
    journal : Path
        The file that records finished blocks.
    workers : Workers
        The threads or processes that work.
    at_once : int
        The number of blocks per task, and per line of the journal.
    advance : callable, optional
        Called with the number of blocks that are done.

    Raises
    ------
    ModelError
        If a target exists, the job cannot be continued, or the operands change.
    DivisionByZeroError, IntegerOverflowError, ConstraintError
        As the policies say, for the results as a whole; nothing is left behind.
    OSError
        If something cannot be read or written; finished blocks are kept.
    """
    if os.name == "nt":
        raise ModelError("jobs on stored arrays need Linux or macOS, whose files have locks and positions; not Windows")
    finals = work.targets
    partials = tuple(place.partial for place in finals)
    if not journal.exists():
        _refuse_existing(finals + partials)
    with Journal(journal, work.job()) as notes:
        places = _where(finals) if notes.begun else None
        work = work.at(places or partials)
        if places is None:
            _refuse_existing(finals)
            _begin(work, notes)
        resumed = _drop_damaged(work, notes, workers)
        if resumed < work.blocks and set(work.targets) & set(finals):
            raise ModelError(
                f"{_named(place.path for place in finals)} does not match {_named([journal])}; delete either"
            )
        try:
            _do_rest(work, notes, workers, at_once, advance or (lambda blocks: None))
            work.finish(notes.done)
        except (DivisionByZeroError, IntegerOverflowError, ConstraintError):
            _remove(*(place.path for place in partials), journal)
            raise
        except OSError as error:
            left = _named([*(place.path for place in partials), journal])
            kept = f"finished blocks are kept: run the same command again to continue, or delete {left}"
            raise OSError(error.errno, f"{error.strerror}; {kept}", error.filename) from None
        _publish(work.targets, finals, journal)
    return resumed


def _named(paths: Iterable[Path]) -> str:
    return ", ".join(repr(str(path)) for path in paths)


def _where(finals: Iterable[Place]) -> tuple[Place, ...] | None:
    """Return where each target is now; None if one is missing."""
    places = []
    for final in finals:
        if final.partial.path.exists():
            _refuse_existing([final])
            places.append(final.partial)
        elif final.path.exists():
            places.append(final)
        else:
            return None
    return tuple(places)


def _refuse_existing(places: Iterable[Place]) -> None:
    for place in places:
        if os.path.lexists(place.path):
            raise ModelError(f"{str(place.path)!r} exists; delete it, or give another place for the result")


def _begin(work: Work, notes: Journal) -> None:
    """Make the targets, then the journal's first line; remnants of a killed job are removed."""
    paths = [place.path for place in work.targets]
    _remove(*paths)
    try:
        work.create()
        notes.begin()
    except BaseException:
        _remove(*paths, notes.path)
        raise


def _drop_damaged(work: Work, notes: Journal, workers: Workers) -> int:
    """Forget blocks that do not match the journal, and return how many are left."""
    written = [done for done in notes.done if done.crc is not None]
    intact = [done for done in workers.results((work.intact, done) for done in written) if done is not None]
    if len(intact) < len(written):
        notes.begin([*intact, *(done for done in notes.done if done.crc is None)])
    return sum(done.stop - done.start for done in notes.done)


def _do_rest(work: Work, notes: Journal, workers: Workers, at_once: int, advance: Advance) -> None:
    exceptional = any(done.exceptions for done in notes.done)
    ready = sum(done.stop - done.start for done in notes.done)

    def calls() -> Iterator[Call]:
        for start, stop in list(_gaps(notes.done, work.blocks)):
            for first in range(start, stop, at_once):
                yield work.run, first, min(first + at_once, stop), not exceptional

    def sync() -> None:
        for place in work.targets:
            _sync(place, every_file=False)

    advance(ready)
    for done in workers.results(calls()):
        notes.add(done, sync)
        exceptional = exceptional or done.exceptions is not None
        ready += done.stop - done.start
        advance(ready)
    notes.wait()
    assert not list(_gaps(notes.done, work.blocks)), "every block is done before a result is published"
    assert exceptional or all(done.crc is not None for done in notes.done), "and written"


def _gaps(done: Iterable[Done], blocks: int) -> Iterator[tuple[int, int]]:
    """Yield the ranges of blocks that are not done."""
    reached = 0
    for start, stop in [*sorted((one.start, one.stop) for one in done), (blocks, blocks)]:
        if start > reached:
            yield reached, start
        reached = max(reached, stop)


def _publish(places: Iterable[Place], finals: Iterable[Place], journal: Path) -> None:
    for place, final in zip(places, finals, strict=True):
        if place != final:
            _sync(place, every_file=True)
            _refuse_existing([final])
            place.path.rename(final.path)
    _sync_path(journal.parent)
    journal.unlink()


def _sync(place: Place, *, every_file: bool) -> None:
    """Flush an array's data to disk; an array of many files only with `every_file`, since that takes long."""
    if not place.path.is_dir():
        _sync_path(place.path)
    elif every_file:
        for leftover in place.path.rglob("*.partial"):  # Zarr's temporary files, left by a process that was killed
            leftover.unlink()
        for path in (*place.path.rglob("*"), place.path):
            _sync_path(path)


def _sync_path(path: Path) -> None:
    file = os.open(path, os.O_RDONLY)
    try:
        sync_data(file)
    except OSError as error:
        raise OSError(error.errno, error.strerror, str(path)) from None
    finally:
        os.close(file)


def _remove(*paths: Path) -> None:
    for path in paths:
        if path.is_dir():
            shutil.rmtree(path)
        else:
            path.unlink(missing_ok=True)
