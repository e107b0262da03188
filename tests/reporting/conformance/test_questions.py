"""The table of questions: each answer follows from the verdicts of its cases."""

from __future__ import annotations

import json
import re
from dataclasses import replace

from tests.cases import case
from tests.reporting.conformance.reports import DEFAULT, exact, run_of
from vinculum.conformance.cases.enumeration import cases
from vinculum.conformance.run.record import Gave, Kind, Result, Verdict
from vinculum.reporting.conformance.html import data, document
from vinculum.reporting.conformance.questions import QUESTIONS, Told, told
from vinculum.reporting.conformance.view import Severity, view

RUN_TIME = "run-time operands"
DIV, FLOOR, TRUNCATING = ("Div-14", ""), ("Divide-1", "floor"), ("Divide-1", "truncating")
OK, NONE = Verdict(Kind.EXACT, elements=9), Verdict(Kind.UNSUPPORTED)
WRONG, DIES = Verdict(Kind.WRONG_VALUE, elements=9, differing=1), Verdict(Kind.CRASHED, "SIGFPE")
ERROR = Verdict(Kind.UNSPECIFIED, "cannot")


def gave(*quotients: str) -> Verdict:
    return Verdict(Kind.UNSPECIFIED, unspecified=tuple(Gave("x", "0", quotient) for quotient in quotients))


def of(heading: str, *verdicts: Verdict, operator: tuple[str, str] = DIV, scenario: str = "") -> tuple[Result, ...]:
    asked = {"x / 0": ("int32", "zero divisors"), "-7 / 2": ("int64", "floor and truncation differ")}
    element_type, usual = asked.get(heading, ("float", "ordinary numbers"))
    return run_of(*((element_type, scenario or usual, RUN_TIME, one) for one in verdicts), operator=operator).results


def answer(heading: str, results: tuple[Result, ...]) -> Told:
    (place,) = (place for place, question in enumerate(QUESTIONS) if question.heading == heading)
    return told(view(replace(run_of(), results=results)))[place]


def test_what_is_answered() -> None:
    silent = (
        ((gave("MIN"), gave("MIN")), "gives MIN", Severity.OK),
        ((gave("-1", "-2"),), "gives -1 or -2", Severity.OK),
        ((gave("1", "2", "3", "4"),), "gives several numbers", Severity.OK),
        ((ERROR,), "an error", Severity.OK),
        ((gave("0"), DIES, ERROR), "dies: SIGFPE, or an error, or gives 0", Severity.FATAL),
        ((Verdict(Kind.HUNG),), "hung", Severity.FATAL),
        ((NONE,), "not supported", Severity.NONE),
        ((NONE, gave("0")), "gives 0", Severity.OK),
    )
    exactness = (
        (OK, "exact", Severity.OK),
        (Verdict(Kind.ULPS, ulps={0: 1}, largest=1), "1 ulp in 1 of 2", Severity.ULPS),
        (Verdict(Kind.ULPS, ulps={11: 1}, largest=2047), "2,047 ulps in 1 of 2", Severity.WRONG),
        (Verdict(Kind.ULPS, ulps={20: 1}, largest=2**20), "many ulps in 1 of 2", Severity.WRONG),
        (WRONG, "wrong in 1 of 2", Severity.WRONG),
        (Verdict(Kind.REFUSED, "no"), "refused in 1 of 2", Severity.REFUSED),
        (NONE, "exact", Severity.OK),
    )
    for heading, verdicts, words, severity in (
        *(("x / 0", *row) for row in silent),
        *(("float32", (OK, verdict), *row) for verdict, *row in exactness),
    ):
        with case(heading, words):
            found = answer(heading, of(heading, *verdicts))
            assert (found.words, found.severity) == (words, severity)


def test_rounding() -> None:
    for truncating, floor, words in (
        ([OK], [OK], "-3 or -4, as asked"),
        ([OK], [], "-3"),
        ([], [OK], "-4"),
        ([NONE], [OK], "-4"),
        ([WRONG], [OK], "-4, even if -3 is asked for"),
        ([OK], [WRONG, WRONG], "-3, even if -4 is asked for"),
        ([OK], [WRONG, OK], "-3; -4 not always"),
        ([WRONG], [WRONG], "wrong in some"),
    ):
        with case(words):
            asked = ((TRUNCATING, truncating), (FLOOR, floor))
            results = [of("-7 / 2", *verdicts, operator=operator) for operator, verdicts in asked]
            assert answer("-7 / 2", results[0] + results[1]).words == words


def test_what_is_not_asked() -> None:
    assert {one.words for one in told(view(run_of()))} == {"not asked"}
    assert answer("float32", of("float32", WRONG, scenario="ordinary numbers by subnormals")).words == "not asked"
    assert answer("subnormals", of("subnormals", WRONG, scenario="subnormal dividends")).words == "not kept"


def test_the_suite_answers_every_question() -> None:
    ids = [one.id for one in cases(DEFAULT.level)]
    for question in QUESTIONS:
        operators = {id.operator for id in ids if question.asks(id)}
        assert operators >= ({"Reciprocal-13"} if question.heading == "1 / x" else {"Div-14"}), question.heading


def test_each_answer_leads_to_its_cases() -> None:
    cases = ("int32", "zero divisors", DIES), ("float", "ordinary numbers", OK), ("int32", "zero divisors", NONE)
    asked = run_of(*((element_type, scenario, RUN_TIME, verdict) for element_type, scenario, verdict in cases))
    page, read = document([asked, exact()]), json.loads(data([view(asked)]))
    assert '<a href="#x/asked/0">dies: SIGFPE</a>' in page
    assert read["questions"][0] == "x / 0"
    assert read["runtimes"][0]["asked"][0] == [0]
    assert len(re.findall(r"<td [^>]*data-asked=", page)) == 2 * len(QUESTIONS)
