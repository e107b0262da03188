"""Contiguous arrays in files: ``.npy``, and contiguous HDF5 datasets.

They are read and written by position and never mapped: a mapped file that shrinks, or has no disk space, kills the
process with SIGBUS, and its pages count as the process's memory.
"""

from __future__ import annotations

import errno
import os
from collections.abc import Callable
from io import FileIO
from math import prod
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.lib import format as npy

from vinculum.errors import ModelError
from vinculum.files import regular_size
from vinculum.stored.arrays import Array, Place, Stored
from vinculum.stored.plan import Region, Shape, extents
from vinculum.tensors.storage import read_npy_header


class FlatArray:
    """A contiguous array in a file, starting at an offset; see `Stored`."""

    def __init__(
        self,
        path: Path,
        file: FileIO,
        start: int,
        shape: Shape,
        dtype: np.dtype[Any],
        order: Literal["C", "F"] = "C",
    ) -> None:
        needed, there = start + prod(shape) * dtype.itemsize, os.fstat(file.fileno()).st_size
        if there < needed or min(shape, default=0) < 0:
            file.close()
            raise ModelError(f"{str(path)!r}: {dtype} of shape {shape} takes {needed} bytes; the file has {there}")
        self.shape, self.dtype, self.order, self.grid = shape, dtype, order, None
        self._path, self._start, self._file = path, start, file

    def close(self) -> None:
        """Close the file."""
        self._file.close()

    def read(self, region: Region, buffer: Array) -> Array:
        """Return a region, read into the buffer."""
        shape = extents(region)
        block = in_buffer(buffer, shape, self.dtype, self.order)
        self._move(region, buffer.data[: prod(shape) * self.dtype.itemsize], self._read)
        return block

    def write(self, region: Region, block: Array) -> None:
        """Write a region."""
        self._move(region, as_bytes(block, self.order), os.pwrite)

    def status(self) -> os.stat_result:
        """Return the status of the open file."""
        return os.fstat(self._file.fileno())

    def _move(self, region: Region, left: memoryview, call: Callable[[int, memoryview, int], int]) -> None:
        """Read or write the contiguous parts of a region, one after the other."""
        file = self._file.fileno()
        offsets, size = self._ranges(region)
        try:
            for start, offset in enumerate(offsets):  # One call for each, so the loop must do little else.
                part = left[start * size : (start + 1) * size]
                done = call(file, part, offset)
                while done < size:  # Linux moves at most 2 GiB in a call, and less near limits.
                    done += call(file, part[done:], offset + done)
        except OSError as error:
            raise OSError(error.errno, error.strerror, str(self._path)) from None

    def _ranges(self, region: Region) -> tuple[list[int], int]:
        """Return the offset in the file of each contiguous part, and the size of each in bytes."""
        shape, cuts = (self.shape[::-1], region[::-1]) if self.order == "F" else (self.shape, region)
        # The range along the last axis that is cut, with all axes after it, is contiguous.
        last = max((d for d, cut in enumerate(cuts) if cut.stop - cut.start != shape[d]), default=0)
        size = prod(extents(cuts)[last:]) * self.dtype.itemsize
        offsets = np.full(1, self._start, np.int64)
        for axis, cut in enumerate(cuts):
            steps = np.arange(cut.start, cut.stop if axis < last else cut.start + 1, dtype=np.int64)
            offsets = np.add.outer(offsets, steps * (prod(shape[axis + 1 :]) * self.dtype.itemsize)).ravel()
        return offsets.tolist() if size else [], size

    @staticmethod
    def _read(file: int, part: memoryview, offset: int) -> int:
        done = os.preadv(file, [part], offset)
        if not done:
            raise OSError(errno.ENODATA, "it ends early: it shrank while it was read")
        return done


def in_buffer(buffer: Array, shape: Shape, dtype: np.dtype[Any], order: str) -> Array:
    """Return an array in the memory of a buffer of bytes."""
    return np.ndarray(shape, dtype, buffer=buffer.data, order="F" if order == "F" else "C")


def as_bytes(block: Array, order: str) -> memoryview:
    """Return the bytes of a block as they are stored in a file of this order."""
    return np.ascontiguousarray(block.T if order == "F" else block).reshape(-1).view(np.uint8).data


def open_file(path: Path, writable: bool) -> FileIO:
    """Return an open file; ELOOP if a file to write is a link."""
    regular_size(path)
    if not writable:
        return path.open("rb", buffering=0)
    return FileIO(os.open(path, os.O_RDWR | os.O_NOFOLLOW), "r+b")


def open_array(place: Place, seen_as: Callable[[np.dtype[Any]], np.dtype[Any]], writable: bool) -> Stored:
    """Return the array of an ``.npy`` file."""
    file = open_file(place.path, writable)
    try:
        shape, fortran, dtype = read_npy_header(file)
        order: Literal["C", "F"] = "F" if fortran and len(shape) > 1 else "C"
        return FlatArray(place.path, file, file.tell(), shape, seen_as(dtype), order)
    except BaseException:
        file.close()
        raise


def create(place: Place, shape: Shape, dtype: np.dtype[Any], chunk: Shape, like: Stored | None) -> None:
    """Make an ``.npy`` file, in the order of `like`, and reserve its disk space."""
    fortran = like is not None and like.order == "F"
    header = {"descr": npy.dtype_to_descr(dtype), "fortran_order": fortran, "shape": shape}
    with place.path.open("xb", buffering=0) as file:
        npy.write_array_header_1_0(file, header)
        allocate(file, file.tell() + prod(shape) * dtype.itemsize)


def allocate(file: FileIO, size: int) -> None:
    """Set a file's size and reserve disk space where possible, so that a full disk causes an error before any work."""
    if size and hasattr(os, "posix_fallocate"):  # macOS lacks it
        os.posix_fallocate(file.fileno(), 0, size)
    file.truncate(size)
