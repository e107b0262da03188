"""The report files of a command: checked before the work starts, and written completely or not at all."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from tempfile import TemporaryDirectory

from vinculum.errors import ModelError
from vinculum.files import atomic_write
from vinculum.text import one_line


def check_files(written: Mapping[str, Path | None], read: Mapping[str, Sequence[Path]]) -> None:
    """Refuse a file that cannot be written, or would replace another.

    Parameters
    ----------
    written : Mapping of str to Path or None
        The files to write, by their options.
    read : Mapping of str to sequence of Path
        The files to read, by their options.

    Raises
    ------
    ModelError
        If it is a folder or a device, its folder does not exist or cannot be written, or two options name one file.
    """
    taken = {path.resolve(): option for option, paths in read.items() for path in paths}
    for option, path in written.items():
        if path is None:
            continue
        if path.is_dir():
            raise ModelError(f"{option} {str(path)!r} is a folder; give the name of a file to write")
        if path.exists() and not path.is_file():
            raise ModelError(f"{option} {str(path)!r} is not a regular file; give the name of a file to write")
        if not path.parent.is_dir():
            folder = str(path.parent)
            raise ModelError(f"{option} {str(path)!r} cannot be written: there is no folder {folder!r}; make it")
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
    """Write every text to its file in UTF-8; if one cannot be written, existing files stay unchanged.

    Raises
    ------
    OSError
        If a file cannot be written.
    """
    with ExitStack() as stack:
        for path, text in texts.items():
            folder = stack.enter_context(atomic_write(path))
            (folder / path.name).write_text(text, encoding="utf-8", newline="\n")
