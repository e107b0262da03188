"""A resumable job on stored arrays, whose results appear only when they are complete.

While it runs there are ``C.partial`` and ``C.journal``. When all blocks are done, the operands are unchanged and no
policy raises, the data are flushed to disk, ``C.partial`` is renamed to ``C``, and the journal is removed.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from pathlib import Path

from vinculum.errors import ConstraintError, DivisionByZeroError, IntegerOverflowError, ModelError
from vinculum.stored.arrays import Place
from vinculum.stored.journal import Done, Journal, sync_data
from vinculum.stored.work import Division
from vinculum.stored.workers import Call, Workers

Advance = Callable[[int], None]


def carry_out(work: Division, workers: Workers, at_once: int, advance: Advance | None = None) -> int:
    """Run a job, or the rest of it, and return how many blocks an earlier run had finished.

    Each task, and each line of the journal, has `at_once` blocks; `advance` is called with the number of finished ones.

    ModelError if the target exists, the job cannot be continued, or an operand changes. An error of a policy for the
    result as a whole leaves nothing behind. After an OSError finished blocks are kept.
    """
    if os.name == "nt":
        raise ModelError("jobs on stored arrays need Linux or macOS, whose files have locks and positions; not Windows")
    final = work.target
    partial, journal = final.partial, final.journal
    if not journal.exists():
        _refuse_existing(final, partial)
    with Journal(journal, work.job()) as notes:
        place = _found(final, notes)
        if place is None:
            _begin(replace(work, target=partial), notes)
        assert notes.made is not None, "what was made is known"
        work = replace(work, target=place or partial, made=notes.made[1])
        resumed = _drop_damaged(work, notes, workers)
        if resumed < work.blocks and work.target == final:
            raise ModelError(f"{str(final.path)!r} does not match {str(journal)!r}; delete either")
        try:
            _do_rest(work, notes, workers, at_once, advance or (lambda blocks: None))
            work.finish(notes.done)
        except (DivisionByZeroError, IntegerOverflowError, ConstraintError):
            if _is_ours(partial, notes):
                _remove(partial)
            notes.remove()
            raise
        except OSError as error:
            left = f"{str(partial.path)!r}, {str(journal)!r}"
            kept = f"finished blocks are kept: run the same command again to continue, or delete {left}"
            raise OSError(error.errno, f"{error.strerror}; {kept}", error.filename) from None
        if work.target != final:
            _publish(partial, final)
        notes.remove()
    return resumed


def _found(final: Place, notes: Journal) -> Place | None:
    """Return where the job's result is now; None if it has to be made. A file that the job did not make is refused."""
    partial = final.partial
    if notes.made is None:
        if notes.begun and not partial.path.is_symlink():
            _remove(partial)  # The job was killed after making it, but before writing that to the journal.
        _refuse_existing(final, partial)
        return None
    if not os.path.lexists(partial.path):
        return _checked(final, notes) if os.path.lexists(final.path) else None
    _checked(partial, notes)
    if _is_ours(final, notes):  # The job was killed between the two steps of publishing.
        partial.path.unlink()
        return final
    _refuse_existing(final)
    return partial


def _checked(place: Place, notes: Journal) -> Place:
    if _is_ours(place, notes):
        return place
    raise ModelError(
        f"{str(place.path)!r} exists, and is not what the job of {str(notes.path)!r} made; move it away, or give "
        "another place for the result"
    )


def _is_ours(place: Place, notes: Journal) -> bool:
    """Tell whether a place holds the file or folder that this job made, by itself and not by a link."""
    try:
        status = os.lstat(place.path)
    except FileNotFoundError:
        return False
    return [status.st_dev, status.st_ino] == notes.made


def _refuse_existing(*places: Place) -> None:
    for place in places:
        if os.path.lexists(place.path):
            raise ModelError(f"{str(place.path)!r} exists; delete it, or give another place for the result")


def _begin(work: Division, notes: Journal) -> None:
    """Write the journal's first line, make the target, which must not exist, and note which it is."""
    notes.begin()
    try:
        work.create()
        _sync(work.target, every_file=True)
        _sync_path(notes.path.parent)
        status = os.lstat(work.target.path)
        notes.note_made([status.st_dev, status.st_ino])
    except BaseException as error:
        if not isinstance(error, FileExistsError):
            _remove(work.target)
        notes.remove()
        raise


def _drop_damaged(work: Division, notes: Journal, workers: Workers) -> int:
    """Forget blocks that do not match the journal, and return how many are left."""
    written = [done for done in notes.done if done.crc is not None]
    intact = {done for done in workers.results((work.intact, done) for done in written) if done is not None}
    for done in written:
        if done not in intact:
            notes.take_back(done)
    return sum(done.stop - done.start for done in notes.done)


def _do_rest(work: Division, notes: Journal, workers: Workers, at_once: int, advance: Advance) -> None:
    exceptional = any(done.exceptions for done in notes.done)
    ready = sum(done.stop - done.start for done in notes.done)

    def calls() -> Iterator[Call]:
        for start, stop in list(_gaps(notes.done, work.blocks)):
            for first in range(start, stop, at_once):
                yield work.run, first, min(first + at_once, stop), not exceptional

    advance(ready)
    for done in workers.results(calls()):
        notes.add(done, lambda: _sync(work.target, every_file=False))
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


def _publish(partial: Place, final: Place) -> None:
    """Bring the result to disk and give it its name, which nothing else must have."""
    _sync(partial, every_file=True)
    try:
        os.link(partial.path, final.path)  # Unlike renaming, it never replaces a file.
    except OSError:  # The target exists, the result is a folder, or the file system has no hard links.
        _refuse_existing(final)
        partial.path.rename(final.path)
        _sync_path(final.path.parent)
        return
    _sync_path(final.path.parent)
    partial.path.unlink()


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


def _remove(place: Place) -> None:
    if place.path.is_dir():
        shutil.rmtree(place.path)
    else:
        place.path.unlink(missing_ok=True)
