"""Plant small mistakes, one at a time, and list those that no test finds: ``python -m tests.mutation``.

The mistakes are drawn from the kernels and the rooms of `ROOMS`; with ``--planted`` they are those of `planted.toml`.
The core is compiled only for the best target of this machine, with few optimisations. A mutant that does not compile,
or that is compiled to the same code, is not counted. `equivalent.toml` names the mutants that no test can find.

A mutant of a room is tried with the tests that call the changed function, or any function of its file if the change is
in none, the quickest first. If they all pass, it is tried with all tests of the room. The tests run in a process that
is forked from this one, which has imported everything but the package and the tests. So they, and the processes that
they start, import the mutant. Code that only tests of real runtimes call (`RUNTIMES`) is drawn where these are
installed.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import random
import shutil
import sys
import sysconfig
import tempfile
import time
import tomllib
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from tests.mutation.forked import prepare, run_pytest
from tests.mutation.mutants import Mutant, mutants_of, replaced
from tests.mutation.order import noted_as
from tests.processes import output_of, python, run

ROOT = Path(__file__).parents[2]
SOURCES = ROOT / "src" / "vinculum"
CORE = Path("src/vinculum/kernels/core")
NO_TESTS = 5  # pytest's exit code for no tests
LIMIT = 100  # seconds for one test; a longer one waits for something that does not come
SECONDS = 30  # of processor time, in addition to five times that without a mistake; longer runs are ended
COMPILER = (
    *("c++", "-std=c++20", "-O1", "-fPIC", "-fvisibility=hidden", "-w", "-fno-trapping-math", "-fno-math-errno"),
    *("-ffp-contract=off", f"-I{sysconfig.get_paths()['include']}", f"-isystem{np.get_include()}"),
)
# The best target first: its name in targets.cpp, and its options, as in the core's meson.build.
TARGETS = {
    "x86-64-v4+vbmi": ("v4_vbmi", "-march=x86-64-v4", "-mprefer-vector-width=512", "-mavx512vbmi"),
    "x86-64-v4": ("v4", "-march=x86-64-v4", "-mprefer-vector-width=512"),
    "x86-64-v3": ("v3", "-march=x86-64-v3"),
    "x86-64-v2": ("v2", "-march=x86-64-v2"),
}
UNITS = ("kernels", "module", "pool", "targets")


def _of_kernels(*names: str) -> tuple[str, ...]:
    return tuple(f"tests/kernels/test_{name}.py" for name in names)


# The tests of a part, those that find most mutants first, and pytest's expression that selects from them.
_QUOTIENTS = _of_kernels(
    "contract", "integer_quotients", "sixteen_bit_floats", "eight_bit_pairs", "lengths", "forbidden_pages"
)
_PROCESSES = _of_kernels("core", "threads", "environment", "thread_limit", "backends")
QUOTIENTS = (_QUOTIENTS, "not portable")
AROUND = ((*_QUOTIENTS, *_PROCESSES), "not portable")
POOL = ((*_PROCESSES, *_of_kernels("contract"), "tests/machine/kernels"), "not portable")
PORTABLE = (_of_kernels("portable", "contract", "environment", "backends"), "not x86")
PYTHON = (_of_kernels("thread_limit", "backends", "environment", "contract"), "")
# Code that only tests of `make runtimes` call; it is drawn in their environment: build/runtimes/pinned/bin/python.
RUNTIMES = {
    "models/engines/openvino/": (
        "tests/runtimes/models/engines/openvino",
        "tests/runtimes/models/convert",
        "tests/models/engines/openvino/test_tensors.py",
    ),
    "models/exported_program.py": ("tests/runtimes/models/test_exported_programs.py",),
    "analysis/transfer/operators/contrib.py": ("tests/runtimes/analysis/test_contrib.py",),
    "conformance/runtimes/openvino.py": ("tests/runtimes/conformance",),
    "conformance/audit/openvino_subject.py": ("tests/runtimes/conformance",),
}
_ACCEPTED = ("audit", "check", "command_line", "conform", "convert", "divide", "harden", "refusals", "run", "trace")
_REFUSALS = "tests/acceptance/test_refusals.py"
_COMMANDS = tuple(f"tests/acceptance/test_{name}.py" for name in _ACCEPTED)
ROOMS = {
    "ops": (
        "tests/ops",
        "tests/tensors",
        "tests/documents",
        "tests/property",
        "tests/test_public_face.py",
        "tests/dask_arrays",
    ),
    "tensors": ("tests/tensors", "tests/device_arrays", "tests/ops", "tests/property", "tests/documents"),
    "models": ("tests/models",),
    "repair": ("tests/repair",),
    "analysis": ("tests/analysis", "tests/acceptance/test_check.py", "tests/acceptance/test_trace.py", _REFUSALS),
    "conformance": (
        "tests/conformance",
        "tests/reporting/conformance",
        "tests/reporting/models/test_audit.py",
        "tests/reporting/test_recorded.py",
        "tests/cli/test_conform.py",
        "tests/cli/test_info.py",
        _REFUSALS,
    ),
    "stored": ("tests/stored", "tests/acceptance/test_divide.py", _REFUSALS),
    "spec": (
        "tests/spec",
        "tests/documents",
        "tests/ops",
        "tests/reporting/test_spec.py",
        "tests/reporting/test_recorded.py",
        "tests/cli/test_spec.py",
        _REFUSALS,
    ),
    "reporting": ("tests/reporting", "tests/cli", *_COMMANDS),
    "cli": ("tests/cli", *_COMMANDS),
    "sandbox": ("tests/sandbox", "tests/machine/sandbox", "tests/test_testing.py"),
    "dask_arrays": ("tests/dask_arrays",),
}


class Planted:
    """A copy of the package, into which one mutant at a time is planted."""

    def __init__(self, folder: Path, seed: int) -> None:
        self.folder = folder
        self.seed = seed
        self.objects: dict[str, bytes] = {}
        self._passing = set[tuple[str, ...]]()
        self.package = folder / "vinculum"
        shutil.copytree(SOURCES, self.package, ignore=shutil.ignore_patterns("__pycache__", "core"))

    def _compile_core(self) -> None:
        """Compile the core of the copy, so that it can be changed as well."""
        shutil.copytree(ROOT / CORE, self.folder / "core")
        self.library = self.package / "kernels" / f"_core{sysconfig.get_config_var('EXT_SUFFIX')}"
        self.target = next(name for name in TARGETS if _runs(name))
        for unit in UNITS:
            self._compile(unit)
        self.objects = {unit: self._object(unit).read_bytes() for unit in UNITS}
        self.included = {unit: (self.folder / f"{unit}.d").read_text(encoding="utf-8") for unit in UNITS}
        self._link()

    def plant(self, mutant: Mutant) -> str | None:
        """Put a mutant into the copy; return a reason if it does not count."""
        if mutant.file.endswith(".py"):
            self._write(mutant.file, mutant.text)
            return None
        source = Path(mutant.file).relative_to(CORE)
        (self.folder / "core" / source).write_text(mutant.text, encoding="utf-8")
        units = [unit for unit in UNITS if str(self.folder / "core" / source) in self.included[unit]]
        if not all(self._compile(unit) for unit in units):
            return "does not compile"
        if all(self._object(unit).read_bytes() == self.objects[unit] for unit in units):
            return "is compiled to the same code"
        self._link()
        return None

    def restore(self, mutant: Mutant) -> None:
        """Remove a mutant."""
        path = Path(mutant.file)
        if path.suffix == ".py":
            self._write(mutant.file, (ROOT / path).read_text(encoding="utf-8"))
            return
        shutil.copy(ROOT / path, self.folder / "core" / path.relative_to(CORE))
        for unit, contents in self.objects.items():
            self._object(unit).write_bytes(contents)
        self._link()

    def is_found(self, *tests: str) -> str | None:
        """Return the test that fails, or how pytest ends; None if all pass. The arguments may contain options."""
        options = f"-x -q -n 0 -p no:cacheprovider -p tests.mutation.order --tb=no -o timeout={LIMIT}".split()
        arguments = [*options, f"--hypothesis-seed={self.seed}", *tests]
        code, output = run_pytest(arguments, (self.folder, ROOT), 30 * LIMIT)
        if code is None:
            return "hangs"
        if code in (0, NO_TESTS):
            return None
        failed = [line for line in output.splitlines() if line.startswith(("FAILED", "ERROR"))]
        return failed[0].split(" - ")[0] if failed else f"ends with {code}"

    def passing(self, *tests: str) -> tuple[str, ...]:
        """Return the tests if they pass while nothing is planted; else raise."""
        if tests not in self._passing:
            if (found := self.is_found(*tests)) is not None:
                raise RuntimeError(f"without any change: {found}")
            self._passing.add(tests)
        return tests

    def tests_of(self, mutant: Mutant) -> list[tuple[str, ...]]:
        """Return pytest's arguments for the tests of a drawn mutant, in the order to try; nothing is planted yet."""
        room = room_of(mutant.file)
        if room is None:
            if not mutant.file.endswith(".py") and not self.objects:
                self._compile_core()
            named, only = tests_of_kernels(mutant.file)
            return [self.passing(*named, "-k", only)]
        path, order = self.folder / f"{Path(room).stem}.json", self.folder / "order.json"
        everything = (ROOMS | RUNTIMES)[room]
        self.passing(*everything, f"--note-calls={path}")
        notes: dict[str, tuple[float, list[str]]] = json.loads(path.read_text(encoding="utf-8"))
        changed = noted_as(mutant.file, mutant.function)
        tests = [test for test, (_, called) in notes.items() if any(one.startswith(changed) for one in called)]
        tests.sort(key=lambda test: notes[test][0])
        order.write_text(json.dumps(tests), encoding="utf-8")
        files = dict.fromkeys(test.partition("::")[0] for test in tests)
        first = (*files, f"--in-order={order}", _limited(notes[test][0] for test in tests))
        then = (*everything, _limited(seconds for seconds, _ in notes.values()))
        return [first, then] if tests else [then]

    def _write(self, file: str, text: str) -> None:
        path = self.folder / Path(file).relative_to("src")
        path.write_text(text, encoding="utf-8")
        # The bytecode would be used for another text of the same second and length.
        Path(importlib.util.cache_from_source(path)).unlink(missing_ok=True)

    def _object(self, unit: str) -> Path:
        return self.folder / f"{unit}.o"

    def _compile(self, unit: str) -> bool:
        name, *options = TARGETS[self.target]
        given = [*options, f"-DVINCULUM_KERNELS=kernels_{name}"] if unit == "kernels" else [f"-DVINCULUM_HAS_{name}"]
        source = self.folder / "core" / f"{unit}.cpp"
        listed = ("-MMD", "-MF", str(self.folder / f"{unit}.d"))
        command: list[str | Path] = [*COMPILER, *given, *listed, "-c", source, "-o", self._object(unit)]
        return run(command).returncode == 0

    def _link(self) -> None:
        self.library.unlink(missing_ok=True)  # a loaded library must not be overwritten
        done = run(["c++", "-shared", "-pthread", *map(self._object, UNITS), "-o", self.library])
        if done.returncode:
            raise RuntimeError(done.stderr)


