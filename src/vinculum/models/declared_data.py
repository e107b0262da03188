"""Checks of the shapes that a model declares and of the files that it names, before they are used."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from pathlib import Path, PurePosixPath, PureWindowsPath

import numpy as np
from numpy.typing import NDArray

from vinculum.errors import ModelError
from vinculum.files import regular_size
from vinculum.tensors.shapes import LARGEST_SIZE
from vinculum.text import one_line, quoted, shape_text

LARGEST_RANK = 64  # NumPy's own limit


def element_count(dims: Sequence[int], bits: int, owner: str) -> int:
    """Return how many elements a declared shape has.

    ModelError if a dimension is negative, the rank is above NumPy's, or the size in bytes exceeds 2**63 - 1.
    """
    check_size(dims, bits, owner)
    if any(size < 0 for size in dims):
        raise ModelError(f"{owner} has shape {shape_text(dims)}: no dimension may be negative")
    return prod(dims)


def check_size(shape: Sequence[int | str | None], bits: int, owner: str) -> None:
    """Refuse a shape that no array can have, for any values of its unknown dimensions.

    ModelError if the rank is above NumPy's, or the size in bytes exceeds 2**63 - 1 (not counting dimensions of 0, as in
    NumPy).
    """
    if len(shape) > LARGEST_RANK:
        raise ModelError(f"{owner} has {len(shape)} dimensions; at most {LARGEST_RANK} are possible")
    elements = prod(size for size in shape if isinstance(size, int) and size > 0)
    if -(-elements * bits // 8) > LARGEST_SIZE:
        raise ModelError(f"{owner} has shape {shape_text(shape)}: its size in bytes exceeds 2**63 - 1")


def data_file(folder: Path, location: str, owner: str) -> Path:
    """Return the path of a data file that a model names, after checking that it lies in the model's folder.

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
    """Check that a file has `size` bytes from `offset` on.

    ModelError if the file cannot be read or is too short.
    """
    wanted = _wanted(path, offset, size, owner)
    try:
        available = regular_size(path)
    except OSError as error:
        raise ModelError(f"{wanted}, which cannot be read: {one_line(error)}") from None
    if offset + size > available:
        raise ModelError(f"{wanted}, which has only {available}")


def read_slice(path: Path, offset: int, size: int, owner: str) -> NDArray[np.uint8]:
    """Return `size` bytes of a file from `offset` on; memory is allocated only after the size of the file is checked.

    ModelError if the file cannot be read or is too short.
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
