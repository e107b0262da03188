"""The record of `make exhaustive`: which enumerations passed, when, where, and with which sources."""

from __future__ import annotations

import hashlib
import platform
import shutil
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

import numpy as np
import pytest

from tests.processes import output_of
from vinculum.conformance.run.installation import processor

ROOT = Path(__file__).parents[2]
RECORDED = Path(__file__).with_name("recorded.txt")
# The code that divides, its build, and the code that checks quotients; not the choice of backends, threads and tests.
_SOURCES = (
    "src/vinculum/kernels/core/meson.build",
    "src/vinculum/kernels/core/**/*.[ch]*",
    *(f"src/vinculum/kernels/{name}.py" for name in ("compiled", "float_environment", "portable")),
    *(
        f"tests/exhaustive/{name}.py"
        for name in ("enumeration", "exact_*", "*sixteen_bits", "*thirty_two_bits", "*sixty_four_bits")
    ),
)
_FOLDER = "tests/exhaustive/"
_OPENING = (
    "# Written by `make exhaustive RECORD=--record`: these passed with the sources whose SHA-256 follow.",
    "# `sha256sum --check tests/exhaustive/recorded.txt` compares them with a checkout.",
)


class Recorder:
    """A plugin of pytest that records the enumerations that passed, unless one failed.

    Earlier records of the same sources, such as on other processors, are kept. Each enumeration ran on all of the
    backends, but only one part in `one_in` of it.
    """

    def __init__(self, backends: Sequence[str], one_in: int = 1, file: Path = RECORDED) -> None:
        self._backends = backends
        self._one_in = one_in
        self._file = file
        self._sources = sources()  # at the beginning of the run
        self._passed: list[str] = []
        self._failed = False

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Note the time of an enumeration that passed, and whether one failed."""
        if report.nodeid.startswith(_FOLDER):
            self._failed |= report.failed
            if report.when == "call" and report.passed:
                self._passed.append(f"# {report.duration:7.1f} s  {report.nodeid.removeprefix(_FOLDER)}")

    @pytest.hookimpl(trylast=True)
    def pytest_sessionfinish(self) -> None:
        """Write the record, unless an enumeration failed."""
        if self._passed and not self._failed:
            stays = digests(self._file) == self._sources
            before = [line for line in _lines(self._file) if line.startswith("#")] if stays else _OPENING
            passed = (f"# {datetime.now(UTC):%Y-%m-%d}, {self._machine()}", *self._passed)
            lines = (*before, "#", *passed, *(f"{sha}  {name}" for name, sha in self._sources.items()))
            self._file.write_text("\n".join([*lines, ""]), encoding="utf-8")

    def _machine(self) -> str:
        part = f", one part in {self._one_in}" if self._one_in > 1 else ""
        python = f"CPython {platform.python_version()}, NumPy {np.__version__}"
        return f"{processor()}, {platform.system()}, {python}, {_compiler()}: {', '.join(self._backends)}{part}"


def digests(file: Path = RECORDED) -> dict[str, str]:
    """Return the recorded SHA-256 of each source."""
    return {line[66:]: line[:64] for line in _lines(file) if not line.startswith("#")}


def sources() -> dict[str, str]:
    """Return the SHA-256 of every source that a quotient depends on, by its path."""
    files = sorted({path for pattern in _SOURCES for path in ROOT.glob(pattern)})
    return {path.relative_to(ROOT).as_posix(): hashlib.sha256(path.read_bytes()).hexdigest() for path in files}


def _lines(file: Path) -> list[str]:
    return file.read_text(encoding="utf-8").splitlines() if file.exists() else []


def _compiler() -> str:
    found = shutil.which("g++") or shutil.which("c++")
    if found is None:
        return "compiler not found"
    return output_of([found, "--version"]).splitlines()[0]
