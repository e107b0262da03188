"""The help: examples that run, exit codes, `-h` everywhere, and completion in three shells."""

from __future__ import annotations

import os
import shlex
import sys
from collections.abc import Callable
from pathlib import Path
from typing import get_args

import pytest
import typer

from tests.cases import case
from tests.processes import run
from vinculum.cli.help import COMMANDS, EXIT_CODES, OPTIONS, commands
from vinculum.cli.main import app
from vinculum.cli.options import Engine
from vinculum.models import model

ROOT = Path(__file__).parents[2]
EXAMPLES = {
    command.__name__: examples
    for panel in COMMANDS.values()
    for command, examples in panel.items()
    if not isinstance(command, typer.Typer)
}
FEW = 9  # Options that fit on a screen under one heading.
# These take seconds; other tests run them with fewer cases.
NOT_RUN = {"conform", "fingerprint", "report", "audit", "harden"}


def said(*words: str, **environment: str) -> str:
    done = run(
        [sys.executable, "-m", "vinculum", *words], env={**os.environ, "COLUMNS": "100", **environment}, cwd=ROOT
    )
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    return str(done.stdout)


def test_short_option_examples_and_exit_codes(here: Callable[..., int], capsys: pytest.CaptureFixture[str]) -> None:
    for command, examples in EXAMPLES.items():
        with case(command):
            texts = []
            for option in ("-h", "--help"):
                assert here(command, option) == 0
                told = capsys.readouterr()
                assert told.err == ""
                texts.append(" ".join(told.out.split()).replace(" │ │ ", " "))
            assert texts[0] == texts[1]
            assert examples
            for paragraph in (*examples, EXIT_CODES):
                assert " ".join(paragraph.split()) in texts[0]


def test_every_command_is_in_a_panel_and_so_are_many_options() -> None:
    root = commands(app, True)
    assert root.commands.keys() == EXAMPLES.keys() | {"vectors"}
    # On one line of a terminal of 80 columns, from which they are copied; two operands of `divide` are longer.
    assert max(len(each) for name in EXAMPLES for each in EXAMPLES[name] if name != "divide") <= 76
    for name, command in root.commands.items():
        assert command.rich_help_panel in COMMANDS
        with case(name):
            options = [p for p in command.params if p.param_type_name == "option"]
            assert all(" " not in (option.metavar or "") and " " in option.help for option in options)
            headings = [option for names in OPTIONS.get(name, {}).values() for option in names]
            assert len(headings) == len(set(headings))
            assert set(headings) <= {option.name for option in options}
            assert len(options) - len(headings) <= FEW


@pytest.fixture
def in_a_clone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Go to a folder with the examples, where no file is replaced."""
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    monkeypatch.chdir(tmp_path)


@pytest.mark.usefixtures("in_a_clone")
def test_examples_run(here: Callable[..., int], capsys: pytest.CaptureFixture[str]) -> None:
    """Except those with OpenVINO's files, which tests/runtimes runs."""
    run_all(here, capsys, lambda example: ".xml" not in example)


def run_all(here: Callable[..., int], capsys: pytest.CaptureFixture[str], wanted: Callable[[str], bool]) -> None:
    """Fail unless each wanted example succeeds and prints something."""
    every = (example for command, examples in EXAMPLES.items() if command not in NOT_RUN for example in examples)
    for example in filter(wanted, every):
        name, *words = shlex.split(example.replace("/tmp/", ""))  # in the test's own folder
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
    """Fail unless there is a script for the shell, and the choices of an option are completed."""
    assert "_VINCULUM_COMPLETE=complete_" in said(_VINCULUM_COMPLETE=f"source_{shell}")
    choices = said(_VINCULUM_COMPLETE=f"complete_{shell}", **ASKED[shell])
    for engine in get_args(Engine):
        assert engine in choices


def test_engines_are_the_models() -> None:
    assert get_args(Engine) == get_args(model.Engine)
