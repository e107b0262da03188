"""What passed, when, where and of which sources: the record of a whole run of `make exhaustive`."""

from __future__ import annotations

import hashlib
import platform
import shutil
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import numpy as np
import pytest

from tests.processes import output_of
from vinculum.conformance.execute.installation import processor

ROOT = Path(__file__).parents[2]
RECORDED = Path(__file__).with_name("recorded.txt")
# What divides, how it is compiled, and what it is compared with.
_SOURCES = (
    "meson.build",
    "src/vinculum/kernels/*.py",
    "src/vinculum/kernels/core/**/*.[ch]*",
    "tests/exhaustive/*.py",
)


class Recorder:
    """A plugin of pytest that writes the record if every enumeration was run, in full, and passed.

    Parameters
    ----------
    file : Path
        Where the record goes.
    """

    def __init__(self, file: Path = RECORDED) -> None:
        self._file = file
        self._seconds: dict[str, float] = {}

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Keep how long a test took."""
        if report.when == "call" and report.passed:
            self._seconds[report.nodeid.removeprefix("tests/exhaustive/")] = report.duration

    @pytest.hookimpl(trylast=True)
    def pytest_sessionfinish(self, exitstatus: int) -> None:
        """Write the record; nothing after a failure."""
        if exitstatus == pytest.ExitCode.OK and self._seconds:
            self._file.write_text("\n".join([*self._comment(), *sources(), ""]), encoding="utf-8")

    def _comment(self) -> Iterator[str]:
        yield "# Written by `make exhaustive RECORD=--record`: these passed with the sources whose SHA-256 follow."
        yield "# `sha256sum --check tests/exhaustive/recorded.txt` compares them with a checkout."
        yield f"# {datetime.now(UTC):%Y-%m-%d}, {processor()}, {platform.system()}"
        yield f"# CPython {platform.python_version()}, NumPy {np.__version__}, {_compiler()}"
        for test, seconds in self._seconds.items():
            yield f"# {seconds:7.1f} s  {test}"


def sources() -> list[str]:
    """Return the SHA-256 and the path of every source that a quotient depends on, as `sha256sum` writes them."""
    files = sorted({path for pattern in _SOURCES for path in ROOT.glob(pattern)})
    return [f"{hashlib.sha256(path.read_bytes()).hexdigest()}  {path.relative_to(ROOT).as_posix()}" for path in files]


def _compiler() -> str:
    found = shutil.which("g++") or shutil.which("c++")
    if found is None:
        return "compiler not found"
    return output_of([found, "--version"]).splitlines()[0]
