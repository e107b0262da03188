"""Compiled kernels on disk: found by the next process, never mistaken for others, and no reason to fail."""

from __future__ import annotations

import shutil
import subprocess
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from tests.kernels.compiled_cache import SOURCES, own_cache
from tests.processes import output_of, python, started

# Prints the quotients of a kind of division.
DIVIDE = """
import ml_dtypes
import numpy as np
import vinculum

def divide(kind):
    operator, dtype = kind.split()
    dividends, divisors = (np.array(x).astype(dtype) for x in ([7, -100, 9], [2, 7, 9]))
    print(getattr(vinculum, operator)(dividends, divisors).tolist(), flush=True)
"""
# Of two types that lie alike in memory, to 11 and to 8 bits.
QUOTIENTS = {"div float16": "[3.5, -14.2890625, 1.0]", "div bfloat16": "[3.5, -14.3125, 1.0]"}


def told_by(environment: dict[str, str], *kinds: str) -> list[str]:
    """Divide in another process; return what it printed."""
    return output_of(python(DIVIDE + f"for kind in {kinds}: divide(kind)"), env=environment).splitlines()


def contents(folder: Path) -> dict[Path, tuple[int, bytes]]:
    """Return when each file of a folder was written, and what."""
    return {file: (file.stat().st_mtime_ns, file.read_bytes()) for file in folder.rglob("*") if file.is_file()}


@pytest.fixture(scope="module")
def copied(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a copy of the package that a test may change."""
    folder = tmp_path_factory.mktemp("copy") / "vinculum"
    return shutil.copytree(SOURCES, folder, ignore=shutil.ignore_patterns("__pycache__"))


@pytest.fixture(scope="module")
def warm(tmp_path_factory: pytest.TempPathFactory, copied: Path) -> Path:
    """Return a folder that holds what the copy has compiled."""
    cache = tmp_path_factory.mktemp("warm")
    assert told_by(own_cache(cache, copied), "div float32") == ["[3.5, -14.285714149475098, 1.0]"]
    return cache


class TestNextProcess:
    """It compiles nothing, and gets the kernels it asks for."""

    def test_after_processes_that_compiled_at_once(self, tmp_path: Path) -> None:
        """What they call the parts of their kernels may be the same; their quotients are not."""
        environment = own_cache(tmp_path)
        with ExitStack() as running:
            children = {}
            for kind in QUOTIENTS:
                program = DIVIDE + f"print('ready', flush=True); input(); divide({kind!r})"
                pipes: dict[str, Any] = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
                child = running.enter_context(started(python(program), env=environment, **pipes))
                children[child] = kind
            for child in children:
                assert child.stdout is not None
                assert child.stdout.readline() == "ready\n"
            for child in children:
                assert child.stdin is not None
                child.stdin.write("\n")
                child.stdin.flush()
            for child, kind in children.items():
                assert child.stdout is not None
                assert child.stdout.read() == QUOTIENTS[kind] + "\n"
                assert child.wait() == 0
        kept = contents(tmp_path)
        assert kept
        for order in (list(QUOTIENTS), list(QUOTIENTS)[::-1]):
            assert told_by(environment, *order) == [QUOTIENTS[kind] for kind in order]
            assert contents(tmp_path) == kept


@pytest.mark.exhaustive  # They compile for half a minute.
class TestDamage:
    """Without a folder to write to, with a damaged one, or one of other sources, kernels are compiled anew."""

    def test_damaged_files(self, tmp_path: Path, warm: Path, copied: Path) -> None:
        """Indices are empty, or can be neither read nor written; or the code behind them is cut off."""
        cache = shutil.copytree(warm, tmp_path / "cache")
        indices = sorted(cache.rglob("*.nbi"))
        assert len(indices) > 2
        for place, index in enumerate(indices):
            if place % 3 == 0:
                index.write_bytes(b"")
            elif place % 3 == 1:
                index.unlink()
                index.mkdir()
            else:
                (code,) = index.parent.glob(f"{index.stem}.*.nbc")
                code.write_bytes(code.read_bytes()[:100])
        assert told_by(own_cache(cache, copied), "div float32") == ["[3.5, -14.285714149475098, 1.0]"]

    def test_changed_sources(self, warm: Path, copied: Path) -> None:
        """After an upgrade the quotients are the new version's."""
        rule = copied / "kernels" / "float_quotient.py"
        right = rule.read_text()
        rule.write_text(right.replace("return dividend / divisor", "return divisor / dividend"))
        try:
            assert rule.read_text() != right
            (quotients,) = told_by(own_cache(warm, copied), "div float32")
            assert quotients.startswith("[0.285714")
            assert quotients.endswith(", 1.0]")
        finally:
            rule.write_text(right)

    def test_no_folder_at_all(self, copied: Path, tmp_path: Path) -> None:
        """Nobody, not even an administrator, can write to a folder below a file."""
        file = tmp_path / "file"
        file.write_text("no folder")
        beside = copied / "kernels" / "__pycache__"
        beside.write_text("no folder")
        try:
            nowhere = own_cache(file / "cache", copied, HOME=str(file), XDG_CACHE_HOME=str(file / "cache"))
            assert told_by(nowhere, "div float32") == ["[3.5, -14.285714149475098, 1.0]"]
        finally:
            beside.unlink()
