"""The progress bar appears on a terminal only, after a second, and disappears at the end."""

from __future__ import annotations

import re
import threading
from functools import partial
from io import StringIO
from itertools import count

import pytest
from rich.console import Console
from rich.progress import Progress

from vinculum.reporting import progress as module
from vinculum.reporting.progress import progress

LIMIT = 60.0  # Seconds; only a failure takes so long.


class Terminal(StringIO):
    """A terminal that records its output, and lets tests wait for it."""

    def __init__(self) -> None:
        super().__init__()
        self._written = threading.Condition()

    def write(self, text: str) -> int:
        with self._written:
            self._written.notify_all()
            return super().write(text)

    def wait_for(self, pattern: str, times: int = 1) -> None:
        """Wait until a number of different texts match a pattern."""
        with self._written:
            assert self._written.wait_for(lambda: len(set(re.findall(pattern, self.getvalue()))) >= times, LIMIT)


@pytest.fixture
def written(monkeypatch: pytest.MonkeyPatch) -> Terminal:
    """Replace standard error by a terminal, and let bars appear at once."""
    file = Terminal()
    monkeypatch.setattr(module, "console", lambda stderr: Console(file=file, force_terminal=True, _environ={}))
    monkeypatch.setattr(module, "_PATIENCE", 0.001)
    return file


def test_a_long_task_on_a_terminal(written: Terminal) -> None:
    with progress("Running", 2) as advance:
        advance(1, "1 [red]division done")
        written.wait_for(r"1 \[red\]division done")
    assert "Running" in written.getvalue()
    assert written.getvalue().endswith("\x1b[2K")


def test_the_clock_runs_on_after_the_last_step(written: Terminal, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "Progress", partial(Progress, get_time=partial(next, count())))
    with progress("Running", 1) as advance:
        advance(1, "1 division done")
        written.wait_for(r"\d:\d\d:\d\d", times=4)


def test_a_short_task_shows_nothing(written: Terminal, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_PATIENCE", LIMIT)
    with progress("Running", 2) as advance:
        advance(1, "1 division done")
    assert written.getvalue() == ""


def test_nothing_without_a_terminal(written: Terminal, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "console", lambda stderr: Console(file=written, _environ={}))
    before = threading.active_count()
    with progress("Running", 2) as advance:
        advance(1, "1 division done")
        assert threading.active_count() == before, "nothing is to come"
    assert written.getvalue() == ""


def test_an_error_ends_the_bar(written: Terminal) -> None:
    before = set(threading.enumerate())

    def work() -> None:
        with progress("Running", 2) as advance:
            advance(1, "1 division done")
            written.wait_for("1 division done")
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        work()
    for thread in set(threading.enumerate()) - before:
        thread.join(LIMIT)
        assert not thread.is_alive(), "it would write again"
