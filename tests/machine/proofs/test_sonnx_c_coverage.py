"""How much of the extracted C library its tests execute: every statement, every branch; and how much stack it takes."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from proofs.checking.extraction import COMPILER, build
from tests.machine.proofs.sonnx_c_library import C_NAMES, extracted, require_compiler
from tests.machine.proofs.sonnx_c_operands import NAMES
from tests.machine.proofs.sonnx_c_program import program
from tests.optional import skip_or_fail
from tests.processes import output_of

# Not optimised, so that each condition of a decision is a branch of its own.
FLAGS = ("-O0", "--coverage", "-fstack-usage")
# What docs/reference/safety-manual.md promises, in bytes.
MOST_STACK = 640


@pytest.fixture(scope="module")
def folder(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Run the program that calls every function, and return where the compiler and the run left what they counted."""
    request.getfixturevalue("provers_or_skip")
    require_compiler(request)
    sources = extracted(tmp_path_factory)
    folder = tmp_path_factory.mktemp("sonnx-c-coverage")
    text, made = folder / "main.c", folder / "program"
    text.write_text(program(), encoding="utf-8")
    library = build(folder, sources, FLAGS)
    output_of([COMPILER, "-std=c11", "-I", sources[0].parent, "--coverage", text, library, "-o", made])
    output_of([made])
    return folder


@pytest.fixture(scope="module")
def covered(request: pytest.FixtureRequest, folder: Path) -> dict[str, Any]:
    """Return each line of the library that has a statement, as gcov tells of it, by file and number."""
    if shutil.which("gcov") is None:
        skip_or_fail(request, "gcov, which comes with gcc")
    data = sorted(folder.glob("*.gcda"))
    told = output_of(["gcov", "--branch-probabilities", "--json-format", "--stdout", *data], cwd=folder)
    files = [file for document in told.splitlines() for file in json.loads(document)["files"]]
    return {
        f"{Path(file['file']).name}:{line['line_number']}": line
        for file in files
        if file["file"].endswith(".c") and not file["file"].endswith("main.c")
        for line in file["lines"]
    }


class TestCoverage:
    """Statement coverage and MC/DC."""

    def test_every_statement(self, covered: dict[str, Any]) -> None:
        names = {C_NAMES.get(name, name) for name in NAMES}
        assert {place.partition(".")[0] for place in covered} == names
        assert [place for place, line in covered.items() if line["count"] == 0] == []

    def test_every_branch(self, covered: dict[str, Any]) -> None:
        """Either way of every condition; for decisions of `&&` alone, that is MC/DC."""
        branches = [(place, branch["count"]) for place, line in covered.items() for branch in line["branches"]]
        assert len(branches) >= 100
        assert [place for place, count in branches if count == 0] == []

    def test_no_decision_has_an_or(self, folder: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
        """With one, either way of every condition would not be MC/DC."""
        assert [file.name for file in extracted(tmp_path_factory) if "||" in file.read_text("utf-8")] == []


class TestStack:
    """What a call takes of the stack, as the compiler counts it."""

    def test_there_is_a_bound(self, folder: Path) -> None:
        lines = [line for file in folder.glob("*.su") for line in file.read_text("utf-8").splitlines()]
        functions = [line.split("\t") for line in lines if not line.startswith("main.c")]
        assert {kind for _, _, kind in functions} <= {"static", "dynamic,bounded"}
        # No function calls itself, and no chain of calls is longer than three: the function, its loop, the quotient.
        assert 3 * max(int(size) for _, size, _ in functions) <= MOST_STACK