def _limited(seconds: Iterable[float]) -> str:
    """Return the option that ends tests which take far longer than they do without a mistake."""
    return f"--most-seconds={SECONDS + 5 * sum(seconds):.0f}"


def _runs(target: str) -> bool:
    """Return whether the installed core has code for a target and this processor can run it."""
    program = "from vinculum.kernels.compiled import targets; print(*targets())"
    return target in output_of(python(program)).split()


def room_of(file: str) -> str | None:
    """Return the room of `RUNTIMES` or `ROOMS` that a source is in; None for the kernels."""
    return next((room for room in (*RUNTIMES, *ROOMS) if file.startswith(f"src/vinculum/{room}")), None)


def tests_of_kernels(file: str) -> tuple[tuple[str, ...], str]:
    """Return the tests of a source of the kernels, and pytest's expression that selects from them."""
    name = Path(file).name
    if file.endswith(".py"):
        return PORTABLE if name in ("portable.py", "float_environment.py") else PYTHON
    if name in ("pool.cpp", "environment.hpp"):
        return POOL
    return AROUND if name in ("module.cpp", "nest.hpp", "task.hpp", "targets.cpp") else QUOTIENTS


def equivalents() -> list[dict[str, Any]]:
    """Return the entries of `equivalent.toml`: a file, a line, the changes of it that are meant, and the reason."""
    return list(tomllib.loads((Path(__file__).parent / "equivalent.toml").read_text(encoding="utf-8"))["equivalent"])


