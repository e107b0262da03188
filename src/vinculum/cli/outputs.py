"""The files that a command writes, all or none: a model's outputs in a folder, and reports."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from vinculum.errors import ModelError
from vinculum.files import atomic_write, check_writable, file_stem
from vinculum.tensors.storage import stored_dtype
from vinculum.text import one_line, quoted


class OutputFile(NamedTuple):
    """A written output: its file, and the type of its raw bytes if ``.npy`` has no name for the element type."""

    path: Path
    stored_as: str | None = None


def output_paths(folder: Path, names: Sequence[str], inputs: Iterable[Path]) -> dict[str, Path]:
    """Return the file for each output, inside the folder; no file is an input or a folder.

    Unsuitable characters of a name become ``_``; names that a file system may not distinguish get a number.
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
    """Write all arrays or none: the files, in one folder, are moved to their names after all are complete."""
    if not paths:
        return {}
    written: dict[str, OutputFile] = {}
    with atomic_write(next(iter(paths.values())), make_folder=True) as folder:
        for name, path in paths.items():
            storable, stored_as = _storable(arrays[name])
            np.save(folder / path.name, storable, allow_pickle=False)
            written[name] = OutputFile(path, stored_as)
    return written


def check_files(written: Mapping[str, Path | None], read: Mapping[str, Sequence[Path]]) -> None:
    """Refuse a file that cannot be written, or would replace another; both kinds by their options.

    Refused are a folder, a device, a missing or unwritable folder, and one file for two options.
    """
    taken = {path.resolve(): option for option, paths in read.items() for path in paths}
    for option, path in written.items():
        if path is None:
            continue
        check_writable(path, path.parent, option)
        other = taken.setdefault(path.resolve(), option)
        if other != option:
            raise ModelError(f"{other} and {option} name the same file {str(path)!r}; give another")
        try:
            with TemporaryDirectory(prefix=".vinculum-", dir=path.parent):
                pass
        except OSError as error:
            reason = error.strerror or one_line(error)
            raise ModelError(f"{option} {str(path)!r} cannot be written there: {reason}; give another") from None


def write_files(texts: Mapping[Path, str]) -> None:
    """Write every text to its file in UTF-8; if one cannot be written, existing files stay unchanged."""
    with ExitStack() as stack:
        for path, text in texts.items():
            folder = stack.enter_context(atomic_write(path))
            (folder / path.name).write_text(text, encoding="utf-8", newline="\n")


def _key(stem: str) -> str:
    """Return a key that is equal for names that a file system may not distinguish, by case or Unicode form."""
    return unicodedata.normalize("NFKC", stem).casefold()


def _storable(array: NDArray[Any]) -> tuple[NDArray[Any], str | None]:
    if array.dtype == object:  # Strings; objects would have to be pickled.
        return array.astype(np.str_), None
    dtype = stored_dtype(array.dtype)
    if dtype is array.dtype:
        return array, None
    return np.ascontiguousarray(array).reshape(array.shape).view(dtype), dtype.str.lstrip("|")
