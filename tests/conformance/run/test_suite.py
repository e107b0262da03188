"""A run of the suite: every case that a runtime covers, once, in order, and what is said of each."""

from __future__ import annotations

import platform
import threading
from pathlib import Path

import psutil
import pytest

from tests import fake_runtime
from tests.conformance.asking import case
from tests.fake_runtime import FakeRuntime
from vinculum.conformance.cases.case import Case, CaseId, Level
from vinculum.conformance.cases.enumeration import cases
from vinculum.conformance.run import installation
from vinculum.conformance.run.installation import environment, processor, processor_features
from vinculum.conformance.run.planning import of_newest, plan
from vinculum.conformance.run.record import Selection
from vinculum.conformance.run.suite import ask, survey
from vinculum.conformance.run.verdict import Kind
from vinculum.errors import AttributeValueError
from vinculum.spec.element_types import INT32

DIVIDER = "tests.fake_runtime:FakeRuntime"
FLOORING = "tests.fake_runtime:FlooringBackend"
ONE_CLASS = "Div-14/int32/floor and truncation differ/*"
A_WHILE = 60.0


def numbered(count: int) -> list[Case]:
    """Return cases of which each is known by its quotient."""
    return [case(INT32, [[n], [1]], [n]) for n in range(count)]


class TestWhatIsAsked:
    """The cases of a level that a runtime covers and a pattern matches, in the suite's order, each once."""

    def test_patterns(self) -> None:
        patterns = (ONE_CLASS, "Reciprocal-13/float/*")
        run = survey(plan("vinculum", Selection(Level.QUICK, patterns)))
        ids = [case.id for case in cases(Level.QUICK) if any(map(case.id.matches, patterns))]
        assert [result.id for result in run.results] == ids
        assert len(ids) > 2

    def test_a_pattern_that_matches_nothing(self) -> None:
        with pytest.raises(AttributeValueError) as caught:
            plan("numpy", Selection(Level.QUICK, (ONE_CLASS, "Div-15/*")))
        message = str(caught.value)
        assert message.startswith("no case of the quick level matches '")
        assert "Div-15/*" in message
        assert ONE_CLASS not in message
        assert "\n" not in message

    def test_a_pattern_of_a_higher_level(self) -> None:
        with pytest.raises(AttributeValueError, match="the default level has one"):
            plan("numpy", Selection(Level.QUICK, ("Div-14/float/random bit patterns/*",)))

    def test_the_newest_operators_alone(self) -> None:
        newest = of_newest(plan("numpy", Selection(Level.QUICK)))
        assert {case.id.operator for case in newest.cases} == {"Div-14", "Reciprocal-13", "Divide-1"}
        (older,) = of_newest(plan("vinculum", Selection(Level.QUICK, ("Div-7/float/zeros*/equal*",)))).cases
        assert older.id.operator == "Div-7"


class TestResults:
    """A result says which case, what its clause is, what the answer is worth, and shows what does not pass."""

    def test_what_no_encoding_has_is_escaped(self) -> None:
        (one,) = ask(FakeRuntime(), numbered(1), f"{fake_runtime.__name__}:SaysSurrogates")
        assert (one.verdict.kind, one.verdict.said) == (Kind.REFUSED, "no \\ud800 kernel")

    @pytest.mark.parametrize("count", [0, 1, 40])
    @pytest.mark.parametrize("workers", [1, 2, 5])
    def test_order_is_kept(self, count: int, workers: int) -> None:
        seen: list[tuple[int, CaseId]] = []
        found = ask(
            FakeRuntime(), numbered(count), DIVIDER, workers=workers, advance=lambda n, id: seen.append((n, id))
        )
        assert [result.verdict.kind for result in found] == [Kind.EXACT] * count
        assert [n for n, _ in seen] == list(range(1, count + 1))


class TestTheEnd:
    """However a run ends, no process and no thread of it is left."""

    def test_after_an_error_of_the_caller(self) -> None:
        before = threading.active_count(), _own_children()

        def fail(done: int, id: CaseId) -> None:
            raise RuntimeError("no more")

        with pytest.raises(RuntimeError, match="no more"):
            ask(FakeRuntime(), numbered(400), DIVIDER, advance=fail)
        assert (threading.active_count(), _own_children()) == before


def _own_children() -> set[int]:
    """Return the processes of this one; other tests may keep some."""
    return {child.pid for child in psutil.Process().children()}


class TestEnvironment:
    """A run says what its answers depend on."""

    def test_the_processor_is_named(self, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
        (tmp_path / "cpuinfo").write_text("model name\t: Example CPU @ 3 GHz: fast\nflags\t\t: fpu avx2 avx512\n")
        monkeypatch.setattr(installation, "_CPUINFO", tmp_path / "cpuinfo")
        monkeypatch.setattr(platform, "machine", lambda: "AMD64")
        assert environment()["processor"] == "Example CPU @ 3 GHz: fast"
        assert environment()["processor features"] == "x86_64 avx2"

    def test_the_architecture_stands_in(self, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
        monkeypatch.setattr(installation, "_CPUINFO", tmp_path / "missing")
        monkeypatch.setattr(platform, "system", lambda: "Plan 9")
        monkeypatch.setattr(platform, "processor", lambda: "")
        monkeypatch.setattr(platform, "machine", lambda: "arm64")
        assert (processor(), processor_features()) == ("arm64", ("aarch64",))
