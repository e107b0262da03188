"""Compiled kernels on disk: found by the next process, never mistaken for others, and no reason to fail."""

from __future__ import annotations

import importlib.util
import json
import shutil
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from tests.kernels.processes import SOURCES, environment, run, start

# Prints quotients, and what the kernel for each type found in the cache.
DIVIDE = """
import json, sys
import numpy as np
import vinculum
from vinculum.kernels import entries
from vinculum.kernels.jit import kernel

def divide(name):
    entry = entries.ieee_flat if "float" in name else entries.truncating_flat
    dividends, divisors = (np.array(x).astype(name) for x in ([7, 200, 9], [2, 7, 9]))
    quotients = vinculum.div(dividends, divisors).tolist()
    found, compiled = kernel(entry, name).stats.cache_hits, kernel(entry, name).stats.cache_misses
    return {"quotients": quotients, "found": sum(found.values()), "compiled": sum(compiled.values())}
"""
DIVIDE_ARGUMENTS = DIVIDE + "print(json.dumps({name: divide(name) for name in sys.argv[1:]}))"
DIVIDE_ON_COMMAND = DIVIDE + "print('ready', flush=True); input(); print(json.dumps(divide(sys.argv[1])))"


def divided(variables: dict[str, str], *names: str) -> dict[str, dict[str, Any]]:
    """Divide in another process; return what it tells of each type."""
    told: dict[str, dict[str, Any]] = json.loads(run(["-c", DIVIDE_ARGUMENTS, *names], variables))
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
    """Return a cache that holds the one kernel."""
    cache = tmp_path_factory.mktemp("warm")
    divided(environment(cache), "float32")
    return cache


class TestSecondProcess:
    """A second process compiles nothing."""

    def test_it_compiles_nothing(self, tmp_path: Path) -> None:
        variables = environment(tmp_path)
        first, second = divided(variables, "int32"), divided(variables, "int32")
        assert first["int32"] == {"quotients": [3, 28, 1], "found": 0, "compiled": 1}
        assert second["int32"] == {"quotients": [3, 28, 1], "found": 1, "compiled": 0}

    def test_processes_that_compile_different_types_at_once(self, tmp_path: Path) -> None:
        names = ["int8", "uint8"]
        variables = environment(tmp_path)
        processes = [start(["-c", DIVIDE_ON_COMMAND, name], variables) for name in names]
        for process in processes:
            assert process.stdout is not None
            assert process.stdout.readline() == "ready\n"
        for process in processes:
            assert process.stdin is not None
            process.stdin.write("\n")
            process.stdin.flush()
        told = [json.loads(process.communicate()[0]) for process in processes]
        assert [t["compiled"] for t in told] == [1, 1]
        # 200 is -56 as an int8: code of the other type would be seen.
        assert [t["quotients"] for t in told] == [[3, -8, 1], [3, 28, 1]]
        later = divided(variables, *names)
        assert [later[name] for name in names] == [{**t, "found": 1, "compiled": 0} for t in told]
        assert len(list(tmp_path.rglob("*.nbi"))) == len(names), "the types share an index, so their files may clash"


class TestStaleCode:
    """A kernel compiled from other sources is not used."""

    def test_a_changed_rule_is_compiled_anew(self, copied: Path, tmp_path: Path) -> None:
        variables = environment(tmp_path / "cache", copied)
        assert divided(variables, "float32")["float32"]["compiled"] == 1
        rule = copied / "kernels" / "float_quotient.py"
        right = rule.read_text()
        rule.write_text(right.replace("return dividend / divisor", "return divisor / dividend"))
        assert rule.read_text() != right
        wrong = divided(variables, "float32")["float32"]
        assert (wrong["quotients"][2], wrong["compiled"]) == (1, 1)
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
            "kernel(entries.ieee_flat, 'float32')\n"
            f"shutil.rmtree({str(cache)!r})\n"
            f"pathlib.Path({str(cache)!r}).write_text('no folder, as on a full disk')\n"
            "print(json.dumps(divide('float32')))"
        )
        assert json.loads(run(["-c", program], environment(cache)))["quotients"][0] == 3.5

    @pytest.mark.parametrize(("suffix", "length"), [(".nbi", 0), (".nbc", 100)])
    def test_a_damaged_file(self, suffix: str, length: int, tmp_path: Path, warm: Path) -> None:
        cache = shutil.copytree(warm, tmp_path / "cache")
        (damaged,) = cache.rglob("*" + suffix)
        damaged.write_bytes(damaged.read_bytes()[:length])
        assert divided(environment(cache), "float32")["float32"]["quotients"][0] == 3.5
