"""Answers that a program wrote to an export: verdicts, runs, and errors in one line."""

from __future__ import annotations

import inspect
import json
from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path
from shutil import copytree
from typing import Any

import numpy as np
import pytest

from tests import fake_runtime
from tests.conformance.asking import message
from tests.conformance.vectors.exports import exported, lines
from vinculum.conformance.cases.case import Level
from vinculum.conformance.cases.operation import aligned
from vinculum.conformance.run.file import answered
from vinculum.conformance.run.planning import plan
from vinculum.conformance.run.record import Result, Run, Selection
from vinculum.conformance.run.suite import explained, survey
from vinculum.conformance.runtimes import protocol
from vinculum.conformance.runtimes.backends import runtime
from vinculum.conformance.vectors import export as writing
from vinculum.conformance.vectors.export import export
from vinculum.conformance.vectors.records import CaseLine, case_of, elements_text
from vinculum.errors import AttributeValueError, ModelError
from vinculum.spec.element_types import INT32, by_name
from vinculum.version import __version__

Row = dict[str, Any]


def right(line: CaseLine) -> Row:
    """Return the expected answer to a case, with zeros for unspecified quotients."""
    if line.quotient is None:
        return {"id": line.id, "refused": "no\nsuch thing"}
    digits = by_name(line.quotient.type).bits // 4
    return {"id": line.id, "elements": line.quotient.elements.replace("-", "0" * digits) if digits else "1"}


@cache
def own_lines() -> tuple[CaseLine, ...]:
    """Return the cases of the export."""
    return tuple(lines(exported("jsonl")))


def _padded(line: CaseLine) -> str:
    """Return the elements of a quotient of 8-bit integers as 16-bit integers."""
    assert line.quotient is not None
    return " ".join(f"00{element}" for element in line.quotient.elements.split())


@pytest.fixture
def answers(tmp_path: Path) -> Path:
    """Return where a test writes its answers."""
    return tmp_path / "answers.jsonl"


def judge(answers: Path, rows: Sequence[Row], *only: str, folder: Path | None = None) -> tuple[Result, ...]:
    return judged(folder or exported("jsonl"), write(answers, rows), *only).results


def write(answers: Path, rows: Sequence[Row]) -> Path:
    answers.write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    return answers


def judged(folder: Path, answers: Path, *only: str) -> Run:
    return survey(plan(f"answers:{folder}[from={answers}]", Selection(Level.DEFAULT, only)))


def kinds(results: Sequence[Result]) -> list[str]:
    return [one.verdict.kind.value for one in results]


class TestVerdicts:
    """Answers get the verdicts of a run of the suite."""

    @pytest.mark.parametrize(
        ("asked", "answer", "kind"),
        [
            ("Div-14/float/", {"unsupported": "no float"}, "not supported"),
            ("Div-14/float/", {"refused": "no float"}, "refused"),
            ("Div-14/float/", {"crashed": "SIGFPE"}, "crashed"),
            ("Div-14/float/", {"hung": "30 s"}, "hung"),
            ("Div-14/float/", {"elements": "3f800000"}, "wrong shape"),
            ("Div-14/int8/", lambda line: {"type": "int16", "elements": _padded(line)}, "wrong type"),
            ("Div-14/int8/", lambda line: {"shape": (1, *line.quotient.shape)}, "wrong shape"),
            ("Div-14/int32/zero divisors/", {"refused": "x/0"}, "unspecified"),
            ("Div-14/int32/zero divisors/", {"crashed": "SIGFPE"}, "crashed"),
            ("", {"elements": "00"}, "accepted what must be refused"),
            ("", {"type": "int8", "shape": [1], "elements": "00"}, "accepted what must be refused"),
        ],
    )
    def test_each(self, answers: Path, asked: str, answer: Row | Callable[[CaseLine], Row], kind: str) -> None:
        line = next(line for line in own_lines() if line.id.startswith(asked) and (asked or line.quotient is None))
        if callable(answer):
            assert line.quotient is not None
            answer = {"shape": line.quotient.shape, "elements": line.quotient.elements} | answer(line)
        (one,) = judge(answers, [{"id": line.id} | answer], line.id)
        passes = ("not supported", "unspecified")
        assert (kinds([one]), one.verdict.kind.deviates) == ([kind], kind not in passes)


