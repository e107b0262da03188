"""The runtimes that the tests pin divide as known_deviations/ says, and in no other way."""

from __future__ import annotations

import importlib.metadata
import re
import tomllib
from pathlib import Path

import pytest

from tests.optional import skip_without
from vinculum.conformance.cases.case import Level
from vinculum.conformance.execute.planning import plan
from vinculum.conformance.execute.run import Selection
from vinculum.conformance.execute.suite import survey
from vinculum.conformance.expect import (
    KnownCases,
    KnownCause,
    KnownDeviations,
    Mismatch,
    mismatches,
    read_known_deviations,
)

ROOT = Path(__file__).parents[2]
KNOWN = ROOT / "known_deviations"
FILES = sorted(KNOWN.glob("*.toml"))


@pytest.fixture(params=FILES, ids=lambda file: file.stem)
def known(request: pytest.FixtureRequest) -> KnownDeviations:
    """Return what a file knows of a runtime that is installed."""
    if request.param.stem == "torch":
        request.getfixturevalue("torch_or_skip")
    elif request.param.stem != "onnx-reference":
        skip_without(request.param.stem)
    return read_known_deviations(request.param)


class TestFiles:
    """Issue 4, point 7: a file for each of four runtimes, at the versions that are pinned."""

    def test_there_is_one_for_each(self) -> None:
        assert [file.stem for file in FILES] == ["onnx-reference", "onnxruntime", "openvino", "torch"]

    def test_it_is_named_for_its_backend_and_level(self, known: KnownDeviations) -> None:
        assert (known.backend, known.level) == (known.file.stem, Level.DEFAULT)

    def test_every_deviation_is_explained(self, known: KnownDeviations) -> None:
        entries: tuple[KnownCause | KnownCases, ...] = (*known.causes, *known.cases)
        assert entries
        assert not [entry for entry in entries if "explained" in entry.reason]

    def test_it_holds_for_the_pinned_versions(self, known: KnownDeviations) -> None:
        pyproject = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
        pinned = dict(pin.split("==") for pin in pyproject["project"]["optional-dependencies"]["test"] if "==" in pin)
        torch = re.search(r"torch==([\d.]+)", (ROOT / ".ci" / "run").read_text("utf-8"))
        assert torch
        pinned["torch"] = torch[1]
        for package, version in known.versions:
            assert version.partition("+")[0] == pinned[package]
            assert version == importlib.metadata.version(package)


def quick_mismatches(known: KnownDeviations) -> tuple[Mismatch, ...]:
    """Return where a runtime answers quick cases otherwise than a file knows of it."""
    # One process: each would import the runtime, and compile what the other has compiled too.
    return mismatches(survey(plan(known.backend, Selection(Level.QUICK)), known=known, workers=1), known)


class TestRuntimes:
    """A run matches its file: nothing new fails, nothing passes unexpectedly."""

    # Those of OpenVINO, which takes long to answer, are asked in `tests/conformance/fingerprint` with others.
    @pytest.mark.parametrize(
        "known", [file for file in FILES if file.stem != "openvino"], indirect=True, ids=lambda file: file.stem
    )
    def test_the_quick_cases(self, known: KnownDeviations) -> None:
        assert quick_mismatches(known) == ()

    @pytest.mark.exhaustive  # Two minutes for the four of them.
    def test_every_case_that_the_file_knows(self, known: KnownDeviations) -> None:
        assert mismatches(survey(plan(known.backend, Selection(known.level)), known=known), known) == ()
