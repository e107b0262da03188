"""Runs of the suite: selected cases, order, repeated answers, processes and reproducers."""

from __future__ import annotations

import os
import platform
import sys
import threading
import time
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import psutil
import pytest

from tests import fake_runtime
from tests.conformance.asking import case, message, outcome
from tests.conformance.planted.dividers import DIVIDERS
from tests.fake_runtime import DiesOfMinByMinusOne, FakeRuntime
from vinculum.conformance.arithmetic import Answered
from vinculum.conformance.cases.case import Case, CaseId, Level
from vinculum.conformance.cases.enumeration import cases
from vinculum.conformance.cases.operation import Operation
from vinculum.conformance.run import installation
from vinculum.conformance.run.installation import environment, processor, processor_features
from vinculum.conformance.run.judgement import judge
from vinculum.conformance.run.planning import of_newest, plan
from vinculum.conformance.run.record import Kind, Selection
from vinculum.conformance.run.suite import ask, shrunk, survey
from vinculum.errors import AttributeValueError
from vinculum.sandbox import Answer, End, Limits, isolated
from vinculum.sandbox.process import ChildProcess
from vinculum.spec.element_types import FLOAT, INT32
from vinculum.spec.onnx_div import DIV_6

DIVIDER = "tests.fake_runtime:FakeRuntime"
ONE_CLASS = "Div-14/int32/floor and truncation differ/*"
A_WHILE = 60.0


def numbered(count: int) -> list[Case]:
    """Return cases with different quotients."""
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
        for idle, advice in (
            ("Div-15/*", "an id reads"),
            ("Div-14/float/random bit patterns/*", "the default level has"),
        ):
            line = message(AttributeValueError, partial(plan, "numpy", Selection(Level.QUICK, (ONE_CLASS, idle))))
            assert line.startswith(f"no case of the quick level matches '{idle}'; {advice}")

    def test_the_newest_operators_alone(self) -> None:
        newest = of_newest(plan("numpy", Selection(Level.QUICK)))
        assert {case.id.operator for case in newest.cases} == {"Div-14", "Reciprocal-13", "Divide-1"}
        (older,) = of_newest(plan("vinculum", Selection(Level.QUICK, ("Div-7/float/zeros*/equal*",)))).cases
        assert older.id.operator == "Div-7"


class TestResults:
    """Results keep the order of the cases, and contain only text that can be encoded."""

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


def test_after_an_error_of_the_caller() -> None:
    """However a run ends, it leaves no process and no thread."""
    before = threading.active_count(), _own_children()

    def fail(done: int, id: CaseId) -> None:
        raise RuntimeError("no more")

    with pytest.raises(RuntimeError, match="no more"):
        ask(FakeRuntime(), numbered(400), DIVIDER, advance=fail)
    assert (threading.active_count(), _own_children()) == before


def _own_children() -> set[int]:
    """Return the child processes; other tests may keep some."""
    return {child.pid for child in psutil.Process().children()}


class TestEnvironment:
    """A run records the processor and its features."""

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


SHORT = Limits(seconds=0.5)


class Fails(FakeRuntime):
    """It fails in the calls with given numbers, counted in its process, or in a file for all processes."""

    def __init__(self, what: str, calls: list[int] | None, counter: str = "") -> None:
        self._what, self._calls, self._counter = what, calls, Path(counter)
        self._own = 0

    def look(self, operation: Operation) -> None:
        self._own += 1
        if self._counter.name:
            self._own = len(self._counter.read_bytes()) + 1 if self._counter.exists() else 1
            self._counter.write_bytes(bytes(self._own))
        if self._calls is not None and self._own not in self._calls:
            return
        if self._what == "dies":
            os._exit(7)
        if self._what == "hangs":
            time.sleep(60)
        if self._what == "refuses":
            raise ValueError(f"not at {id(operation):#x}")

    def quotients(self, operation: Operation, a: Any, b: Any) -> Any:
        failing = self._calls is None or self._own in self._calls
        quotients = super().quotients(operation, a, b)
        if self._what == "unspecified" and failing:
            return np.where(b == 0, self._own, quotients + 1).astype(a.dtype)
        return (quotients + (self._what == "is wrong" and failing)).astype(a.dtype)


def asked(what: str, calls: list[int] | None, *chosen: Case, counter: Path | None = None) -> tuple[Answered, ...]:
    arguments = (what, calls, str(counter or ""))
    return ask(FakeRuntime(), chosen, f"{__name__}:Fails", *arguments, workers=1, limits=SHORT)


def one() -> Case:
    return case(INT32, [[6, 9, 8], [2, 3, 2]], [3, 3, 4])


@pytest.mark.parametrize(
    ("what", "said"), [("is wrong", "wrong value"), ("dies", "crashed (exit code 7)"), ("refuses", "refused")]
)
def test_of_answers_that_differ_the_first_alone_is_told(what: str, said: str, tmp_path: Path) -> None:
    """The verdict says that answers differ; the rest is that of the first answer."""
    (found,) = asked(what, [1], one(), counter=tmp_path / "calls")
    assert (found.verdict.kind, found.verdict.said) == (Kind.DIFFERS, f"{said}, exact")
    assert found.verdict.kind.deviates
    assert found.verdict.differing == (3 if what == "is wrong" else 0)
    assert found.reproducer == (
        "# The answers to this differ from one run to the next, so it may print the right quotients.\n# Div-14"
    )


