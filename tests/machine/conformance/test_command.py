"""Programs behind `command:`: one that closes its output, and the example in C, which is compiled."""

from __future__ import annotations

import os
import platform
import shutil
from pathlib import Path

import pytest

from tests.conformance.runtimes.test_command import FIVE_THIRDS, asked, command
from tests.optional import skip_or_fail
from tests.processes import output_of
from vinculum.conformance.cases.case import Level
from vinculum.conformance.run.planning import plan
from vinculum.conformance.run.record import Kind, Selection
from vinculum.conformance.run.suite import survey
from vinculum.sandbox import End

pytestmark = pytest.mark.skipif(os.name != "posix", reason="Windows has no signals, and no such programs")

SOURCE = Path(__file__).parents[3] / "examples" / "divider.c"


def test_its_output_is_closed() -> None:
    """As any other end; but the program is waited for."""
    ends = asked(command("--close"), FIVE_THIRDS, FIVE_THIRDS, FIVE_THIRDS)
    words = "it closed its standard output without an answer"
    assert ends == [(End.RETURNED, ""), (End.CRASHED, words), (End.RETURNED, "")]


def test_the_example_in_c(request: pytest.FixtureRequest, tmp_path: Path) -> None:
    """Built as its page says, it is asked the suite, and its death is a crash of the runtime."""
    compiler = shutil.which("cc")
    if compiler is None:
        skip_or_fail(request, "a C compiler")
    output_of([compiler, "-O2", "-Wall", "-Wextra", "-Werror", "-o", tmp_path / "divider", SOURCE])
    selection = Selection(Level.QUICK, ("Div-14/float/*", "Div-14/int32/*"))
    report = survey(plan(f"command:{tmp_path}/divider", selection), workers=1)
    kinds = {result.verdict.kind for result in report.results}
    assert kinds <= {Kind.EXACT, Kind.REFUSED_AS_REQUIRED, Kind.UNSUPPORTED, Kind.CRASHED}
    assert sum(result.verdict.kind is Kind.EXACT for result in report.results) > 10
    crashed = [result for result in report.results if result.verdict.kind is Kind.CRASHED]
    assert {result.verdict.said for result in crashed} <= {"SIGFPE"}
    # Only some processors trap.
    assert platform.machine() != "x86_64" or any("MIN divided by -1" in str(result.id) for result in crashed)
