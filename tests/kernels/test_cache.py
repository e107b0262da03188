"""Compiled kernels on disk: found by the next process, never mistaken for others, and no reason to fail."""

from __future__ import annotations

import importlib.util
import json
import shutil
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from tests.kernels.comparing import INTEGERS
from tests.kernels.processes import SOURCES, environment, run, start
from vinculum.kernels import entries
from vinculum.kernels.jit import _KernelCache

# Prints quotients, and whether the kernel of each rule was found in the cache.
DIVIDE = """
import json, sys
import ml_dtypes
import numpy as np
import vinculum
from vinculum.kernels import entries
from vinculum.kernels.jit import kernel

RULES = {
    "float16": (entries.binary16, "uint16"),
    "bfloat16": (entries.bfloat16, "uint16"),
    "float32": (entries.ieee, "float32"),
}

def divide(rule):
    dividends, divisors = (np.array(x).astype(rule) for x in ([7, -200, 9], [2, 7, 9]))
    quotients = vinculum.div(dividends, divisors).tolist()
    return {"quotients": quotients, "found": kernel(*RULES[rule]).cache_hits}
"""
DIVIDE_ARGUMENTS = DIVIDE + "print(json.dumps({rule: divide(rule) for rule in sys.argv[1:]}))"
DIVIDE_ON_COMMAND = DIVIDE + "print('ready', flush=True); input(); print(json.dumps(divide(sys.argv[1])))"

# To 11, 8 and 24 bits.
QUOTIENTS = {
    "float16": [3.5, -28.578125, 1.0],
    "bfloat16": [3.5, -28.625, 1.0],
    "float32": [3.5, -28.571428298950195, 1.0],
}


def divided(variables: dict[str, str], *rules: str) -> dict[str, dict[str, Any]]:
    """Divide in another process; return what it tells of each rule."""
    told: dict[str, dict[str, Any]] = json.loads(run(["-c", DIVIDE_ARGUMENTS, *rules], variables))
    return told


@pytest.fixture
def copied(tmp_path: Path) -> Path:
    """Return a copy of the package that a test may change."""
    return shutil.copytree(SOURCES, tmp_path / "copy" / "vinculum", ignore=shutil.ignore_patterns("__pycache__"))


@pytest.fixture
def regular_file(tmp_path: Path) -> Path:
    """Return a file; nobody, not even an administrator, can write to a folder below it."""
    file = tmp_path / "file"
    file.write_text("no folder")
    return file


