"""Work is told of as it is done; tests/machine/proofs stops programs."""

from __future__ import annotations

import io
from functools import partial

import pytest

from proofs.checking import jobs
from proofs.checking.jobs import Job, Progress, failures


class Terminal(io.StringIO):
    """A stream that somebody watches."""

    def isatty(self) -> bool:
        return True


def job(kind: str, went_well: bool = True) -> Job:
    return Job(kind, lambda: (went_well, f"{kind} done"))


class TestProgress:
    """One line that is rewritten on a terminal; elsewhere one now and then."""

    JOBS = (job("theories"), job("theories"), job("false variants"))

    def test_on_a_terminal(self) -> None:
        stream, now = Terminal(), 0.0
        progress = Progress(self.JOBS, stream, lambda: now)
        progress.show()
        now = 80.2
        progress.done("theories")
        progress.show()
        progress.clear()
        first, second = "theories 0/2, false variants 0/1, 0 min 0 s", "theories 1/2, false variants 0/1, 1 min 20 s"
        assert stream.getvalue() == f"\r\x1b[K{first}\r\x1b[K{second}\r\x1b[K"

    def test_elsewhere(self) -> None:
        stream, now = io.StringIO(), 0.0
        progress = Progress(self.JOBS, stream, lambda: now)
        for now in range(61):  # noqa: B007  # the clock reads it
            progress.show()
        progress.clear()
        lines = stream.getvalue().splitlines()
        assert lines == [f"theories 0/2, false variants 0/1, {t // 60} min {t % 60} s" for t in (15, 30, 45, 60)]


class TestFailures:
    """Each job is told in a line, and those that fail are counted."""

    def test_they_are_counted_and_told(self, capsys: pytest.CaptureFixture[str]) -> None:
        assert failures([job("a"), job("b", went_well=False), job("c", went_well=False)]) == 2
        assert sorted(capsys.readouterr().out.splitlines()) == ["a done", "b done", "c done"]

    def test_nothing_to_do(self, capsys: pytest.CaptureFixture[str]) -> None:
        assert failures([]) == 0
        assert capsys.readouterr() == ("", "")

    def test_the_first_ones_come_first(self, monkeypatch: pytest.MonkeyPatch) -> None:
        def work(letter: str) -> tuple[bool, str]:
            begun.append(letter)
            return True, ""

        begun: list[str] = []
        monkeypatch.setattr(jobs, "AT_ONCE", 1)
        failures([Job("letters", partial(work, letter)) for letter in "abcdefgh"])
        assert begun == list("abcdefgh")

    def test_a_mistake_of_ours_ends_it(self) -> None:
        def work() -> tuple[bool, str]:
            raise ZeroDivisionError

        with pytest.raises(ZeroDivisionError):
            failures([Job("a", work)])
