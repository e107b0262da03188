"""Stored arrays: the interface of a file format, and the formats by name."""

from __future__ import annotations

import errno
import os
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any, Literal, Protocol, Self

import ml_dtypes
import numpy as np
import numpy.typing as npt

from vinculum.errors import MissingPackageError, ModelError
from vinculum.spec.element_types import ELEMENT_TYPES, ElementType
from vinculum.stored.plan import Region, Shape
from vinculum.tensors.storage import dtype_of, stored_dtype
from vinculum.text import one_line, pip_install

Array = npt.NDArray[Any]
MOST_AXES = 64  # NumPy's limit.
Format = Literal["npy", "zarr", "hdf5"]

_MODULES = {"npy": "vinculum.stored.flat", "zarr": "vinculum.stored.zarr_arrays", "hdf5": "vinculum.stored.hdf5"}
_SUFFIXES: dict[str, Format] = {".npy": "npy", ".zarr": "zarr", ".h5": "hdf5", ".hdf5": "hdf5"}

UNNAMED = tuple(t for t in ELEMENT_TYPES if hasattr(ml_dtypes, t.numpy))
"""The element types that files store as raw bytes, as their formats have no names for them."""


class Stored(Protocol):
    """An open array in files."""

    shape: Shape
    dtype: np.dtype[Any]  # Of raw bytes, the type given by the caller.
    order: Literal["C", "F"]  # Whether the last or the first axis varies fastest in the file.

    @property
    def grid(self) -> Shape | None:
        """The shape of the smallest unit of reading and writing, a chunk or a shard; None if that is an element."""

    def read(self, region: Region, buffer: Array) -> Array:
        """Return a region, in the memory of `buffer` if that saves a copy; it is an array of enough bytes.

        OSError, which names the file, if it cannot be read or is too short.
        """

    def write(self, region: Region, block: Array) -> None:
        """Write a contiguous block of the array's type and order to a region. OSError, which names the file."""

    def close(self) -> None:
        """Close the file."""

    def status(self) -> os.stat_result:
        """Return the status of the open file, or of Zarr's folder."""


@dataclass(frozen=True)
class Place:
    """Where an array is stored: a file or Zarr's folder, of a format, and the dataset of an HDF5 file."""

    path: Path
    format: Format
    dataset: str | None = None

    @classmethod
    def parse(cls, name: str, *, absolute: bool = False) -> Self:
        """Return the place that ``c.npy``, ``c.zarr`` or ``c.h5:/name`` names; ModelError for other forms."""
        if "://" in name:
            raise ModelError(f"{name!r} is a URL, and only files are divided; use dask.array.from_zarr and to_zarr")
        hdf5 = re.fullmatch(r"(.*\.(?:h5|hdf5)):(.*)", name, re.IGNORECASE | re.DOTALL)
        path = Path(name if hdf5 is None else hdf5[1])
        path = path.absolute() if absolute else path
        if hdf5 is not None:
            return cls(path, "hdf5", hdf5[2].strip("/"))
        kind = "zarr" if path.is_dir() else _SUFFIXES.get(path.suffix.lower())
        if kind is None or not path.name:
            raise ModelError(f"{name!r} does not name a stored array; allowed: NAME.npy, NAME.zarr, NAME.h5:/DATASET")
        return cls(path, kind, "" if kind == "hdf5" else None)

    def __str__(self) -> str:
        return str(self.path) if self.dataset is None else f"{self.path}:/{self.dataset}"

    @property
    def partial(self) -> Place:
        """Where the array is written until it is complete."""
        return replace(self, path=self.path.with_name(f"{self.path.name}.partial"))

    @property
    def journal(self) -> Path:
        """The journal of the job that writes the array."""
        return self.path.with_name(f"{self.path.name}.journal")


