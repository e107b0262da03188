"""Copies of the checkout's files that may be written, even where the checkout may not."""

import shutil
from collections.abc import Callable, Iterable
from pathlib import Path


def copied(source: Path, target: Path, ignore: Callable[[str, list[str]], Iterable[str]] | None = None) -> Path:
    """Copy a file into a folder, or what a folder holds to another, which is made if it is not there."""
    if source.is_file():
        return shutil.copyfile(source, target / source.name)
    shutil.copytree(source, target, ignore=ignore, copy_function=shutil.copyfile, dirs_exist_ok=True)
    for folder in (target, *(path for path in target.rglob("*") if path.is_dir())):
        folder.chmod(0o755)
    return target
