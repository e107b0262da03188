"""Zarr arrays in folders: version 3, and 2 for reading. A chunk is written to a temporary file, then renamed."""

from __future__ import annotations

import asyncio
import errno
import os
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Lock
from typing import Any, Literal

import numpy as np
import zarr
from zarr.core.sync import sync
from zarr.errors import NodeTypeValidationError

from vinculum.errors import ModelError
from vinculum.stored.arrays import Array, Place, Stored, named
from vinculum.stored.plan import Region, Shape, extents

_QUIET = Lock()  # Python's warning filters are shared by all threads.
_FAILURE = Lock()  # Two threads that wait for all of Zarr's tasks would wait for each other.


class ZarrArray:
    """A Zarr array; see `Stored`."""

    order: Literal["C", "F"] = "C"

    def __init__(self, place: Place, array: Any, dtype: np.dtype[Any]) -> None:
        self.shape: Shape = tuple(array.shape)
        self.dtype = dtype
        self.grid: Shape | None = tuple(max(1, size) for size in array.shards or array.chunks) or None
        self.array = array
        self._place = place

    def close(self) -> None:
        """Do nothing: no file is open."""

    def read(self, region: Region, buffer: Array) -> Array:
        """Return a region, as Zarr decodes it."""
        with self._named():
            return np.asarray(self.array[region]).reshape(extents(region)).view(self.dtype)

    def write(self, region: Region, block: Array) -> None:
        """Write a region."""
        with self._named():
            self.array[region] = block.view(self.array.dtype)

    def status(self) -> os.stat_result:
        """Return the status of the folder."""
        return self._place.path.stat()

    @contextmanager
    def _named(self) -> Iterator[None]:
        try:
            yield
        except Exception as error:  # Codecs raise classes of their own.
            with _FAILURE:
                sync(_other_tasks())
            raise named(error, self._place) from None


async def _other_tasks() -> None:
    """Wait for Zarr's other chunks; if one fails, Zarr would abandon them, with a warning for each."""
    others = asyncio.all_tasks() - {asyncio.current_task()}
    if others:
        await asyncio.wait(others)


def open_array(place: Place, seen_as: Callable[[np.dtype[Any]], np.dtype[Any]], writable: bool) -> Stored:
    """Return the array in a folder."""
    if not place.path.exists():
        raise FileNotFoundError(errno.ENOENT, "No such file or directory", str(place))
    try:
        with _quiet():
            array = zarr.open_array(place.path, mode="r+" if writable else "r")
    except (FileNotFoundError, NodeTypeValidationError):
        raise ModelError(f"{str(place)!r} is not a Zarr array (a group? name the array's own folder)") from None
    return ZarrArray(place, array.with_config({"write_empty_chunks": True}), seen_as(array.dtype))


def create(place: Place, shape: Shape, dtype: np.dtype[Any], chunk: Shape, like: Stored | None) -> None:
    """Make an array with the shards and compression of `like` if it has these chunks, else without them."""
    options: dict[str, Any] = {"chunks": chunk, "compressors": None}
    if isinstance(like, ZarrArray) and like.grid == chunk and like.array.metadata.zarr_format == 3:
        array = like.array
        options = {"chunks": array.chunks, "shards": array.shards, "compressors": array.compressors}
    place.path.mkdir()  # which fails if there is anything
    with _quiet():
        zarr.create_array(place.path, shape=shape, dtype=dtype, **options)


@contextmanager
def _quiet() -> Iterator[None]:
    with _QUIET, warnings.catch_warnings():
        # Zarr warns about raw elements, which its specification does not name; they are read back unchanged.
        warnings.simplefilter("ignore")
        yield
