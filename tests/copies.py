"""Writable copies of files of the checkout, which may be read-only."""

import shutil
from collections.abc import Callable, Iterable
from pathlib import Path


def copied(source: Path, target: Path, ignore: Callable[[str, list[str]], Iterable[str]] | None = None) -> Path:
    """Copy a file into a folder, or the contents of a folder into another, which is created if needed."""
    if source.is_file():
        return shutil.copyfile(source, target / source.name)
    shutil.copytree(source, target, ignore=ignore, copy_function=shutil.copyfile, dirs_exist_ok=True)
    for folder in (target, *(path for path in target.rglob("*") if path.is_dir())):
        folder.chmod(0o755)
    return target
