"""The test program of the extracted C library, under sanitizers and on each processor."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from proofs.checking.extraction import COMPILER
from tests.machine.proofs.sonnx_c_costs import COMPILER_VERSION, table
from tests.machine.proofs.sonnx_c_program import C_NAMES, NAMES, program
from tests.machine.proofs.sonnx_c_targets import MICROCONTROLLERS, TARGETS, Target
from tests.optional import program_or_skip
from tests.processes import output_of, run

ROOT = Path(__file__).parents[3]
EXAMPLE = ROOT / "examples" / "microcontroller" / "main.c"
MANUAL = ROOT / "docs" / "reference" / "safety-manual.md"
SANITIZED = Target((COMPILER,), (COMPILER, "-fsanitize=address,undefined", "-fno-sanitize-recover=all", "-g"))
COVERED = Target((COMPILER,), (COMPILER, "--coverage"))


def _made(target: Target, sources: list[Path], folder: Path, *flags: str, every: bool = False) -> Path:
    """Compile library and program, and return the program's path."""
    main = folder / "main.c"
    main.write_text(program(every=every), encoding="utf-8")
    return target.program(main, sources[0].parent, target.library(sources, folder, *flags))


@pytest.fixture(scope="module")
def sanitized(sources: list[Path], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the program with both sanitizers."""
    folder = tmp_path_factory.mktemp("sonnx-c-sanitized")
    return _made(SANITIZED, sources, folder, *SANITIZED.linker[1:], every=True)


class TestSanitizers:
    """All quotients are right, and sanitizers report no access out of bounds and no undefined operation."""

    def test_no_report(self, sanitized: Path) -> None:
        told = run([str(sanitized)])
        assert told.stderr == ""
        assert told.returncode == 0

    @pytest.mark.parametrize(("planted", "report"), [("overrun", "heap-buffer-overflow"), ("zero", "division by zero")])
    def test_planted_errors_are_reported(self, sanitized: Path, planted: str, report: str) -> None:
        told = run([str(sanitized), planted])
        assert told.returncode != 0
        assert report in told.stderr


class TestProgram:
    """The program fails if one function has a wrong sign."""

    def test_a_wrong_quotient_is_noticed(self, sources: list[Path], tmp_path: Path) -> None:
        for source in (*sources, *sources[0].parent.glob("*.h")):
            text = source.read_text(encoding="utf-8")
            if source.name == "int64.c":
                assert text.count("return -a;") == 2
                text = text.replace("return -a;", "return a;")
            (tmp_path / source.name).write_text(text, encoding="utf-8")
        target = Target((COMPILER,), (COMPILER,))
        assert run([_made(target, sorted(tmp_path.glob("*.c")), tmp_path)]).returncode == 1


@pytest.fixture(scope="module")
def covered(
    request: pytest.FixtureRequest, sources: list[Path], tmp_path_factory: pytest.TempPathFactory
) -> dict[str, Any]:
    """Return gcov's record of each line with a statement, by file and line number."""
    program_or_skip(request, "gcov")
    folder = tmp_path_factory.mktemp("sonnx-c-coverage")
    # Without optimisation, each condition of a decision is a branch.
    output_of([_made(COVERED, sources, folder, "-O0", "--coverage")])
    data = [folder / f"{source.stem}.gcda" for source in sources]
    told = output_of(["gcov", "--branch-probabilities", "--json-format", "--stdout", *data], cwd=folder)
    files = [file for document in told.splitlines() for file in json.loads(document)["files"]]
    return {f"{Path(file['file']).name}:{line['line_number']}": line for file in files for line in file["lines"]}


class TestCoverage:
    """Statement coverage and MC/DC."""

    def test_every_statement(self, covered: dict[str, Any]) -> None:
        names = {C_NAMES.get(name, name) for name in NAMES}
        assert {place.partition(".")[0] for place in covered} == names
        assert [place for place, line in covered.items() if line["count"] == 0] == []

    def test_every_branch(self, covered: dict[str, Any], sources: list[Path]) -> None:
        """Both outcomes of each condition occur; since no decision has an or, this is MC/DC."""
        branches = [(place, branch["count"]) for place, line in covered.items() for branch in line["branches"]]
        assert len(branches) >= 100
        assert [place for place, count in branches if count == 0] == []
        assert [file.name for file in sources if "||" in file.read_text("utf-8")] == []


@pytest.mark.parametrize("target", TARGETS.values(), ids=TARGETS)
class TestTargets:
    """The library compiles without a warning, and the programs run."""

    def test_the_same_quotients(
        self, request: pytest.FixtureRequest, target: Target, sources: list[Path], tmp_path: Path
    ) -> None:
        target.require(request)
        objects = target.library(sources, tmp_path)
        main, example = tmp_path / "main.c", tmp_path / "example.c"
        main.write_text(program(), encoding="utf-8")
        example.write_bytes(EXAMPLE.read_bytes())
        for text in (main, example):
            made = target.program(text, sources[0].parent, objects)
            assert run([*target.emulator, made]).returncode == 0
        told = output_of(["nm", "-u", *objects])
        called = {line.split()[1] for line in told.splitlines() if line.split()[:1] == ["U"]}
        assert called <= target.routines, "nothing but division is called"


class TestCosts:
    """Size, stack and instructions are those of the manual."""

    def test_costs_of_the_manual(self, request: pytest.FixtureRequest, sources: list[Path], tmp_path: Path) -> None:
        for target in MICROCONTROLLERS.values():
            target.require(request)
            if not output_of([target.linker[0], "-dumpversion"]).startswith(COMPILER_VERSION):
                pytest.skip(f"optional everywhere: the manual has the figures of GCC {COMPILER_VERSION}")
        assert table(sources, tmp_path) in MANUAL.read_text(encoding="utf-8")