class TestAnswersThatStay:
    """The verdict stays if the repeated answers agree."""

    @pytest.mark.parametrize(
        ("what", "kind"), [("is wrong", Kind.WRONG_VALUE), ("refuses", Kind.REFUSED), ("dies", Kind.CRASHED)]
    )
    def test_the_verdict(self, what: str, kind: Kind) -> None:
        (found,) = asked(what, None, one())
        assert found.verdict.kind is kind
        assert found.reproducer == "# Div-14"

    def test_how_often_is_asked(self, tmp_path: Path) -> None:
        """A wrong quotient is asked four times: twice, in a new process, and for the reproducer; a crash twice."""
        for what, times in (("is wrong", 4), ("dies", 2), ("nothing", 1)):
            asked(what, None, one(), counter=tmp_path / what)
            assert len((tmp_path / what).read_bytes()) == times

    def test_a_hang_is_not_repeated(self, tmp_path: Path) -> None:
        (found,) = asked("hangs", None, one(), counter=tmp_path / "calls")
        assert found.verdict.kind is Kind.HUNG
        assert len((tmp_path / "calls").read_bytes()) == 1
        assert found.reproducer is not None
        assert found.reproducer.startswith("# This did not end within the time limit; it was not run again")


class Copied(DiesOfMinByMinusOne):
    """It also divides in a copy of its process."""

    survives_fork = True


@pytest.mark.skipif(sys.platform != "linux", reason="processes are copied on Linux only")
@pytest.mark.parametrize(("divider", "started"), [("Copied", 3), ("DiesOfMinByMinusOne", 11)])
def test_how_many_processes_are_started(divider: str, started: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """After a crash, cases of that element type that may crash too run in copies of the process."""
    counted: list[ChildProcess] = []

    class Counted(ChildProcess):
        def __init__(self) -> None:
            counted.append(self)
            super().__init__()

    monkeypatch.setattr(isolated, "ChildProcess", Counted)
    dying = case(INT32, [[7, -(2**31)], [2, -1]], [3, -(2**31)], unspecified=[False, True])
    right = case(INT32, [[7, 6], [2, 0]], [3, 0], unspecified=[False, True])
    found = ask(FakeRuntime(), [*[dying] * 5, right], f"{__name__}:{divider}", workers=1)
    assert [one.verdict.kind for one in found] == [Kind.CRASHED] * 5 + [Kind.UNSPECIFIED]
    assert {one.verdict.said for one in found[:5]} == {"SIGFPE"}
    assert len(counted) == started


MANY = 40
NUMBERS = range(MANY)
WRONG = case(INT32, [[6, -7, 8], [2, 2, 2]], [3, -3, 4])
SQUARE = np.arange(9).reshape(3, 3)
LAID = case(INT32, [SQUARE, [1, 2, 3]], SQUARE // [[1], [2], [3]], spec=DIV_6, attributes={"broadcast": 1, "axis": 0})
ONE_ZERO = np.arange(MANY) != 7


class Refuses(FakeRuntime):
    """It refuses every operation; the message may contain the number of different dividends."""

    def __init__(self, words: str) -> None:
        self._words = words

    def look(self, operation: Operation) -> None:
        raise ValueError(self._words.format(len(set(operation.operands[0].tolist()))))


CountsDividends = fake_runtime.dividing("", lambda divide, a, b: divide(a, b) + len(set(a.tolist())))
"""It adds the number of different dividends to each quotient."""


class TestOneNumberEach:
    """A reproducer's operands hold one number each, in their own shapes, if that gives the same verdict."""

    @pytest.mark.parametrize(
        ("runtime", "one", "operands"),
        [
            (fake_runtime.Floors(), WRONG, [[-7] * 3, [2] * 3]),
            (
                DIVIDERS["dies of x / 0"].made(),
                case(INT32, [NUMBERS, ONE_ZERO], NUMBERS, unspecified=~ONE_ZERO),
                [[7] * MANY, [0] * MANY],
            ),
            (Refuses("none"), case(INT32, [NUMBERS, [3] * MANY], np.arange(MANY) // 3), [[0] * MANY, [3] * MANY]),
            # Operands that do not fit, and an attribute that is not there.
            (fake_runtime.AcceptsAll(), case(INT32, [NUMBERS, [3, 2]], None), [[0] * MANY, [3, 3]]),
            (fake_runtime.AcceptsAll(), case(INT32, [NUMBERS, [2]], None, attributes={"axis": 0}), [[0] * MANY, [2]]),
            # Operands laid in a wrong way, and other words.
            (fake_runtime.DropsAxis(), LAID, None),
            (CountsDividends(), WRONG, None),
            (Refuses("{} numbers"), case(FLOAT, [NUMBERS, [1.0] * MANY], NUMBERS), None),
        ],
    )
    def test_each(self, runtime: FakeRuntime, one: Case, operands: Any) -> None:
        assert told(runtime, one) == (operands or [operand.tolist() for operand in one.operation.operands], 1)

    @pytest.mark.parametrize("end", [End.HUNG, End.OUT_OF_MEMORY])
    def test_what_lasts_is_not_asked_again(self, end: End) -> None:
        one = case(INT32, [range(MANY), [1] * MANY], range(MANY))
        verdict = judge(one.operation, one.expectation, Answer(end, None, "too much"))
        assert verdict.kind in (Kind.HUNG, Kind.OUT_OF_MEMORY)
        assert shrunk(one.operation, one.expectation, verdict, lambda _: pytest.fail("asked again")) is None


def told(runtime: FakeRuntime, one: Case) -> tuple[list[Any], int]:
    """Return the operands of the reproducer, and how often the runtime was asked to find them."""
    times = 0

    def answer(operation: Operation) -> Answer:
        nonlocal times
        times += 1
        return outcome(runtime.answer, operation)

    verdict = judge(one.operation, one.expectation, answer(one.operation))
    assert not verdict.kind.passes
    operation = shrunk(one.operation, one.expectation, verdict, answer) or one.operation
    return [operand.tolist() for operand in operation.operands], times - 1
