"""A question with as few numbers as still show a verdict, which is what a reproducer asks."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

import numpy as np

from vinculum.conformance.case import Case, Expectation
from vinculum.conformance.judgement import judge
from vinculum.conformance.question import Question, reduced
from vinculum.conformance.verdict import Kind, Verdict
from vinculum.sandbox import Answer

_FEW = 16  # Numbers that a person still reads one by one.
_LASTING = (Kind.HUNG, Kind.OUT_OF_MEMORY)  # To ask again takes as long again.


def telling(case: Case, verdict: Verdict, answer: Callable[[Question], Answer]) -> Question:
    """Return a question of the same shapes whose operands hold one number each, if a runtime does the same with it.

    Where it does not, as when it lays the operands under each other in a wrong way, it is the question itself. Only
    where the operands are of one shape a wrong quotient needs no second asking: no pair of numbers can be another.

    Parameters
    ----------
    case : Case
        What the runtime was asked.
    verdict : Verdict
        What its answer was worth.
    answer : callable
        Asks the runtime again.
    """
    if verdict.example is not None and len({operand.shape for operand in case.question.operands}) == 1:
        return reduced(case.question, verdict.example.index)
    for smaller in _smaller(case, verdict):
        if _is_the_same(judge(smaller, answer(smaller.question)), verdict):
            return smaller.question
    return case.question


def _smaller(case: Case, verdict: Verdict) -> Iterator[Case]:
    """Yield cases of one pair of numbers each."""
    quotient, silent = case.expectation.quotient, case.expectation.silent
    if verdict.example is not None:
        yield _of_pair(case, verdict.example.index)
        return
    numbers = sum(operand.size for operand in case.question.operands)
    if verdict.kind.passes or verdict.kind in _LASTING or numbers <= _FEW:
        return
    if quotient is None:
        yield replace(case, question=_of_first_numbers(case.question))
    elif quotient.size:
        if silent is not None and silent.any():  # What is left open is what runtimes die of.
            yield _of_pair(case, np.unravel_index(int(np.argmax(silent)), silent.shape))
        yield _of_pair(case, (0,) * quotient.ndim)


def _of_pair(case: Case, index: Sequence[int | np.intp]) -> Case:
    """Return a case in which every quotient is the one at an index."""
    place = tuple(int(position) for position in index)
    quotient, silent = (
        None if array is None else np.full_like(array, array[place])
        for array in (case.expectation.quotient, case.expectation.silent)
    )
    return replace(case, question=reduced(case.question, place), expected=lambda: Expectation(quotient, silent))


def _of_first_numbers(question: Question) -> Question:
    """Return a question whose operands need not fit, filled with the first number of each."""
    filled = (
        np.full_like(operand, operand.reshape(-1)[0]) if operand.size else operand for operand in question.operands
    )
    return replace(question, operands=tuple(filled))


def _is_the_same(verdict: Verdict, told: Verdict) -> bool:
    if told.example is None:
        return (verdict.kind, verdict.words) == (told.kind, told.words)
    return verdict.example is not None and verdict.example.actual == told.example.actual
