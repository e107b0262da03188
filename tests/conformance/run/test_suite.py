"""A run of the suite: every case that a runtime covers, once, in order, and what is said of each."""

from __future__ import annotations

import platform
import threading
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import psutil
import pytest

import vinculum
from tests import fake_runtime
from tests.conformance.asking import case
from tests.fake_runtime import FakeRuntime
from vinculum.conformance.cases.case import Case, CaseId, Level
from vinculum.conformance.cases.enumeration import cases
from vinculum.conformance.cases.operation import Operation
from vinculum.conformance.run import installation
from vinculum.conformance.run.file import as_json, read_runs
from vinculum.conformance.run.installation import environment, processor, processor_features
from vinculum.conformance.run.planning import of_newest, plan
from vinculum.conformance.run.record import Selection
from vinculum.conformance.run.suite import ask, survey
from vinculum.conformance.run.verdict import Kind
from vinculum.conformance.runtimes.backends import runtime
from vinculum.errors import AttributeValueError, ModelError, SpecLookupError
from vinculum.spec.element_types import INT32
from vinculum.spec.model import Dialect

DIVIDER = "tests.fake_runtime:FakeRuntime"
FLOORING = "tests.fake_runtime:FlooringBackend"
ONE_CLASS = "Div-14/int32/floor and truncation differ/*"
A_WHILE = 60.0


def numbered(count: int) -> list[Case]:
    """Return cases of which each is known by its quotient."""
    return [case(INT32, [[n], [1]], [n]) for n in range(count)]


class TestWhatIsAsked:
    """The cases of a level that a runtime covers and a pattern matches, in the suite's order, each once."""

    def test_all_that_it_covers(self) -> None:
        run = survey(plan("numpy", Selection(Level.QUICK)))
        covered = [case for case in cases(Level.QUICK) if runtime("numpy").covers(case.operation)]
        assert [result.id for result in run.results] == [case.id for case in covered]
        assert {case.operation.spec.dialect for case in cases(Level.QUICK)} == set(Dialect)

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

    def test_an_unknown_runtime(self) -> None:
        with pytest.raises(SpecLookupError, match="onnxruntime"):
            survey(plan("onnx-runtime", Selection(Level.QUICK)))

    def test_a_runtime_that_cannot_be_made_there(self) -> None:
        with pytest.raises(ModelError, match="NoSuchDivider"):
            ask(FakeRuntime(), numbered(3), "tests.fake_runtime:NoSuchDivider")


class TestResults:
    """A result says which case, what its clause is, what the answer is worth, and shows what does not pass."""

    def test_a_runtime_that_is_right(self) -> None:
        run = survey(plan("vinculum", Selection(Level.QUICK, (ONE_CLASS,))))
        assert (run.backend, run.title, run.selection.level) == ("vinculum", "Vinculum", Level.QUICK)
        assert run.seconds > 0
        assert run.counts() == {Kind.EXACT: len(run.results)}
        for result in run.results:
            assert (result.id.operator, result.id.element_type, result.clause) == (
                "Div-14",
                "int32",
                "truncating-division",
            )
            assert result.statement in [clause.statement for clause in _clauses("Div-14")]
            assert result.reproducer is None

    def test_a_backend_that_is_wrong(self) -> None:
        run = survey(plan(FLOORING, Selection(Level.QUICK, (ONE_CLASS,))))
        assert set(run.counts()) == {Kind.WRONG_VALUE}
        for result in run.results:
            example = result.verdict.example
            assert example is not None
            a, b = (int(number) for number in example.operands)
            assert (int(example.actual), int(example.expected)) == (a // b, a // b + 1)
            assert result.reproducer is not None
            assert example.operands[0] in result.reproducer
            assert example.operands[1] in result.reproducer

    def test_what_is_refuted_is_kept(self, tmp_path: Path) -> None:
        """Cases without a cause name the arithmetic that they are consistent with, in the file of the run too."""
        selection = Selection(Level.DEFAULT, ("Div-14/float/*/run-time operands",))
        run = survey(plan("tests.fake_runtime:LosesTheSignOfZero", selection))
        told = {result.consistent for result in run.unexplained} - {""}
        assert told
        assert all("consistent with: " in words and "passing cases refute it" in words for words in told)
        assert not any(result.consistent for result in run.results if result.cause or not result.verdict.kind.deviates)
        file = tmp_path / "run.json"
        file.write_text(as_json([run]), encoding="utf-8")
        assert read_runs(file) == (run,)

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

    def test_each_is_judged_by_its_own_quotient(self) -> None:
        asked = numbered(40)
        wrong = [case(INT32, [[7], [1]], [n]) for n in range(8)]
        found = ask(FakeRuntime(), [*asked, *wrong], DIVIDER)
        kinds = [result.verdict.kind for result in found]
        assert kinds == [Kind.EXACT] * 40 + [Kind.WRONG_VALUE] * 7 + [Kind.EXACT]

    def test_cases_are_made_when_they_are_needed(self) -> None:
        made: list[int] = []
        done: list[int] = []
        behind: list[int] = []

        def source() -> Iterator[Case]:
            for n, one in enumerate(numbered(20)):
                made.append(n)
                behind.append(len(made) - len(done))
                yield one

        ask(FakeRuntime(), source(), DIVIDER, workers=2, advance=lambda n, _: done.append(n))
        assert len(made) == 20
        assert max(behind) <= 3

    def test_the_reproducer_shows_the_example(self) -> None:
        class Shows(FakeRuntime):
            def reproducer(self, operation: Operation) -> str:
                return str([operand.tolist() for operand in operation.operands])

        found = ask(Shows(), [case(INT32, [[4, 9, 8], [2, 3, 2]], [2, 4, 5])], DIVIDER)
        assert found[0].reproducer == "[[8, 8, 8], [2, 2, 2]]"


def _clauses(title: str) -> Any:
    return next(case.operation.spec.clauses for case in cases(Level.QUICK) if case.operation.spec.title == title)


class TestTheEnd:
    """However a run ends, no process and no thread of it is left."""

    def test_afterwards(self) -> None:
        before = threading.active_count(), _own_children()
        ask(FakeRuntime(), numbered(4), DIVIDER, workers=3)
        assert (threading.active_count(), _own_children()) == before

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

    def test_versions(self) -> None:
        versions: Mapping[str, str] = survey(plan("numpy", Selection(Level.QUICK, ("Div-14/float/*",)))).versions
        assert versions["numpy"] == np.__version__
        assert versions["vinculum"] == vinculum.__version__
        assert versions["Python"] == platform.python_version()
        assert versions["platform"] == platform.platform()
        assert versions["processor"] == processor()

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
