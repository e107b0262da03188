"""Runtimes divide as known_deviations/ says: other answers are reported, and fail where the file was recorded."""

from __future__ import annotations

import importlib.util
from collections.abc import Iterator
from io import StringIO
from pathlib import Path

import pytest
from rich.console import Console

from tests.optional import skip_or_fail
from tests.runtimes.conftest import DIFFERENCES
from vinculum.conformance.cases.case import Level
from vinculum.conformance.execute.planning import plan
from vinculum.conformance.execute.run import Run, Selection
from vinculum.conformance.execute.suite import survey
from vinculum.conformance.expect import KnownDeviations, Mismatch, mismatches, read_known_deviations
from vinculum.reporting.conformance.expected import page

FILES = sorted((Path(__file__).parents[3] / "known_deviations").glob("*.toml"))


@pytest.mark.parametrize(
    "level", [Level.QUICK, pytest.param(Level.DEFAULT, marks=pytest.mark.exhaustive)], ids=lambda level: level.value
)
@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_it_divides_as_known(file: Path, level: Level, request: pytest.FixtureRequest) -> None:
    known = read_known_deviations(file)
    package = next(iter(known.versions))
    if importlib.util.find_spec(package) is None:
        skip_or_fail(request, package)
    # One process: each would import the runtime, and compile what the other has compiled too.
    run = survey(plan(known.backend, Selection(level)), known=known, workers=1)
    found = mismatches(run, known)
    if found:
        text = told(run, known, found)
        request.node.user_properties.append((DIFFERENCES, text))
        assert any(known.differences(run)), text  # Other versions and processors may answer otherwise.


def told(run: Run, known: KnownDeviations, found: tuple[Mismatch, ...]) -> str:
    """Return what differs, after the runtime, its versions and the processor."""

    def lines() -> Iterator[str]:
        yield ", ".join(f"{name} {version}" for name, version in run.versions.items())
        console = Console(width=400, file=StringIO(), record=True)
        console.print(page([(run, known, found)], verbose=True))
        yield from (line.rstrip() for line in console.export_text().splitlines())

    return "\n".join(lines())
