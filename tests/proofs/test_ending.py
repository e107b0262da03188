"""The programs of ``proofs.checking`` report their jobs, and end with one line and the right exit code."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import NoReturn

import pytest

from proofs.checking import extraction, jobs, mutants, prove, replay
from proofs.checking.ending import ended
from proofs.checking.extraction import build
from proofs.checking.jobs import Job, failures
from proofs.checking.provers import ProofError

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


@pytest.mark.parametrize(
    ("named", "said"),
    [
        ("", "not installed: gcc;"),
        ("no-such-gcc -O1", "not installed: no-such-gcc;"),
        ("gcc '", "CC=gcc ' is no command: no closing quotation"),
    ],
)
def test_no_compiler(named: str, said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setenv("CC", named)
    with pytest.raises(ProofError, match=said):
        build(tmp_path, [])


@pytest.mark.parametrize("error", [ProofError("it is so"), OSError("it is so"), UnicodeError("it is so")])
def test_errors(error: Exception, capsys: pytest.CaptureFixture[str]) -> None:
    assert ended(partial(raised, error)) == 2
    assert capsys.readouterr().err == "error: it is so\n"
    with pytest.raises(ZeroDivisionError):  # a bug of ours is shown with its traceback
        ended(partial(raised, ZeroDivisionError()))


def raised(error: Exception) -> NoReturn:
    raise error


class TestJobs:
    """Each job is reported in a line, and failures are counted."""

    def test_in_their_order(self, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
        monkeypatch.setattr(jobs, "AT_ONCE", 1)

        def work(letter: str) -> tuple[bool, str]:
            begun.append(letter)
            return letter != "b", letter

        begun: list[str] = []
        assert failures([Job("letters", partial(work, letter)) for letter in "abcdefgh"]) == 1
        assert begun == sorted(capsys.readouterr().out.split()) == [*"abcdefgh"]

    def test_a_bug_of_ours_ends_them(self) -> None:
        with pytest.raises(ZeroDivisionError):
            failures([Job("a", partial(raised, ZeroDivisionError()))])
