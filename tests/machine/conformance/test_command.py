"""Programs behind `command:` that take time or memory, and the example in C, which is compiled."""

from __future__ import annotations

import os
import platform
import shutil
from pathlib import Path

import pytest

from tests.conformance.runtimes.test_command import FIVE_THIRDS, asked, command
from tests.optional import skip_or_fail
from tests.processes import run
from vinculum.conformance.cases.case import Level
from vinculum.conformance.run.planning import plan
from vinculum.conformance.run.record import Selection
from vinculum.conformance.run.suite import survey
from vinculum.conformance.run.verdict import Kind
from vinculum.sandbox import End, Limits

pytestmark = pytest.mark.skipif(os.name != "posix", reason="Windows has no signals, and no such programs")

SOURCE = Path(__file__).parents[3] / "examples" / "divider.c"


class TestEnds:
    """However it ends, that is what became of the one operation."""

    def test_its_output_is_closed(self) -> None:
        ends = asked(command("--close"), FIVE_THIRDS, FIVE_THIRDS, FIVE_THIRDS)
        words = "it closed its standard output without an answer"
        assert ends == [(End.RETURNED, ""), (End.CRASHED, words), (End.RETURNED, "")]

    def test_a_hang(self) -> None:
        limits = Limits(seconds=2.0)
        assert asked(command("--hang"), FIVE_THIRDS, FIVE_THIRDS, limits=limits)[1] == (
            End.HUNG,
            "no answer within 2 seconds",
        )

    def test_memory(self) -> None:
        limits = Limits(memory=400 << 20)
        assert asked(command("--eat"), FIVE_THIRDS, FIVE_THIRDS, limits=limits)[1] == (
            End.OUT_OF_MEMORY,
            "it took more than 400 MiB of memory",
        )


class TestInC:
    """The example in C: built as its page says, asked the suite, and its death is a crash of the runtime."""

    @pytest.fixture
    def compiler(self, request: pytest.FixtureRequest) -> str:
        """Return the path of a C compiler; without it skip the test, or fail it under ``--require-all``."""
        found = shutil.which("cc")
        if found is None:
            skip_or_fail(request, "a C compiler")
        return found

    @staticmethod
    def built(compiler: str, source: str, folder: Path) -> str:
        """Return the backend of a program in C."""
        (folder / "divider.c").write_text(source)
        command = [compiler, "-O2", "-Wall", "-Wextra", "-Werror", "-o", f"{folder}/divider", f"{folder}/divider.c"]
        built = run(command)
        assert built.returncode == 0, built.stderr
        return f"command:{folder}/divider"

    def test_asked(self, compiler: str, tmp_path: Path) -> None:
        backend = self.built(compiler, SOURCE.read_text(encoding="utf-8"), tmp_path)
        selection = Selection(Level.QUICK, ("Div-14/float/*", "Div-14/int32/*"))
        report = survey(plan(backend, selection), workers=1)
        kinds = {result.verdict.kind for result in report.results}
        assert kinds <= {Kind.EXACT, Kind.REFUSED_AS_REQUIRED, Kind.UNSUPPORTED, Kind.CRASHED}
        assert sum(result.verdict.kind is Kind.EXACT for result in report.results) > 10
        crashed = [result for result in report.results if result.verdict.kind is Kind.CRASHED]
        assert {result.verdict.said for result in crashed} <= {"SIGFPE"}
        # Only some processors trap.
        assert platform.machine() != "x86_64" or any("MIN divided by -1" in str(result.id) for result in crashed)