@pytest.fixture(scope="module")
def warm(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a cache that holds one kernel, and what leads to it."""
    cache = tmp_path_factory.mktemp("warm")
    divided(environment(cache), "float32")
    return cache


class TestNextProcess:
    """The next process compiles nothing, and gets the kernels it asked for."""

    def test_it_finds_what_two_processes_compiled_at_once(self, tmp_path: Path) -> None:
        """Their element type in memory is the same, and so are the names that Numba gives their parts."""
        rules = ("float16", "bfloat16")
        variables = environment(tmp_path)
        processes = [start(["-c", DIVIDE_ON_COMMAND, rule], variables) for rule in rules]
        for process in processes:
            assert process.stdout is not None
            assert process.stdout.readline() == "ready\n"
        for process in processes:
            assert process.stdin is not None
            process.stdin.write("\n")
            process.stdin.flush()
        for rule, process in zip(rules, processes, strict=True):
            compiled = json.loads(process.communicate()[0])
            assert compiled == {"quotients": QUOTIENTS[rule], "found": 0}
        for order in (rules, rules[::-1]):
            loaded = divided(variables, *order)
            assert loaded == {rule: {"quotients": QUOTIENTS[rule], "found": 1} for rule in rules}

    def test_types_of_one_entry_have_files_of_their_own(self) -> None:
        """Numba numbers the files of an index: two processes could give the same number to different types."""
        names = {_KernelCache(entries.truncating, element)._cache_file._index_name for element in INTEGERS}
        assert len(names) == len(INTEGERS)

    def test_what_python_calls_is_kept_too(self, tmp_path: Path) -> None:
        """A warm process compiles neither the kernel nor what leads to it: it writes nothing."""
        variables = environment(tmp_path)
        divided(variables, "float32")
        kept = {file: file.stat().st_mtime_ns for file in tmp_path.rglob("*.nb*")}
        indices = [file.name for file in kept if file.suffix == ".nbi"]
        for function in ("ieee", "_divide", "_serve", "_attempt"):
            assert len([name for name in indices if f".{function}-" in name]) == 1
        divided(variables, "float32")
        assert {file: file.stat().st_mtime_ns for file in tmp_path.rglob("*.nb*")} == kept


class TestStaleCode:
    """A kernel compiled from other sources is not used."""

    def test_a_changed_rule_is_compiled_anew(self, copied: Path, tmp_path: Path) -> None:
        variables = environment(tmp_path / "cache", copied)
        divided(variables, "float32")
        assert divided(variables, "float32")["float32"]["found"] == 1
        rule = copied / "kernels" / "float_quotient.py"
        right = rule.read_text()
        rule.write_text(right.replace("return dividend / divisor", "return divisor / dividend"))
        assert rule.read_text() != right
        wrong = divided(variables, "float32")["float32"]
        assert (wrong["quotients"][2], wrong["found"]) == (1, 0)
        assert wrong["quotients"][0] == pytest.approx(2 / 7)

    def test_every_file_of_the_room_counts(self, copied: Path) -> None:
        stamps = {self.stamp(copied)}
        files = sorted((copied / "kernels").glob("*.py"))
        assert len(files) > 5
        for file in files:
            file.write_text(file.read_text() + "\n")
            stamps.add(self.stamp(copied))
        assert len(stamps) == len(files) + 1

    @staticmethod
    def stamp(sources: Path) -> str:
        """Import the copy of the module that makes the stamp, under a name of its own."""
        spec = importlib.util.spec_from_file_location("copied_jit", sources / "kernels" / "jit.py")
        assert spec is not None
        assert spec.loader is not None
        module: ModuleType = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        stamp: str = module._room_stamp()
        return stamp


class TestNoCache:
    """Without a folder to write to, or with a damaged one, kernels are compiled and divide all the same."""

    def test_a_folder_that_cannot_be_made(self, regular_file: Path) -> None:
        told = divided(environment(regular_file / "cache"), "float32")["float32"]
        assert told["quotients"][0] == 3.5

    def test_no_folder_at_all(self, copied: Path, regular_file: Path) -> None:
        (copied / "kernels" / "__pycache__").write_text("no folder")
        home = {"HOME": str(regular_file), "XDG_CACHE_HOME": str(regular_file / "cache")}
        told = divided(environment(regular_file / "cache", copied, **home), "float32")["float32"]
        assert told["quotients"][0] == 3.5
        assert told["found"] == 0

    def test_a_folder_that_is_lost_before_it_is_written(self, tmp_path: Path) -> None:
        cache = tmp_path / "cache"
        program = (
            DIVIDE + "import pathlib, shutil\n"
            "kernel(entries.ieee, 'float32')\n"
            f"shutil.rmtree({str(cache)!r})\n"
            f"pathlib.Path({str(cache)!r}).write_text('no folder, as on a full disk')\n"
            "print(json.dumps(divide('float32')))"
        )
        assert json.loads(run(["-c", program], environment(cache)))["quotients"][0] == 3.5

    @pytest.mark.parametrize(("suffix", "length"), [(".nbi", 0), (".nbc", 100)])
    def test_damaged_files(self, suffix: str, length: int, tmp_path: Path, warm: Path) -> None:
        cache = shutil.copytree(warm, tmp_path / "cache")
        files = list(cache.rglob("*" + suffix))
        assert len(files) == 7  # a kernel, the three copies, and the three functions that Python calls
        for damaged in files:
            damaged.write_bytes(damaged.read_bytes()[:length])
        assert divided(environment(cache), "float32")["float32"]["quotients"][0] == 3.5
