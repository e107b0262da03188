"""The programs of ``proofs.checking`` are modules, can be interrupted, and name other versions of what they call."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from proofs.checking.provers import ProofError, require_installed
from proofs.checking.recorded import REPLAYING
from tests.machine.proofs.test_jobs import alive
from tests.processes import output_of, run, started

ROOT = Path(__file__).parents[3]


@pytest.mark.parametrize("name", ["replay", "prove", "mutants", "extraction"])
def test_a_program_is_a_module(name: str) -> None:
    command = [sys.executable, "-m", f"proofs.checking.{name}", "--no-such-option"]
    told = run(command, cwd=ROOT)
    assert (told.returncode, told.stdout) == (2, "")
    assert told.stderr.startswith("error: ")


@pytest.mark.usefixtures("provers_or_skip")
def test_an_interruption(tmp_path: Path) -> None:
    """Why3 and its provers are stopped, and what they left is removed."""
    command = [sys.executable, "-m", "proofs.checking.replay", "integer_division"]
    environment = {**os.environ, "TMPDIR": str(tmp_path)}
    with started(command, cwd=ROOT, env=environment, stderr=subprocess.PIPE, text=True) as process:
        while not any(tmp_path.glob("*/why3server*")):  # then a prover is called, and others for seconds
            assert process.poll() is None
            time.sleep(0.01)
        process.send_signal(signal.SIGTERM)
        _, told = process.communicate()
    assert (process.returncode, told) == (128 + signal.SIGTERM, "interrupted\n")
    assert alive(str(tmp_path)) == []
    assert not any(tmp_path.iterdir())


class TestVersions:
    """Another version of Why3 or of a prover is named."""

    @pytest.mark.parametrize(
        ("says", "named"), [("Z3 version 4.8.121", "'Z3 version 4.8.121'"), ("", "'silent'"), ("Z3 4", "'Z3 4'")]
    )
    def test_another_version(self, says: str, named: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        answers = {"why3": "Why3 platform, version 1.5.1", "z3": says, "cvc4": "1.8", "cvc5": "1.0.3", "gappa": "1.4.1"}
        for package, answer in answers.items():
            program = tmp_path / package
            program.write_text(f"#!/bin/sh\necho {answer}\n")
            program.chmod(0o755)
        monkeypatch.setenv("PATH", str(tmp_path))
        with pytest.raises(ProofError, match=f"^z3 is {named}; the proofs were made with 4.8.12"):
            require_installed()


def test_the_programs_that_count_are_those_that_a_replay_runs() -> None:
    listing = (
        "import sys, proofs.checking.replay\n"
        "print(*sorted(m.__file__ for n, m in sys.modules.items() if n.startswith('proofs.checking')), sep='\\n')"
    )
    command = [sys.executable, "-c", listing]
    told = output_of(command, cwd=ROOT)
    assert [Path(line).name for line in told.splitlines()] == sorted(REPLAYING)
