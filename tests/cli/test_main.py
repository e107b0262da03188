"""Every error becomes one line on standard error, and an exit code for its kind."""

from __future__ import annotations

import signal
import sys
from collections.abc import Iterator
from typing import NoReturn

import pytest
import typer

from vinculum.cli import main as module
from vinculum.cli.main import main
from vinculum.errors import (
    AttributeValueError,
    BroadcastError,
    DivisionByZeroError,
    ElementTypeError,
    IntegerOverflowError,
    ModelError,
    SpecLookupError,
)


@pytest.fixture(autouse=True)
def _own_process(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Undo what the command sets for its own process."""
    monkeypatch.setattr(sys, "stdout", sys.stdout)
    numbers = (signal.SIGPIPE, signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
    before = {number: signal.getsignal(number) for number in numbers}
    yield
    for number, handler in before.items():
        signal.signal(number, handler)


def fails_by(error: BaseException, monkeypatch: pytest.MonkeyPatch) -> int:
    """Return the exit code of a command that raises an error."""
    app = typer.Typer()

    @app.command()
    def command() -> NoReturn:
        raise error

    monkeypatch.setattr(module, "app", app)
    monkeypatch.setattr(sys, "argv", ["vinculum"])
    monkeypatch.setattr(sys, "warnoptions", ["error"])
    return main()


@pytest.mark.parametrize(
    ("error", "code", "line"),
    [
        (ModelError("the\n  model\t is\x1b[31m bad"), 2, "the model is\\x1b[31m bad"),
        (SpecLookupError("no row"), 2, "no row"),
        (ElementTypeError("no type"), 2, "no type"),
        (BroadcastError("no fit"), 2, "no fit"),
        (AttributeValueError("no value"), 2, "no value"),
        (DivisionByZeroError("x/0", count=1, first_index=(0,)), 1, "x/0"),
        (IntegerOverflowError("MIN/-1", count=1, first_index=(0,)), 1, "MIN/-1"),
        (FileNotFoundError(2, "No such file", "a\nb"), 2, "a b cannot be read or written: No such file"),
        (OSError(28, "No space left"), 2, "writing the report failed: No space left"),
        (MemoryError("Unable to allocate 8 EiB"), 2, "there is not enough memory: Unable to allocate 8 EiB"),
    ],
    ids=lambda value: type(value).__name__ if isinstance(value, Exception) else "",
)
def test_one_line_each(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], error: Exception, code: int, line: str
) -> None:
    monkeypatch.setattr(module, "_abandon_output", lambda: None)  # The output is pytest's own.
    assert fails_by(error, monkeypatch) == code
    assert capsys.readouterr() == ("", f"vinculum: error: {line}\n")


@pytest.mark.parametrize("columns", ["0", "-3", "wide", ""])
def test_columns_that_say_nothing(
    columns: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("COLUMNS", columns)
    monkeypatch.setattr(sys, "argv", ["vinculum", "info"])
    assert main() == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith("vinculum ")
    assert lines == [line.rstrip() for line in lines]  # Without the blanks that rich fills lines with.


def test_an_interruption(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    assert fails_by(KeyboardInterrupt(), monkeypatch) == 130
    assert capsys.readouterr().err.split() == ["vinculum:", "interrupted"]


@pytest.mark.skipif(not hasattr(signal, "SIGHUP"), reason="Windows has other signals")
@pytest.mark.parametrize(("number", "code"), [(signal.SIGTERM, 143), (getattr(signal, "SIGHUP", 0), 129)])
def test_another_signal(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], number: int, code: int
) -> None:
    monkeypatch.setattr(module, "_ended_by", [])
    with pytest.raises(KeyboardInterrupt) as interruption:
        module._terminate(number, None)
    assert fails_by(interruption.value, monkeypatch) == code
    assert capsys.readouterr().err == "vinculum: interrupted\n"


@pytest.mark.parametrize("error", [ImportError("umath failed to import"), ModelError("no package onnx")])
def test_an_error_that_was_made_of_an_interruption(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], error: Exception
) -> None:
    monkeypatch.setattr(module, "_ended_by", [signal.SIGINT])
    assert fails_by(error, monkeypatch) == 130
    assert capsys.readouterr().err == "vinculum: interrupted\n"


@pytest.mark.skipif(not hasattr(signal, "SIGHUP"), reason="Windows has other signals")
def test_nohup_is_respected(monkeypatch: pytest.MonkeyPatch) -> None:
    signal.signal(signal.SIGHUP, signal.SIG_IGN)
    assert fails_by(KeyboardInterrupt(), monkeypatch) == 130
    assert signal.getsignal(signal.SIGHUP) is signal.SIG_IGN


def test_a_mistake_of_ours_is_not_hidden(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    assert fails_by(ValueError("unforeseen"), monkeypatch) == 3
    lines = capsys.readouterr().err.splitlines()
    assert lines[0].startswith("Traceback")
    assert lines[-2] == "ValueError: unforeseen"
    assert "please report it" in lines[-1]
