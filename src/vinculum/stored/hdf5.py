"""Datasets of HDF5 files: contiguous ones are read and written like `.npy` files, others by h5py."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any, Literal

import h5py
import numpy as np

from vinculum.errors import ModelError
from vinculum.files import regular_size
from vinculum.stored.arrays import Array, Place, Stored, named
from vinculum.stored.flat import FlatArray, allocate, in_buffer, open_file
from vinculum.stored.plan import Region, Shape, extents
from vinculum.text import listed


class ChunkedDataset:
    """A chunked dataset, for reading; see `Stored`. h5py serialises all calls, from any thread."""

    order: Literal["C", "F"] = "C"

    def __init__(self, place: Place, dataset: Any, dtype: np.dtype[Any]) -> None:
        self.shape: Shape = dataset.shape
        self.dtype = dtype
        self.grid: Shape | None = dataset.chunks
        self._place, self._dataset = place, dataset

    def close(self) -> None:
        """Close the file."""
        self._dataset.file.close()

    def read(self, region: Region, buffer: Array) -> Array:
        """Return a region, read into the buffer."""
        block = in_buffer(buffer, extents(region), self._dataset.dtype, "C")
        try:
            block[...] = self._dataset[region]
        except Exception as error:  # Filters raise classes of their own.
            raise named(error, self._place) from None
        return block.view(self.dtype)

    def write(self, region: Region, block: Array) -> None:
        """Refuse: only contiguous datasets are written."""
        raise NotImplementedError

    def status(self) -> os.stat_result:
        """Return the status of the open file."""
        return os.fstat(self._dataset.file.id.get_vfd_handle())


def open_array(place: Place, seen_as: Callable[[np.dtype[Any]], np.dtype[Any]], writable: bool) -> Stored:
    """Return a dataset; it is refused if its elements are in another file."""
    regular_size(place.path)
    file = h5py.File(place.path, "r")
    try:
        found = _found(file, place) if place.dataset else None
        if not isinstance(found, h5py.Dataset):
            names: list[str] = []
            file.visititems(lambda name, item: names.append(f"/{name}") if isinstance(item, h5py.Dataset) else None)
            asked = f"has no dataset {f'/{place.dataset}'!r}" if place.dataset else "has datasets, one has to be named"
            raise ModelError(f"{str(place.path)!r} {asked}: {place.path}:/NAME; its datasets: {listed(names)}")
        if found.shape is None:
            raise ModelError(f"{str(place)!r} is an empty dataset, which has no shape")
        if found.external or found.is_virtual:
            raise _foreign(place, "stored in other files" if found.external else "a virtual dataset")
        dtype, shape, offset = seen_as(found.dtype), found.shape, _offset(found)
        if offset is None:
            return ChunkedDataset(place, found, dtype)
        flat = FlatArray(place.path, open_file(place.path, writable), offset, shape, dtype)
        if not os.path.samestat(flat.status(), os.fstat(file.id.get_vfd_handle())):
            flat.close()
            raise ModelError(f"{str(place)!r} was replaced while it was opened; run the same command again")
    except BaseException:
        file.close()
        raise
    file.close()
    return flat


def _found(file: Any, place: Place) -> Any:
    """Return the object that a place names; links are refused, as h5py would open any file to which they lead."""
    found = file
    for name in (place.dataset or "").split("/"):
        link = found.get(name, getlink=True) if name and isinstance(found, h5py.Group) else None
        if isinstance(link, h5py.HardLink):
            found = found[name]
        elif link is not None:
            raise _foreign(place, f"behind a link{' to another file' * isinstance(link, h5py.ExternalLink)}")
        elif name not in ("", "."):
            return None
    return found


def _foreign(place: Place, how: str) -> ModelError:
    return ModelError(
        f"{str(place)!r} is {how}, and only the file that is named is read; copy the dataset into a file of its own"
    )


def _offset(dataset: Any) -> int | None:
    """Return the offset of the elements in the file if they are contiguous and have NumPy's layout; else None."""
    is_native = dataset.id.get_type().equal(h5py.h5t.py_create(dataset.dtype))
    if dataset.chunks is not None or not is_native:
        return None
    if 0 in dataset.shape:
        return 0
    offset: int | None = dataset.id.get_offset()
    return offset


def create(place: Place, shape: Shape, dtype: np.dtype[Any], chunk: Shape, like: Stored | None) -> None:
    """Make a file of one contiguous dataset; HDF5 does not write it again, so killing the job cannot damage it."""
    properties = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
    properties.set_alloc_time(h5py.h5d.ALLOC_TIME_EARLY)
    properties.set_fill_time(h5py.h5d.FILL_TIME_NEVER)
    properties.set_obj_track_times(False)  # the same job, the same bytes
    links = h5py.h5p.create(h5py.h5p.LINK_CREATE)
    links.set_create_intermediate_group(True)
    # h5py's high-level calls ignore such properties for a dataset without axes.
    space = h5py.h5s.create_simple(shape) if shape else h5py.h5s.create(h5py.h5s.SCALAR)
    name = (place.dataset or "").encode()
    with h5py.File(place.path, "x") as file:
        h5py.h5d.create(file.id, name, h5py.h5t.py_create(dtype), space, properties, links)
    with open_file(place.path, writable=True) as made:
        allocate(made, os.fstat(made.fileno()).st_size)
