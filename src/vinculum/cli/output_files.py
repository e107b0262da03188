"""``--output FOLDER``: write every output as a file ``NAME.npy`` in the folder, or none of them."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vinculum.errors import ModelError
from vinculum.files import atomic_write, file_stem
from vinculum.tensors.storage import stored_dtype
from vinculum.text import quoted


@dataclass(frozen=True)
class OutputFile:
    """A written output.

    Attributes
    ----------
    path : Path
        The file.
    stored_as : str or None
        The type of raw bytes in the file, ``"V2"``, if ``.npy`` has no name for the element type.
    """

    path: Path
    stored_as: str | None = None


def output_paths(folder: Path, names: Sequence[str], inputs: Iterable[Path]) -> dict[str, Path]:
    """Return the file for each output, inside the folder.

    Unsuitable characters of a name become ``_``; names that a file system may not distinguish get a number.

    Raises
    ------
    ModelError
        If the folder is a file, or an output would replace an input or a folder.
    """
    if folder.exists() and not folder.is_dir():
        raise ModelError(f"--output {str(folder)!r} is not a folder; give another")
    inputs = [path for path in inputs if path.exists()]
    taken: set[str] = set()
    paths: dict[str, Path] = {}
    for name in names:
        stem = candidate = file_stem(name)
        number = 1
        while _key(candidate) in taken:
            number += 1
            candidate = f"{stem}-{number}"
        taken.add(_key(candidate))
        paths[name] = path = folder / f"{candidate}.npy"
        if path.is_dir():
            raise ModelError(f"output {quoted(name)} cannot be written: {str(path)!r} is a folder")
        if path.exists() and any(path.samefile(other) for other in inputs):
            raise ModelError(f"output {quoted(name)} would replace the input {str(path)!r}; give another --output")
    return paths


def write_outputs(arrays: Mapping[str, NDArray[Any]], paths: Mapping[str, Path]) -> dict[str, OutputFile]:
    """Write all arrays or none: the files, in one folder, are moved to their names after all are complete.

    Raises
    ------
    OSError
        If the folder or a file cannot be written; partial files are removed.
    """
    if not paths:
        return {}
    written: dict[str, OutputFile] = {}
    with atomic_write(next(iter(paths.values())), make_folder=True) as folder:
        for name, path in paths.items():
            storable, stored_as = _storable(arrays[name])
            np.save(folder / path.name, storable, allow_pickle=False)
            written[name] = OutputFile(path, stored_as)
    return written


def _key(stem: str) -> str:
    """Return the name as a file system that ignores case or normalises Unicode may see it."""
    return unicodedata.normalize("NFKC", stem).casefold()


def _storable(array: NDArray[Any]) -> tuple[NDArray[Any], str | None]:
    if array.dtype == object:  # Strings; objects would have to be pickled.
        return array.astype(np.str_), None
    dtype = stored_dtype(array.dtype)
    if dtype is array.dtype:
        return array, None
    return np.ascontiguousarray(array).reshape(array.shape).view(dtype), dtype.str.lstrip("|")
