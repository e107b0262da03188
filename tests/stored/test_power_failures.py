"""Power failures: data written after the last flush may be on the disk, in part, or not at all.

A job is recorded: every write to the result and to the journal, and every flush. After each flush the power may fail.
Then a file holds what was written before its own last flush, and any of what was written later.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from concurrent.futures import Executor, Future
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from threading import Lock
from typing import Any

import pytest

from tests.cases import case
from tests.stored.test_job import Job, job
from vinculum.stored import job as carrying_out
from vinculum.stored import journal

__all__ = ["job"]

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="Linux tells which file a descriptor is of")

Survives = Callable[[str], bool]


class AtOnce(Executor):
    """An executor that runs calls at once, so that flushes do not depend on the speed of the machine."""

    def submit(self, function: Callable[..., Any], /, *arguments: Any, **options: Any) -> Future[Any]:
        """Return the result of a call."""
        future = Future[Any]()
        future.set_result(function(*arguments, **options))
        return future


@dataclass
class Recording:
    """The changes of a job's files in order: a write with its offset and bytes, or a flush without bytes."""

    events: list[tuple[str, int, bytes | None]] = field(default_factory=list)
    first: dict[str, bytes] = field(default_factory=dict)
    lock: Any = field(default_factory=Lock)

    def start(self, patch: pytest.MonkeyPatch) -> None:
        """Record all changes from now on."""
        write, pwrite, sync = os.write, os.pwrite, journal.sync_data

        def written(file: int, data: Any) -> int:
            with self.lock:
                self.events.append((name_of(file), os.fstat(file).st_size, bytes(data)))
                return write(file, data)

        def written_at(file: int, data: Any, offset: int) -> int:
            with self.lock:
                self.events.append((name_of(file), offset, bytes(data)))
                return pwrite(file, data, offset)

        def flushed(file: int) -> None:
            with self.lock:
                name = name_of(file)
                if name not in self.first and not Path(f"/proc/self/fd/{file}").is_dir():
                    self.first[name] = os.pread(file, os.fstat(file).st_size, 0)
                self.events.append((name, 0, None))
            sync(file)

        for module, name, call in (
            (os, "write", written),
            (os, "pwrite", written_at),
            (carrying_out, "sync_data", flushed),
            (journal, "sync_data", flushed),
        ):
            patch.setattr(module, name, call)
        patch.setattr(journal, "_EVERY", 0.0)
        patch.setattr(journal, "ThreadPoolExecutor", lambda *_: AtOnce())

    def after(self, time: int, name: str, survives: Survives) -> bytes | None:
        """Return the content of a file if the power fails after so many events; None if it does not exist."""
        flushes = [at for at, event in enumerate(self.events[:time]) if event[0] == name and event[2] is None]
        if not flushes:
            return None
        content = bytearray(self.first[name])
        for at, (of, offset, data) in enumerate(self.events[:time]):
            if of == name and data is not None and flushes[0] < at and (at < flushes[-1] or survives(name)):
                content.extend(bytes(max(0, offset - len(content))))  # a hole, where an earlier write is lost
                content[offset : offset + len(data)] = data
        return bytes(content)


def name_of(file: int) -> str:
    """Return the name of an open file."""
    return Path(f"/proc/self/fd/{file}").readlink().name


def test_after_every_flush(tmp_path: Path, job: Job, monkeypatch: pytest.MonkeyPatch) -> None:
    recording = Recording()
    with monkeypatch.context() as patch:
        recording.start(patch)
        job.run()
    made = tmp_path / "made"  # what the journal says was made; a file made anew would be another
    job.out.rename(made)
    random = Random(0)
    ways: dict[str, Survives] = {
        "nothing": lambda name: False,
        "the journal": lambda name: name == job.notes.name,
        "the data": lambda name: name == job.partial.name,
        "anything": lambda name: random.random() < 0.5,
    }
    resumed: dict[str, list[int]] = {way: [] for way in ways}
    flushes = [at + 1 for at, event in enumerate(recording.events) if event[2] is None]
    assert len(flushes) > 2 * 40
    for time in flushes[:: len(flushes) // 12]:
        for way, survives in ways.items():
            lines = recording.after(time, job.notes.name, survives)
            data = recording.after(time, job.partial.name, survives)
            if lines is not None:
                job.notes.write_bytes(lines)
            if data is not None:
                made.write_bytes(data)
                os.link(made, job.partial)
            resumed[way].append(job.run())
            with case(time, way):
                job.check()
            job.out.unlink()
            assert sorted(path.name for path in tmp_path.iterdir()) == ["a.npy", "b.npy", "made"]
    assert max(resumed["nothing"]) > 20, "what was flushed is kept"
    for way in ways:
        assert all(fewest <= some for fewest, some in zip(resumed["nothing"], resumed[way], strict=True))