class _Format(Protocol):
    def open_array(self, place: Place, seen_as: Callable[[np.dtype[Any]], np.dtype[Any]], writable: bool) -> Stored:
        """Return an existing array."""

    def create(self, place: Place, shape: Shape, dtype: np.dtype[Any], chunk: Shape, like: Stored | None) -> None:
        """Make an array without writing its elements; see `vinculum.stored.arrays.create`."""


@contextmanager
def open_stored(place: Place, element_type: ElementType | None = None, *, writable: bool = False) -> Iterator[Stored]:
    """Open the array that is stored in a place; `element_type` is that of raw elements.

    ModelError if there is no such array, or the type of raw elements is missing or does not fit. OSError if the file
    cannot be opened.
    """
    try:
        array = _module(place).open_array(place, partial(_seen_as, place, element_type), writable)
    except Exception as error:  # The packages raise a dozen classes; all are caused by the file.
        if isinstance(error, ModelError) or (isinstance(error, OSError) and error.filename is not None):
            raise
        raise ModelError(f"{str(place)!r} cannot be read: {one_line(error)}") from None
    try:
        if len(array.shape) > MOST_AXES:
            raise ModelError(f"{str(place)!r} has {len(array.shape)} axes; allowed: up to {MOST_AXES}")
        yield array
    finally:
        array.close()


def create(place: Place, shape: Shape, dtype: np.dtype[Any], chunk: Shape, like: Stored | None = None) -> None:
    """Make an array without writing its elements.

    `chunk` is what Zarr stores in a file; other formats ignore it. Of `like`, an array of this shape, a ``.npy`` file
    takes its order, and a Zarr array its compression.
    """
    try:
        _module(place).create(place, shape, stored_dtype(dtype), chunk, like)
    except Exception as error:  # The packages raise a dozen classes, including OSError without a file name.
        raise named(error, place) from None


def named(error: Exception, place: Place) -> OSError:
    """Return an error of a package about an array as an OSError that names the array."""
    number, reason = (error.errno, error.strerror) if isinstance(error, OSError) else (None, None)
    return OSError(number or errno.EIO, reason or one_line(error), str(place))


def check_place(place: Place) -> None:
    """Refuse a place where no result can be written."""
    _module(place)
    if place.dataset == "":
        raise ModelError(f"{str(place.path)!r} needs the name of a dataset: {place.path}:/NAME")
    if not place.path.parent.is_dir():
        raise ModelError(f"there is no folder {str(place.path.parent)!r} for {place.path.name!r}; make it first")


def _module(place: Place) -> _Format:
    try:
        module: Any = import_module(_MODULES[place.format])
    except ModuleNotFoundError as error:
        raise MissingPackageError(
            f"{str(place)!r} needs the package {error.name}: {pip_install(str(error.name))}"
        ) from None
    typed: _Format = module
    return typed


def _seen_as(place: Place, element_type: ElementType | None, stored: np.dtype[Any]) -> np.dtype[Any]:
    if stored.hasobject:
        raise ModelError(f"{str(place)!r} holds text or other objects, which are never unpickled; store numbers")
    if stored.names is not None or stored.subdtype is not None:
        raise ModelError(f"{str(place)!r} holds elements of several numbers each, {stored}; store an array of one type")
    raw = stored.kind == "V"
    allowed = ", ".join(t.numpy for t in UNNAMED)
    if element_type is None:
        if raw:
            raise ModelError(
                f"{str(place)!r} holds raw elements of {stored.itemsize} bytes; give their type with element_type "
                f"(--type): {allowed}"
            )
        return np.dtype(stored.str) if stored.metadata else stored  # such as HDF5's names of an enumeration
    wanted = dtype_of(element_type)
    if raw and stored.itemsize == wanted.itemsize:
        return wanted
    raise ModelError(
        f"{str(place)!r} holds {f'raw elements of {stored.itemsize} bytes' if raw else stored}, and "
        f"element_type (--type) {wanted} is for raw elements of {wanted.itemsize} bytes"
    )
