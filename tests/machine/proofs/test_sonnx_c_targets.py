"""The extracted C library with each compiler and on each processor: the same quotients, without a system below them."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.machine.proofs.sonnx_c_costs import COMPILER_VERSION, table
from tests.machine.proofs.sonnx_c_program import program
from tests.machine.proofs.sonnx_c_targets import MICROCONTROLLERS, TARGETS, Target
from tests.processes import output_of, run

ROOT = Path(__file__).parents[3]
EXAMPLE = ROOT / "examples" / "microcontroller" / "main.c"
MANUAL = ROOT / "docs" / "reference" / "safety-manual.md"


@pytest.mark.parametrize("target", TARGETS.values(), ids=TARGETS)
class TestTargets:
    """Compiled without a warning, and run."""

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
    """Size, stack and instructions are as the manual states them."""

    def test_they_are_those_of_the_manual(
        self, request: pytest.FixtureRequest, sources: list[Path], tmp_path: Path
    ) -> None:
        for target in MICROCONTROLLERS.values():
            target.require(request)
            if not output_of([target.linker[0], "-dumpversion"]).startswith(COMPILER_VERSION):
                pytest.skip(f"optional everywhere: the manual has the figures of GCC {COMPILER_VERSION}")
        assert table(sources, tmp_path) in MANUAL.read_text(encoding="utf-8")
