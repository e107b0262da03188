"""Bytes of tensors that stand in a file beside the model, and never outside the model's folder."""

from __future__ import annotations

from pathlib import Path, PurePosixPath, PureWindowsPath

import numpy as np
from numpy.typing import NDArray

from vinculum.errors import ModelError
from vinculum.files import regular_size
from vinculum.text import one_line, quoted


def data_file(folder: Path, location: str, owner: str) -> Path:
    """Return the path of a data file that a model names, known to lie in the model's folder.

    ModelError if the location is empty, absolute, climbs up by ``..``, leads outside through a link, or does not exist.
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


def check_slice(path: Path, offset: int, size: int, owner: str) -> None:
    """Refuse `size` bytes of a file from `offset` on that are not there.

    ModelError if the file cannot be read or ends before.
    """
    wanted = _wanted(path, offset, size, owner)
    try:
        available = regular_size(path)
    except OSError as error:
        raise ModelError(f"{wanted}, which cannot be read: {one_line(error)}") from None
    if offset + size > available:
        raise ModelError(f"{wanted}, which has only {available}")


def read_slice(path: Path, offset: int, size: int, owner: str) -> NDArray[np.uint8]:
    """Return `size` bytes of a file from `offset` on; nothing is allocated before they are known to be there.

    ModelError if the file cannot be read or ends before.
    """
    check_slice(path, offset, size, owner)
    wanted = _wanted(path, offset, size, owner)
    try:
        data = np.fromfile(path, dtype=np.uint8, count=size, offset=offset)
    except OSError as error:
        raise ModelError(f"{wanted}, which cannot be read: {one_line(error)}") from None
    if data.size != size:
        raise ModelError(f"{wanted}, which ended early while it was read")
    return data


def _wanted(path: Path, offset: int, size: int, owner: str) -> str:
    return f"{owner} needs {size} bytes at offset {offset} of {quoted(path.name)}"
