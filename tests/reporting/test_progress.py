"""The progress bar: on a terminal, after a while, and gone at the end."""

from __future__ import annotations

from functools import partial
from io import StringIO
from time import monotonic, sleep

import pytest
from rich.console import Console
from rich.progress import Progress

from vinculum.reporting import progress as module
from vinculum.reporting.progress import progress


@pytest.fixture
def written(monkeypatch: pytest.MonkeyPatch) -> StringIO:
    """Return what stands for standard error: a terminal, with little patience."""
    file = StringIO()
    monkeypatch.setattr(module, "console", lambda stderr: Console(file=file, force_terminal=True))
    monkeypatch.setattr(module, "_PATIENCE", 0.01)
    return file


def work(lasts: float, error: Exception | None = None) -> None:
    """Do something that lasts, and perhaps fails."""
    with progress("Running", 2) as advance:
        advance(1, "1 [red]division done")
        sleep(lasts)
        if error is not None:
            raise error


def test_a_long_task_on_a_terminal(written: StringIO) -> None:
    work(lasts=0.3)
    text = written.getvalue()
    assert "Running" in text
    assert "1 [red]division done" in text
    assert text.endswith("\x1b[2K")


def test_the_clock_runs_on_after_the_last_step(written: StringIO, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "Progress", partial(Progress, get_time=lambda: 10 * monotonic()))
    with progress("Running", 1) as advance:
        advance(1, "1 division done")
        sleep(0.13)
    assert "0:00:01" in written.getvalue()


def test_a_short_task_shows_nothing(written: StringIO, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_PATIENCE", 60)
    work(lasts=0)
    assert written.getvalue() == ""


def test_nothing_without_a_terminal(written: StringIO, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "console", lambda stderr: Console(file=written))
    work(lasts=0.1)
    assert written.getvalue() == ""


def test_an_error_ends_the_bar(written: StringIO) -> None:
    with pytest.raises(ZeroDivisionError):
        work(lasts=0.2, error=ZeroDivisionError())
    size = len(written.getvalue())
    sleep(0.3)
    assert len(written.getvalue()) == size > 0
