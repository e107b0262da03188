"""What the help tells: examples that run, exit codes, `-h` everywhere, and completion in three shells."""

from __future__ import annotations

import os
import shlex
import sys
from collections.abc import Callable
from pathlib import Path
from typing import get_args

import pytest

from tests.processes import run
from vinculum.cli.help import EXAMPLES, EXIT_CODES
from vinculum.cli.main import app
from vinculum.cli.options import Engine
from vinculum.models import model

ROOT = Path(__file__).parents[2]
COMMANDS = [command.name or command.callback.__name__ for command in app.registered_commands if command.callback]
# What takes seconds, and runs elsewhere with less to do; and what wants arrays.
NOT_RUN = {"conform", "fingerprint", "report", "audit", "harden", "divide"}


def said(*words: str, **environment: str) -> str:
    """Return what the command prints."""
    done = run(
        [sys.executable, "-m", "vinculum", *words], env={**os.environ, "COLUMNS": "100", **environment}, cwd=ROOT
    )
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    return str(done.stdout)


def test_each_command_has_examples() -> None:
    assert set(COMMANDS) == set(EXAMPLES)


@pytest.mark.parametrize("command", COMMANDS)
def test_short_option_examples_and_exit_codes(
    command: str, here: Callable[..., int], capsys: pytest.CaptureFixture[str]
) -> None:
    texts = []
    for option in ("-h", "--help"):
        assert here(command, option) == 0
        said = capsys.readouterr()
        assert said.err == ""
        texts.append(" ".join(said.out.split()))
    text, long = texts
    assert text == long
    for paragraph in (*EXAMPLES[command], EXIT_CODES):
        assert " ".join(paragraph.split()) in text.replace(" │ │ ", " ")


@pytest.fixture
def in_a_clone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Go where the examples are, and where nothing is written over."""
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    monkeypatch.chdir(tmp_path)


@pytest.mark.usefixtures("in_a_clone")
@pytest.mark.parametrize("command", [name for name in COMMANDS if name not in NOT_RUN])
def test_examples_run(command: str, here: Callable[..., int], capsys: pytest.CaptureFixture[str]) -> None:
    """But for those of OpenVINO's files, which run in tests/runtimes."""
    run_all([example for example in EXAMPLES[command] if ".xml" not in example], here, capsys)


def run_all(examples: list[str], here: Callable[..., int], capsys: pytest.CaptureFixture[str]) -> None:
    """Fail unless each ends well and says something."""
    for example in examples:
        name, *words = shlex.split(example)
        assert (name, here(*words)) == ("vinculum", 0)
        said = capsys.readouterr()
        assert said.err == ""
        assert said.out


ASKED = {
    "bash": {"COMP_WORDS": "vinculum run --engine ", "COMP_CWORD": "3"},
    "zsh": {"_TYPER_COMPLETE_ARGS": "vinculum run --engine "},
    "fish": {"_TYPER_COMPLETE_ARGS": "vinculum run --engine ", "_TYPER_COMPLETE_FISH_ACTION": "get-args"},
}


def test_completion_in_bash() -> None:
    check_completion("bash")


def check_completion(shell: str) -> None:
    """Fail unless there is a script for the shell, and it is told an option's choices."""
    assert "_VINCULUM_COMPLETE=complete_" in said(_VINCULUM_COMPLETE=f"source_{shell}")
    choices = said(_VINCULUM_COMPLETE=f"complete_{shell}", **ASKED[shell])
    for engine in get_args(Engine):
        assert engine in choices


def test_engines_are_the_models() -> None:
    assert get_args(Engine) == get_args(model.Engine)
