"""The programs of ``proofs.checking`` run without other packages, and stop all processes that they started."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from proofs.checking import children
from proofs.checking.provers import ProofError, require_installed
from proofs.checking.recorded import REPLAYING
from tests.processes import LIMIT, output_of, python, run, started

ROOT = Path(__file__).parents[3]
SLEEPER = "sleep 1000 & echo started >> {}; wait"
# It starts two processes, each of which waits for a child process.
WORKING = """
import sys
from proofs.checking import children, ending, jobs
jobs.AT_ONCE = 2
work = lambda: (True, children.told(["sh", "-c", sys.argv[1]], 1000).stdout)
sys.exit(ending.ended(lambda: jobs.failures([jobs.Job("jobs", work)] * 4)))
"""


def alive(word: str) -> list[str]:
    """Return the command lines of running processes that contain a word."""
    lines = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            line = (folder / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
        except OSError:
            continue  # the process has ended
        if word in line:
            lines.append(line)
    return lines


def test_a_child_that_does_not_end_is_stopped_with_what_it_started(tmp_path: Path) -> None:
    with pytest.raises(ProofError, match=r"^sh did not end within 1 s$"):
        children.told(["sh", "-c", SLEEPER.format(tmp_path / "started")], 1)
    assert alive(str(tmp_path)) == []


@pytest.mark.parametrize("name", ["replay", "prove", "mutants", "extraction"])
def test_they_run_where_nothing_is_installed(name: str) -> None:
    """Not even NumPy is needed: `make proofs` uses the system's Python and the sources."""
    command = [sys.executable, "-S", "-m", f"proofs.checking.{name}", "--help"]
    done = run(command, cwd=ROOT, env=os.environ | {"PYTHONPATH": "src"})
    assert (done.returncode, done.stderr) == (0, "")


class TestInterruption:
    """An interruption is reported in one line, and no process is left."""

    @pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP], ids=lambda each: each.name)
    def test_programs_are_stopped(self, tmp_path: Path, number: signal.Signals) -> None:
        begun = tmp_path / "begun"
        command = [*python(WORKING), SLEEPER.format(begun)]
        with started(command, cwd=ROOT, stderr=subprocess.PIPE, text=True) as process:
            _wait_until(lambda: begun.exists() and len(begun.read_text().splitlines()) == 2)
            process.send_signal(number)
            _, told = process.communicate()
        assert (process.returncode, told) == (128 + number, "interrupted\n")
        assert alive(str(tmp_path)) == []
        assert len(begun.read_text().splitlines()) == 2, "no other job was begun"

    @pytest.mark.usefixtures("provers_or_skip")
    def test_why3_and_its_provers_are_stopped(self, tmp_path: Path) -> None:
        """Their temporary files are removed."""
        command = [sys.executable, "-m", "proofs.checking.replay", "integer_division"]
        environment = {**os.environ, "TMPDIR": str(tmp_path)}
        with started(command, cwd=ROOT, env=environment, stderr=subprocess.PIPE, text=True) as process:
            while not any(tmp_path.glob("*/why3server*")):  # provers run for seconds from then on
                assert process.poll() is None
                time.sleep(0.01)
            process.send_signal(signal.SIGTERM)
            _, told = process.communicate()
        assert (process.returncode, told) == (128 + signal.SIGTERM, "interrupted\n")
        assert alive(str(tmp_path)) == []
        assert not any(tmp_path.iterdir())


def _wait_until(condition: Callable[[], bool]) -> None:
    began = time.monotonic()
    while not condition():
        assert time.monotonic() - began < LIMIT
        time.sleep(0.01)


@pytest.mark.parametrize("says", ["Z3 version 4.8.121", "", "Z3 4"])
def test_another_version_is_named(says: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    answers = {"why3": "Why3 platform, version 1.5.1", "z3": says, "cvc4": "1.8", "cvc5": "1.0.3", "gappa": "1.4.1"}
    for package, answer in answers.items():
        program = tmp_path / package
        program.write_text(f"#!/bin/sh\necho {answer}\n")
        program.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(ProofError, match=f"^z3 is '{says or 'silent'}'; the proofs were made with 4.8.12"):
        require_installed()


def test_the_recorded_programs_are_those_that_a_replay_imports() -> None:
    listing = (
        "import sys, proofs.checking.replay\n"
        "print(*sorted(m.__file__ for n, m in sys.modules.items() if n.startswith('proofs.checking')), sep='\\n')"
    )
    command = [sys.executable, "-c", listing]
    told = output_of(command, cwd=ROOT)
    assert [Path(line).name for line in told.splitlines()] == sorted(REPLAYING)