def is_equivalent(mutant: Mutant, known: Sequence[dict[str, Any]]) -> bool:
    """Return whether a mutant is one of those that no test can find."""
    return any(
        mutant.file.endswith(one["file"])
        and mutant.line == one["line"]
        and mutant.changed in one.get("becomes", [mutant.changed])
        for one in known
    )


def sources() -> list[Path]:
    """Return the sources from which mutants are drawn."""
    cpp = [path for path in sorted((ROOT / CORE).rglob("*")) if path.suffix in (".h", ".hpp", ".cpp")]
    python = [path for room in ("kernels", *ROOMS) for path in sorted((SOURCES / room).rglob("*.py"))]
    # Not declarations, nor the interfaces of runtimes that no single environment has.
    others = ("contract.h", "annotations.py", "runtimes/interfaces.py")
    return [path for path in cpp + python if not path.as_posix().endswith(others)]


def catalogue() -> list[tuple[Mutant, tuple[str, ...]]]:
    """Return the mistakes of `planted.toml`, each with the tests that must find it."""
    named = tomllib.loads((Path(__file__).parent / "planted.toml").read_text(encoding="utf-8"))["planted"]
    return [
        (replace(replaced(SOURCES / one["file"], ROOT, one["old"], one["new"]), name=one["name"]), tuple(one["tests"]))
        for one in named
    ]


