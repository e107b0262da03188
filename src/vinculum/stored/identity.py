"""The identity of a stored array: every file that is read for it, as the file system identifies files.

The time of a file's last change (ctime) cannot be set by programs, so a file with the same device, inode, size and time
of change has the same content, as far as the file system shows.
"""

from __future__ import annotations

import os
import stat
import time
from collections.abc import Iterable, Iterator, Mapping
from hashlib import sha256
from pathlib import Path
from typing import Any

from vinculum.errors import ModelError
from vinculum.stored.arrays import Place, Stored

Identity = dict[str, Any]

_TICK = 0.02  # Seconds between ticks of a file system's clock; two changes in between may have the same time.
_OPENED = ("inode", "size", "time of change", "shape", "type", "order")


def identity(place: Place, array: Stored) -> Identity:
    """Return plain JSON that differs whenever the array, or a file that is read for it, does.

    ModelError if a link leads out of a folder of Zarr.
    """
    found = {"path": str(place.path.resolve()), "dataset": place.dataset, **_opened(array)}
    if stat.S_ISDIR(array.status().st_mode):
        found |= _content(place.path)
    return found


def settle(identities: Iterable[Identity]) -> None:
    """Wait until any later change of these arrays has another time."""
    age = time.time() - max(one["time of change"] for one in identities) / 1e9
    if 0 <= age < _TICK:
        time.sleep(_TICK - age)


def check_opened(place: Place, array: Stored, before: Identity) -> None:
    """Refuse an open array if its status differs from that at the beginning of the job; for use on any machine."""
    keys = [key for key in _OPENED if not ("files" in before and key in ("size", "time of change"))]
    _refuse({key: before[key] for key in keys}, {key: _opened(array)[key] for key in keys}, place)


def check_unchanged(place: Place, array: Stored, before: Identity) -> None:
    """Refuse an array that has changed since a job began."""
    _refuse(before, identity(place, array), place)


def differences(before: Mapping[str, Any], now: Mapping[str, Any], owner: str = "") -> Iterator[str]:
    """Yield the differences between two pieces of JSON in words: ``inode of A was 12, now 34``."""
    for key in {**before, **now}:
        old, new = before.get(key), now.get(key)
        if isinstance(old, dict) and isinstance(new, dict):
            yield from differences(old, new, f" of {key}")
        elif old != new and not isinstance(old or new, dict):  # operators may name their operands differently
            yield f"{key}{owner} was {old!r}, now {new!r}"


def _refuse(before: Identity, now: Identity, place: Place) -> None:
    if before != now:
        raise ModelError(
            f"{str(place)!r} changed while it was read: {', '.join(differences(before, now))}; delete the .partial and "
            ".journal files, and begin again"
        )


def _opened(array: Stored) -> Identity:
    status = array.status()
    return {
        "device": status.st_dev,
        "inode": status.st_ino,
        "size": status.st_size,
        "time of change": status.st_ctime_ns,
        "shape": list(array.shape),
        "type": str(array.dtype),
        "order": array.order,
    }


def _content(folder: Path) -> Identity:
    """Return number, size, newest time and digest of all that is in a folder, in whatever order the system lists it."""
    digest, files, size, newest = 0, 0, 0, folder.stat().st_ctime_ns
    root = folder.resolve()
    for entry in _entries(folder):
        if entry.is_symlink() and not Path(entry.path).resolve().is_relative_to(root):
            raise ModelError(f"{entry.path!r} is a link that leads out of {str(folder)!r}; what it names is not read")
        status = entry.stat()
        line = [entry.path[len(str(folder)) :], status.st_dev, status.st_ino, status.st_size, status.st_ctime_ns]
        digest = (digest + int.from_bytes(sha256(repr(line).encode()).digest(), "big")) % (1 << 256)
        newest = max(newest, status.st_ctime_ns)
        files, size = files + 1, size + status.st_size * (not entry.is_dir())
    return {"files": files, "size": size, "time of change": newest, "digest": f"{digest:064x}"[:16]}


def _entries(folder: Path | str) -> Iterator[os.DirEntry[str]]:
    with os.scandir(folder) as entries:
        for entry in entries:
            yield entry
            if entry.is_dir(follow_symlinks=False):
                yield from _entries(entry.path)
