"""The command itself: help, version, the pages of the specification, wrong usage, and what it writes to."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable

import pytest

from tests.processes import python, run, started
from vinculum import __version__

Vinculum = Callable[..., subprocess.CompletedProcess[str]]

ROWS = {
    **{f"Div-{version}": ("Div", "--version", version) for version in (1, 6, 7, 13, 14)},
    **{f"Reciprocal-{version}": ("Reciprocal", "--version", version) for version in (1, 6, 13)},
    "Divide-1": ("Divide",),
    **{f"SONNX Div ({v})": ("Div", "--dialect", "sonnx", "--variant", v) for v in ("real", "float", "int")},
}


class TestHelp:
    """Help names every command and option, and comes at once."""

    @pytest.mark.parametrize(
        ("arguments", "words"),
        [
            ((), ("run", "spec", "--version")),
            (("run",), ("MODEL", "--input", "--output", "--seed", "--dim", "--zero-divisor", "--overflow", "--json")),
            (("spec",), ("--version", "--against", "--dialect", "--variant", "--json")),
        ],
    )
    @pytest.mark.parametrize("columns", [80, 120])
    def test_help(self, vinculum: Vinculum, arguments: tuple[str, ...], words: tuple[str, ...], columns: int) -> None:
        done = vinculum(*arguments, "--help", columns=columns)
        assert (done.returncode, done.stderr) == (0, "")
        assert [word for word in words if word not in done.stdout] == []
        assert "\x1b" not in done.stdout
        assert max(map(len, done.stdout.splitlines())) <= columns

    def test_version(self, started_vinculum: Vinculum) -> None:
        done = started_vinculum("--version")
        assert (done.returncode, done.stdout, done.stderr) == (0, f"vinculum {__version__}\n", "")

    def test_no_command_shows_the_help(self, started_vinculum: Vinculum) -> None:
        done = started_vinculum()
        assert done.returncode == 2
        assert "Usage: vinculum" in done.stdout + done.stderr

    def test_help_imports_nothing_that_takes_long(self, environment: dict[str, str]) -> None:
        program = "import sys, vinculum.cli.main; print({'onnx', 'openvino'} & set(sys.modules))"
        assert run(python(program), env=environment).stdout == "set()\n"


class TestSpec:
    """Every row can be printed as a page and as JSON."""

    @pytest.mark.parametrize("title", ROWS)
    def test_every_row(self, vinculum: Vinculum, title: str) -> None:
        done = vinculum("spec", *ROWS[title])
        lines = [line.rstrip() for line in done.stdout.splitlines()]
        assert (done.returncode, done.stderr) == (0, "")
        assert lines[:2] == [title, "=" * len(title)]
        assert "Type constraints" in lines

    def test_json(self, vinculum: Vinculum) -> None:
        assert len(json.loads(vinculum("spec", "--json").stdout)["rows"]) == len(ROWS)

    def test_difference(self, vinculum: Vinculum) -> None:
        lines = vinculum("spec", "Div", "--version", 6, "--against", 1).stdout.splitlines()
        assert [line.rstrip() for line in lines[1:4]] == ["old version: 1", "new version: 6", "breaking: no"]


class TestWrongUsage:
    """Wrong usage: one line, exit code 2."""

    @pytest.mark.parametrize(
        ("arguments", "words"),
        [
            (("multiply",), "No such command 'multiply'"),
            (("--loud",), "No such option: --loud; see vinculum --help"),
            (("spec", "Divv"), "'Divv'"),
            (("spec", "Div", "--version", "10"), "operator set 10 uses Div-7"),
            (("spec", "Div", "--version", "six"), "--version"),
            (("spec", "Div", "Divide"), "see vinculum spec --help"),
        ],
    )
    def test_refusals(self, refused: Callable[..., str], arguments: tuple[str, ...], words: str) -> None:
        assert words in refused(*arguments)


@pytest.mark.skipif(os.name == "nt", reason="Windows has no broken pipes of this kind")
class TestStandardOutput:
    """A reader that leaves ends it quietly."""

    def test_a_reader_that_leaves(self, environment: dict[str, str]) -> None:
        command = [sys.executable, "-m", "vinculum", "spec"]
        pipe = subprocess.PIPE
        with started(command, stdout=pipe, stderr=pipe, env=environment) as process:
            assert process.stdout is not None
            assert process.stderr is not None
            process.stdout.close()
            complaints = process.stderr.read()
            process.wait()
        assert (process.returncode, complaints) == (-signal.SIGPIPE, b"")
