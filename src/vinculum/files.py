"""Writing several files atomically, and reading regular files of limited size."""

from __future__ import annotations

import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

from vinculum.errors import ModelError
from vinculum.text import one_line

_LONGEST_STEM = 50  # Characters of at most 4 bytes each; file systems allow 255 bytes.


@contextmanager
def atomic_write(file: Path, *, make_folder: bool = False) -> Iterator[Path]:
    """Yield a temporary folder for a file and its companions; at the end all of them move to the file's folder.

    The file is moved last. If the block raises, nothing is left behind, not even the folder of the file, which is made
    with `make_folder` if only that one is missing.

    ModelError if a folder or a device has the name of a file, or the folder to write to is missing. OSError, which
    names the file or folder, if a file cannot be written.
    """
    folder = file.parent
    missing = not folder.exists()
    check_writable(file, folder.parent if make_folder else folder)
    try:
        if missing:
            folder.mkdir()
        with TemporaryDirectory(prefix=".vinculum-", dir=folder) as temporary:
            yield Path(temporary)
            written = sorted(Path(temporary).iterdir(), key=lambda path: path.name == file.name)
            for path in written:
                if (folder / path.name).is_dir():
                    raise ModelError(f"{str(folder / path.name)!r} is a folder; give the name of a file to write")
                if path.name != file.name and (folder / path.name).exists() and not file.exists():
                    raise ModelError(
                        f"{str(folder / path.name)!r} is in the way of the data of {file.name!r}, which is new; move "
                        "it, or give another name"
                    )
            for path in written:
                path.replace(folder / path.name)
    except BaseException as error:
        if missing and folder.is_dir() and not any(folder.iterdir()):
            folder.rmdir()
        if isinstance(error, OSError):
            # The user does not know the temporary folder, and errors of a full disk name no file.
            known = error.filename in [str(parent) for parent in file.parents]
            raise OSError(
                error.errno, error.strerror or one_line(error), error.filename if known else str(file)
            ) from None
        raise


def check_writable(file: Path, folder: Path, option: str = "") -> None:
    """Refuse a file that is a folder or a device, or whose folder is missing; `option` is the option that names it."""
    called = f"{option} {str(file)!r}".lstrip()
    if file.is_dir():
        raise ModelError(f"{called} is a folder; give the name of a file to write")
    if file.exists() and not file.is_file():  # A device must not be replaced by an ordinary file.
        raise ModelError(f"{called} is not a regular file; give the name of a file to write")
    if not folder.is_dir():
        raise ModelError(f"{called} cannot be written: there is no folder {str(folder)!r}; make it")


def file_stem(name: str) -> str:
    """Return a file stem for any name: short, not hidden, and without path separators."""
    safe = "".join(c if c.isalnum() or c in "._-+" else "_" for c in name)[:_LONGEST_STEM]
    return f"_{safe[1:]}" if safe.startswith(".") else safe or "_"


def regular_size(path: Path) -> int:
    """Return the size of a regular file; OSError for others: a pipe or a device could be endless."""
    status = path.stat()
    if stat.S_ISDIR(status.st_mode):
        raise IsADirectoryError(f"{str(path)!r} is a directory")
    if not stat.S_ISREG(status.st_mode):
        raise OSError(f"{str(path)!r} is not a regular file")
    return status.st_size


def read_bounded(path: Path, largest: int, wanted: str) -> bytes:
    """Return the content of a regular file of limited size; `wanted` is the expected file, for messages.

    ModelError if it is larger, a folder, a pipe or a device. OSError if it cannot be read.
    """
    if path.exists() and not path.is_file():
        what = "a folder" if path.is_dir() else "not a regular file"
        raise ModelError(f"{str(path)!r} is {what}; give {wanted}")
    with path.open("rb") as stream:
        content = stream.read(largest + 1)
    if len(content) > largest:
        raise ModelError(f"{str(path)!r} is larger than {largest:,} bytes; give {wanted}")
    return content


def read_text(path: Path, largest: int, wanted: str) -> str:
    """Return the text in a file, like `read_bounded`; ModelError also if it is not UTF-8, with or without a mark."""
    try:
        return read_bounded(path, largest, wanted).decode("utf-8-sig")
    except UnicodeDecodeError:
        raise ModelError(f"{str(path)!r} is not UTF-8 text; give {wanted}") from None
