"""Writing and reading arrays in files of every kind."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import h5py
import numpy as np
import zarr
from numpy.typing import NDArray

from vinculum.tensors.storage import stored_dtype

Array = NDArray[Any]

KINDS = ("npy", "npy, Fortran", "zarr", "zarr, shards", "zarr 2", "hdf5", "hdf5, chunks")


def put(folder: Path, name: str, array: Array, kind: str, chunk: int = 2) -> str:
    """Write an array and return what the command calls it."""
    raw = array.view(stored_dtype(array.dtype))
    path = folder / name
    if kind.startswith("npy"):
        np.save(path.with_suffix(".npy"), raw.copy(order="F") if "Fortran" in kind else raw)
        return f"{path}.npy"
    if kind.startswith("zarr"):
        chunks = tuple(max(1, min(chunk, size)) for size in raw.shape)
        options: dict[str, Any] = {"chunks": chunks, "zarr_format": 2 if kind == "zarr 2" else 3}
        if "shards" in kind and chunks:
            options["shards"] = tuple(2 * size for size in chunks)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # raw bytes have no specification
            made = zarr.create_array(f"{path}.zarr", shape=raw.shape, dtype=raw.dtype, **options)
        made[...] = raw
        return f"{path}.zarr"
    chunked = "chunks" in kind and raw.ndim and raw.size
    with h5py.File(f"{path}.h5", "w") as file:
        chunks = tuple(min(chunk, size) for size in raw.shape)
        file.create_dataset("in/x", data=raw, **({"chunks": chunks, "compression": "gzip"} if chunked else {}))
    return f"{path}.h5:/in/x"


def taken(name: str, dtype: np.dtype[Any] | None = None) -> Array:
    """Return the array that is stored under a name."""
    raw: Array
    if name.endswith(".npy"):
        raw = np.load(name)
    elif name.endswith(".zarr"):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            raw = np.asarray(zarr.open_array(name, mode="r")[...])
    else:
        file, _, dataset = name.partition(":")
        with h5py.File(file) as opened:
            raw = np.asarray(opened[dataset])
    return raw if dtype is None else raw.view(dtype)


def content(path: Path) -> dict[str, bytes]:
    """Return the bytes of a file, or of all files in a folder."""
    files = [path] if path.is_file() else [file for file in sorted(path.rglob("*")) if file.is_file()]
    return {str(file.relative_to(path)): file.read_bytes() for file in files}
