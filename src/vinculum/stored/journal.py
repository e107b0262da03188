"""A journal of finished blocks: lines of text with digests, with which a killed job can be continued.

Each line is written immediately, so it survives the process. From time to time data and lines are flushed to disk;
after a power failure the digests show which of them survived.
"""

from __future__ import annotations

import errno
import json
import os
import stat
import zlib
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from time import monotonic
from types import TracebackType
from typing import Any, Self

from vinculum.errors import ModelError
from vinculum.kernels.contract import Exceptions
from vinculum.stored.identity import differences

_EVERY = 1.0  # Seconds between commits; a power failure may lose this much work.

sync_data = getattr(os, "fdatasync", os.fsync)  # macOS has only the latter


@dataclass(frozen=True, slots=True)
class Done:
    """A range of finished blocks."""

    start: int
    stop: int
    crc: int | None  # CRC-32 of their bytes, block after block; None if they were only checked.
    exceptions: Exceptions | None = None  # Those for which a policy raises, with indices in the whole result.


class Journal:
    """The journal of one job, which plain JSON identifies: lines that are only ever appended. See `carry_out`.

    The first identifies the job, the second the file or folder that was made for the result; each later one is a
    `Done`, or takes one back. The file is locked while it is open.

    ModelError if it is the journal of another job, or no journal, or another process is running this job. OSError if it
    cannot be opened.
    """

    def __init__(self, path: Path, job: dict[str, Any]) -> None:
        self.path = path
        self.done: list[Done] = []  # The finished blocks.
        self.made: list[int] | None = None  # Device and inode of the file or folder made for the result.
        self._file = _locked(path)
        job = json.loads(json.dumps(job))
        self._head = _line(job)
        self._committer = ThreadPoolExecutor(1, "journal")
        self._commit: Future[None] | None = None
        self._last = monotonic()
        try:
            self.begun = self._read(job)  # Whether there is a first line.
        except BaseException:
            self.__exit__(None, None, None)
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._committer.shutdown()
        os.close(self._file)

    def begin(self) -> None:
        """Write the line that identifies the job, before anything is made for it."""
        self.done, self.made = [], None
        os.ftruncate(self._file, 0)
        self._write(self._head)
        sync_data(self._file)

    def note_made(self, made: list[int]) -> None:
        """Record which file or folder was made for the result."""
        self.made = made
        self._write(_line({"made": made}))
        sync_data(self._file)

    def take_back(self, done: Done) -> None:
        """Record that blocks are not finished after all."""
        self.done.remove(done)
        self._write(_line({"damaged": [done.start, done.stop]}))

    def add(self, done: Done, sync: Callable[[], None]) -> None:
        """Record finished blocks; from time to time, in the background, `sync` the data and flush the lines to disk."""
        self.done.append(done)
        self._write(_line(asdict(done)))
        if monotonic() - self._last < _EVERY or not (self._commit is None or self._commit.done()):
            return

        def commit() -> None:
            sync()
            sync_data(self._file)

        self.wait()
        self._commit, self._last = self._committer.submit(commit), monotonic()

    def wait(self) -> None:
        """Wait for the last commit. OSError if it failed, which the system reports only once."""
        if self._commit is not None:
            self._commit.result()

    def remove(self) -> None:
        """Remove the file, unless its path now names another."""
        with suppress(FileNotFoundError):
            if os.path.samestat(os.lstat(self.path), os.fstat(self._file)):
                self.path.unlink()

    def _read(self, job: dict[str, Any]) -> bool:
        content = os.pread(self._file, os.fstat(self._file).st_size, 0)
        head, newline, rest = content.partition(b"\n")
        if not newline and self._head.startswith(content):  # killed before anything was made
            return False
        before = _entry(head)
        if before is None or "operands" not in before:
            raise ModelError(f"{str(self.path)!r} is not a job's journal; move it away")
        if before != job:
            raise ModelError(
                f"{str(self.path)!r} belongs to another job: {', '.join(differences(before, job))}; delete it and "
                f"{self.path.with_suffix('.partial').name!r}, or give another place for the result"
            )
        intact = len(head) + 1
        for line in rest.split(b"\n")[:-1]:  # a line without its end was cut off
            entry = _entry(line)
            if entry is None:
                break
            if "made" in entry:
                self.made = entry["made"]
            elif "damaged" in entry:
                self.done = [done for done in self.done if [done.start, done.stop] != entry["damaged"]]
            else:
                self.done.append(_done(entry))
            intact += len(line) + 1
        os.ftruncate(self._file, intact)
        return True

    def _write(self, line: bytes) -> None:
        left = memoryview(line)
        try:
            while left:
                left = left[os.write(self._file, left) :]
        except OSError as error:
            raise OSError(error.errno, error.strerror, str(self.path)) from None


def _locked(path: Path) -> int:
    import fcntl  # not on Windows, which `carry_out` refuses

    while True:
        try:  # Without O_NONBLOCK a pipe would block, without O_NOFOLLOW a link would be written through.
            file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_NOFOLLOW | os.O_NONBLOCK, 0o666)
        except OSError as error:
            if error.errno != errno.ELOOP:
                raise
            raise ModelError(f"{str(path)!r} is a link, not a job's journal; move it away") from None
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            os.close(file)
            raise ModelError(f"another process runs this job: it has {str(path)!r} locked") from None
        status = os.fstat(file)
        if stat.S_ISREG(status.st_mode) and status.st_nlink:
            return file
        os.close(file)  # another process has finished, and removed it, since it was opened
        if status.st_nlink:
            raise ModelError(f"{str(path)!r} is not a job's journal; move it away")


def _line(entry: dict[str, Any]) -> bytes:
    text = json.dumps(entry, separators=(",", ":")).encode()
    return b"%08x %s\n" % (zlib.crc32(text), text)


def _entry(line: bytes) -> dict[str, Any] | None:
    digest, _, text = line.partition(b" ")
    if digest != b"%08x" % zlib.crc32(text):
        return None
    entry: dict[str, Any] = json.loads(text)
    return entry


def _done(entry: dict[str, Any]) -> Done:
    found = entry["exceptions"]
    if found is None:
        return Done(**entry)
    first = {name: index and tuple(index) for name, index in found.items() if name.startswith("first_")}
    return Done(**entry | {"exceptions": Exceptions(**found | first)})