def drawn(seed: int, chosen: str) -> list[Mutant]:
    """Return the mutants of sources whose path contains a text, in random order, evenly spread over each file."""
    rng = random.Random(seed)
    places = []
    has_runtimes = importlib.util.find_spec("openvino") is not None
    for path in sources():
        file = str(path.relative_to(ROOT))
        if chosen in file and (has_runtimes or room_of(file) not in RUNTIMES):
            found = mutants_of(path, ROOT)
            rng.shuffle(found)
            places += [((i + rng.random()) / len(found), mutant) for i, mutant in enumerate(found)]
    return [mutant for _, mutant in sorted(places, key=lambda place: place[0])]


def main() -> int:
    """Plant, test, and print the mutants that survive; return 1 if there are any."""
    parser = argparse.ArgumentParser(prog="python -m tests.mutation", description=__doc__)
    parser.add_argument("--planted", action="store_true", help="plant what planted.toml names, and draw nothing")
    parser.add_argument("--count", type=int, default=200, help="how many mutants to test")
    parser.add_argument("--seed", type=int, default=0, help="others are drawn with another one, and so are examples")
    parser.add_argument("--only", default="", metavar="TEXT", help="only of files whose path contains this")
    parser.add_argument("--line", default="", metavar="TEXT", help="only of lines that contain this")
    given = parser.parse_args()
    print(f"seed {given.seed}", flush=True)
    prepare()
    known, ends, survivors = equivalents(), Counter[str](), list[Mutant]()
    with tempfile.TemporaryDirectory() as folder:
        planted = Planted(Path(folder), given.seed)
        if given.planted:
            mutants = [mutant for mutant in catalogue() if given.only in mutant[0].file]
        else:
            mutants = [(mutant, ()) for mutant in drawn(given.seed, given.only)]
        if not mutants:
            parser.error(f"no path contains {given.only!r}")
        for mutant, named in mutants:
            if ends["killed"] + ends["survive"] >= given.count:
                break
            if given.line not in mutant.line or is_equivalent(mutant, known):
                ends["known to be equivalent"] += given.line in mutant.line
                continue
            attempts = [planted.passing(*named)] if named else planted.tests_of(mutant)
            begun = time.monotonic()
            found = planted.plant(mutant)
            if found is not None:
                ends[found] += 1
            else:
                found = next(filter(None, (planted.is_found(*tests) for tests in attempts)), None)
                ends["survive" if found is None else "killed"] += 1
                survivors += [mutant] if found is None else []
                print(f"{found or 'SURVIVES'} ({time.monotonic() - begun:.0f} s): {mutant}", flush=True)
            planted.restore(mutant)
    print(", ".join(f"{count} {end}" for end, count in ends.items()))
    for mutant in survivors:
        print(f"survives: {mutant}")
    return 1 if survivors else 0


if __name__ == "__main__":
    sys.exit(main())
