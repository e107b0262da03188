"""Runtimes divide as known_deviations/ says; other answers fail with the recorded versions and are else reported."""

from __future__ import annotations

import re
import signal
import tomllib
from collections.abc import Iterator
from importlib.metadata import version
from io import StringIO
from pathlib import Path

import pytest
from rich.console import Console

from tests.optional import package_or_skip
from tests.processes import python, run
from tests.runtimes.conftest import DIFFERENCES
from vinculum.conformance.cases.case import Level
from vinculum.conformance.expect import KnownDeviations, Mismatch, mismatches, read_known_deviations
from vinculum.conformance.run.planning import plan
from vinculum.conformance.run.record import Run, Selection
from vinculum.conformance.run.suite import survey
from vinculum.reporting.conformance.comparison import expected_page

ROOT = Path(__file__).parents[3]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
PINNED = {
    re.split("[=<>]", requirement)[0]
    for requirement in (*PROJECT["dependencies"], *PROJECT["optional-dependencies"]["runtimes"])
}
# `make survey` asks the others: those with environments of their own, and slow ones, which are asked few cases.
FILES = [
    file
    for file in sorted((ROOT / "known_deviations").glob("*.toml"))
    if (known := read_known_deviations(file)).level is Level.DEFAULT and next(iter(known.versions)) in PINNED
]


@pytest.mark.parametrize(
    "level", [Level.QUICK, pytest.param(Level.DEFAULT, marks=pytest.mark.exhaustive)], ids=lambda level: level.value
)
@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_known_deviations(file: Path, level: Level, request: pytest.FixtureRequest) -> None:
    known = read_known_deviations(file)
    package = next(iter(known.versions))
    package_or_skip(request, package)
    # One process, since each would import the runtime and compile the same kernels.
    asked = survey(plan(known.backend, Selection(level)), known=known, workers=1)
    found = mismatches(asked, known)
    if found:
        text = told(asked, known, found)
        request.node.user_properties.append((DIFFERENCES, text))
        assert any(known.differences(asked)), text  # Other versions and processors may give other answers.


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_reproducers(file: Path, request: pytest.FixtureRequest, tmp_path: Path) -> None:
    """Each ends by the signal, or prints the text, with which its last comment begins."""
    known = read_known_deviations(file)
    package = next(iter(known.versions))
    package_or_skip(request, package)
    for cause in known.causes:
        if cause.reproducer and known.versions[package] == version(package):
            done = run(python(cause.reproducer), cwd=tmp_path)
            word = re.findall(r"# (\w\S*\w)", cause.reproducer)[-1]
            if word.startswith("SIG"):
                assert done.returncode == -signal.Signals[word], done.stderr
            else:
                assert (done.returncode, word in done.stdout) == (0, True), done.stderr


def told(asked: Run, known: KnownDeviations, found: tuple[Mismatch, ...]) -> str:
    """Return the versions of the runtime, and its unexpected answers."""

    def lines() -> Iterator[str]:
        yield ", ".join(f"{name} {number}" for name, number in asked.versions.items())
        console = Console(width=400, file=StringIO(), record=True)
        console.print(expected_page([(asked, known, found)], verbose=True))
        yield from (line.rstrip() for line in console.export_text().splitlines())

    return "\n".join(lines())
