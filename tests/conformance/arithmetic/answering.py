"""What a runtime answers in our own process, for tests that ask many cases of one that kills no process."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from typing import Any

from vinculum.conformance.arithmetic import Answered
from vinculum.conformance.cases.case import Case, Level
from vinculum.conformance.cases.enumeration import cases
from vinculum.conformance.run.judgement import judge
from vinculum.sandbox import Answer, End, UnsupportedError
from vinculum.spec.model import OperatorSpec


@cache
def asked(level: Level, *rows: OperatorSpec) -> tuple[Case, ...]:
    """Return the cases of a level, whose expectations are computed once for all tests."""
    return tuple(cases(level, rows or None))


def answered(divider: Any, chosen: Iterable[Case]) -> list[Answered]:
    """Return what a runtime answers to the cases that it covers."""
    return [
        Answered(case, answer, judge(case.operation, case.expectation, answer))
        for case in chosen
        if divider.covers(case.operation)
        for answer in [_answer(divider, case)]
    ]


def _answer(divider: Any, case: Case) -> Answer:
    try:
        return Answer(End.RETURNED, divider.answer(case.operation))
    except UnsupportedError as error:
        return Answer(End.UNSUPPORTED, words=str(error))
    except Exception as error:
        return Answer(End.REFUSED, words=str(error))
