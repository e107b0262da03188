"""The programs of ``proofs.checking`` end with one line and the right exit code."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from proofs.checking import extraction, mutants, prove, replay
from proofs.checking.ending import ended
from proofs.checking.provers import ProofError, require_installed
from tests.processes import run, started
from tests.proofs.test_jobs import alive

ROOT = Path(__file__).parents[2]
PROGRAMS = {"replay": replay.main, "prove": prove.main, "mutants": mutants.main, "extraction": extraction.main}


def one_line(words: list[str], capsys: pytest.CaptureFixture[str]) -> str:
    """Run a program that ends with exit code 2, and return the one line that it prints."""
    try:
        code: object = PROGRAMS[words[0]](words[1:])
    except SystemExit as ending:
        code = ending.code
    told = capsys.readouterr()
    assert (code, told.out, told.err.count("\n")) == (2, "", 1)
    return told.err


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        (["prove", "divisoin"], "no theory is called 'divisoin'; there are: accuracy,"),
        (["mutants", "divisoin"], "no false variants of divisoin are listed"),
        (["replay", "--record"], "--record needs --all"),
        (["replay", "--all", "tensor"], "--all replays everything: name no theory beside it"),
        (["replay", "--everything"], "unrecognized arguments: --everything"),
        (["extraction"], "the following arguments are required: FOLDER"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_a_wrong_command_line(words: list[str], complaint: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert one_line(words, capsys).startswith(f"error: {complaint}")


def test_an_unknown_theory(tmp_path: Path) -> None:
    (tmp_path / "theories").mkdir()
    (tmp_path / "theories" / "tensor.mlw").touch()
    with pytest.raises(ProofError, match="no theory is called divisoin; there are: tensor"):
        replay.replay_named(tmp_path, tmp_path, ["tensor", "divisoin"])


@pytest.mark.parametrize("words", [[name, "tensor"] for name in PROGRAMS], ids=PROGRAMS)
def test_no_provers(
    words: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    assert one_line(words, capsys).startswith("error: not installed: why3")


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_program_is_a_module(name: str) -> None:
    command = [sys.executable, "-m", f"proofs.checking.{name}", "--no-such-option"]
    told = run(command, cwd=ROOT)
    assert (told.returncode, told.stdout) == (2, "")
    assert told.stderr.startswith("error: ")


class TestEnded:
    """0 and 1 are the program's own; 2 and 130 are told in one line."""

    @pytest.mark.parametrize("code", [0, 1])
    def test_a_finding(self, code: int, capsys: pytest.CaptureFixture[str]) -> None:
        assert ended(lambda: code) == code
        assert capsys.readouterr().err == ""

    @pytest.mark.parametrize("error", [ProofError("it is so"), OSError("it is so"), UnicodeError("it is so")])
    def test_what_keeps_it_from_its_work(self, error: Exception, capsys: pytest.CaptureFixture[str]) -> None:
        def program() -> int:
            raise error

        assert ended(program) == 2
        assert capsys.readouterr().err == "error: it is so\n"

    def test_a_mistake_of_ours_is_shown_whole(self) -> None:
        def program() -> int:
            raise ZeroDivisionError

        with pytest.raises(ZeroDivisionError):
            ended(program)


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