class TestRun:
    """A run of answers has causes, and can be saved and explained again."""

    def test_causes(self, answers: Path) -> None:
        only = "Div-14/int32/*/equal shapes/*"
        rows = []
        for line in own_lines():
            case = case_of(line, Level.QUICK)
            if case.id.matches(only):
                with np.errstate(over="ignore"):
                    quotient = fake_runtime.Floors().quotients(case.operation, *aligned(case.operation))
                rows.append({"id": line.id, "elements": elements_text(quotient, INT32)})
        run = survey(plan(f"answers:{exported('jsonl')}[from={write(answers, rows)}]", Selection(Level.QUICK, (only,))))
        (cause,) = run.causes
        assert cause.name == "arithmetic: floor(a / b)"
        assert run.unexplained == ()
        assert explained(run, answered(run)) == run
        assert run.title == f"the program that wrote {answers}"
        assert "processor" not in run.versions

    def test_the_answers_in_the_export(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        """The run names the version of Vinculum that wrote the export, even if the distribution has another name."""
        folder = tmp_path / "export"
        monkeypatch.setattr(protocol, "_providers", lambda: {"vinculum": ["vinculum-div"]})
        monkeypatch.setattr(writing, "versions_of", inspect.unwrap(protocol.versions_of))
        export(folder, "jsonl", Level.QUICK, ("Div-14/int8/*",))
        rows = [right(line) for line in lines(folder)]
        write(folder / "answers.jsonl", rows)
        run = survey(plan(f"answers:{folder}", Selection(Level.DEFAULT)))
        assert (run.selection, len(run.results)) == (Selection(Level.QUICK, ("Div-14/int8/*",)), len(rows))
        assert run.versions["vinculum that exported"] == __version__


class TestRefused:
    """Invalid answers, options and exports."""

    def test_no_answers(self, answers: Path, tmp_path: Path) -> None:
        assert "there are no answers" in message(ModelError, lambda: judged(exported("jsonl"), answers))
        assert "holds no answer" in message(ModelError, lambda: judge(answers, []))

    @pytest.mark.parametrize(
        ("left_out", "added", "only", "kind", "words"),
        [
            (0, ["Div-14/x"], (), ModelError, "answers cases that the export does not have: 'Div-14/x'"),
            (2, [], (), ModelError, "has no answer to 2 cases, such as "),
            (0, [], ("Div-16/*", "*", "Div-15/*"), AttributeValueError, "'Div-16/*', 'Div-15/*'; * is anything"),
        ],
    )
    def test_cases_and_answers_that_do_not_match(
        self, answers: Path, left_out: int, added: list[str], only: tuple[str, ...], kind: Any, words: str
    ) -> None:
        rows = [{"id": line.id, "unsupported": "none"} for line in own_lines()[left_out:]]
        assert words in message(kind, lambda: judge(answers, rows + [{"id": id, "hung": ""} for id in added], *only))

    @pytest.mark.parametrize(
        ("answer", "words"),
        [
            ({}, "has nothing; allowed is one of elements, refused, unsupported, crashed, hung"),
            ({"elements": "", "hung": ""}, "has elements, hung; allowed is one of"),
            ({"elements": "1.0"}, "an element is '1.0'; one of float has 8 hexadecimal digits"),
            ({"elements": "-", "shape": [1]}, "has a dash for an element"),
            ({"elements": "", "shape": [0], "type": "f32"}, "element type 'f32' is not one that divides"),
        ],
    )
    def test_answers(self, answers: Path, answer: Row, words: str) -> None:
        line = next(line for line in own_lines() if line.id.startswith("Div-14/float/"))
        told = message(ModelError, lambda: judge(answers, [{"id": line.id} | answer]))
        assert words in told
        assert told.startswith(repr(str(answers)))

    def test_other_files(self, answers: Path) -> None:
        told = message(ModelError, lambda: judged(exported("jsonl"), Path("/dev/null")))
        assert told == "'/dev/null' is not a regular file; give an ordinary file"
        answers.write_bytes(b'{"id": "a", "refused": ""}\n\xff\xfe\n')
        assert "line 2: " in message(ModelError, lambda: judged(exported("jsonl"), answers))

    @pytest.mark.parametrize(
        ("options", "level", "told"),
        [
            ("[from=answers.jsonl]", Level.FULL, "is an export of the quick level; leave --full out"),
            ("[of=x]", Level.QUICK, "answers: has no option 'of'; allowed: from"),
        ],
    )
    def test_other_options(self, options: str, level: Level, told: str) -> None:
        asked = f"answers:{exported('jsonl')}{options}"
        assert message(AttributeValueError, lambda: plan(asked, Selection(level))).endswith(told)
        assert "there is nothing to ask" in message(AttributeValueError, lambda: runtime(asked))

    @pytest.mark.parametrize(
        ("content", "words"),
        [
            (None, "has no index.json"),
            ("{", "is not an index"),
            ('{"schema": 2}', "is not of layout 1"),
            ("[]", "is not of layout 1"),
        ],
    )
    def test_no_index(self, answers: Path, tmp_path: Path, content: str | None, words: str) -> None:
        if content is not None:
            (tmp_path / "index.json").write_text(content)
        assert words in message(ModelError, lambda: judged(tmp_path, answers))

    def test_cases_that_were_changed(self, answers: Path, tmp_path: Path) -> None:
        copytree(exported("jsonl"), tmp_path / "changed")
        with (tmp_path / "changed" / "cases.jsonl").open("a") as file:
            file.write("\n")
        line = message(ModelError, lambda: judge(answers, [{"id": "x"}], folder=tmp_path / "changed"))
        assert "does not match index.json" in line
