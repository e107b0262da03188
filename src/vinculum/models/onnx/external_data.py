"""Bytes of tensors that stand in a file beside the model, and never outside the model's folder."""

from __future__ import annotations

import stat
from pathlib import Path, PurePosixPath, PureWindowsPath

import numpy as np
from numpy.typing import NDArray

from vinculum.errors import ModelError
from vinculum.text import one_line, quoted


def data_file(folder: Path, location: str, owner: str) -> Path:
    """Return the path of a data file that a model names, known to lie in the model's folder.

    Raises
    ------
    ModelError
        If the location is empty, absolute, climbs up by ``..``, leads outside through a link, or does not exist.
    """
    given = f"the external data of {owner} is at {quoted(location)}"
    posix, windows = PurePosixPath(location), PureWindowsPath(location)
    if not location or posix.is_absolute() or windows.drive or windows.root or ".." in windows.parts:
        raise ModelError(f"{given}; allowed: a path relative to the model's folder, without '..'")
    try:
        home = folder.resolve(strict=True)
        path = (home / location).resolve(strict=True)
    except (OSError, ValueError, RuntimeError) as error:
        raise ModelError(f"{given}, which cannot be read: {one_line(error)}") from None
    if not path.is_relative_to(home):
        raise ModelError(f"{given}, a link that leads outside the model's folder; put the file itself there")
    return path


def read_slice(path: Path, offset: int, size: int, owner: str) -> NDArray[np.uint8]:
    """Return `size` bytes of a file from `offset` on; nothing is allocated before they are known to be there.

    Raises
    ------
    ModelError
        If the file cannot be read or ends before.
    """
    wanted = f"{owner} needs {size} bytes at offset {offset} of {quoted(path.name)}"
    try:
        available = regular_size(path)
        if offset + size > available:
            raise ModelError(f"{wanted}, which has only {available}")
        data = np.fromfile(path, dtype=np.uint8, count=size, offset=offset)
    except OSError as error:
        raise ModelError(f"{wanted}, which cannot be read: {one_line(error)}") from None
    if data.size != size:
        raise ModelError(f"{wanted}, which ended early while it was read")
    return data


def regular_size(path: Path) -> int:
    """Return the size of a regular file; a pipe or a device could go on for ever.

    Raises
    ------
    OSError
        If it is not there, or not a regular file.
    """
    status = path.stat()
    if stat.S_ISDIR(status.st_mode):
        raise IsADirectoryError(f"{str(path)!r} is a directory")
    if not stat.S_ISREG(status.st_mode):
        raise OSError(f"{str(path)!r} is not a regular file")
    return status.st_size
