"""A smaller operation, with as few numbers as still show a verdict, which is what a reproducer asks."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

import numpy as np

from vinculum.conformance.cases.case import Expectation
from vinculum.conformance.cases.operation import Operation, reduced
from vinculum.conformance.oracle.judgement import judge
from vinculum.conformance.oracle.verdict import Kind, Verdict
from vinculum.sandbox import Answer

_FEW = 16  # Numbers that a person still reads one by one.
_LASTING = (Kind.HUNG, Kind.OUT_OF_MEMORY)  # To ask again takes as long again.

Expected = tuple[Operation, Expectation]


def shrunk(
    operation: Operation, expectation: Expectation, verdict: Verdict, answer: Callable[[Operation], Answer]
) -> Operation:
    """Return an operation of the same shapes whose operands hold one number each, if a runtime does the same with it.

    Where it does not, as when it lays the operands under each other in a wrong way, it is the operation itself. Only
    where the operands are of one shape a wrong quotient needs no second asking: no pair of numbers can be another.

    Parameters
    ----------
    operation, expectation
        What the runtime was asked, and what the specification expects.
    verdict : Verdict
        What its answer was worth.
    answer : callable
        Asks the runtime again.
    """
    if verdict.example is not None and len({operand.shape for operand in operation.operands}) == 1:
        return reduced(operation, verdict.example.index)
    for smaller, expected in _smaller(operation, expectation, verdict):
        if _is_the_same(judge(smaller, expected, answer(smaller)), verdict):
            return smaller
    return operation


def _smaller(operation: Operation, expectation: Expectation, verdict: Verdict) -> Iterator[Expected]:
    """Yield operations of one pair of numbers each."""
    quotient, unspecified = expectation.quotient, expectation.unspecified
    if verdict.example is not None:
        yield _of_pair(operation, expectation, verdict.example.index)
        return
    numbers = sum(operand.size for operand in operation.operands)
    if verdict.kind.passes or verdict.kind in _LASTING or numbers <= _FEW:
        return
    if quotient is None:
        yield _of_first_numbers(operation), expectation
    elif quotient.size:
        if unspecified is not None and unspecified.any():  # What is unspecified is what runtimes die of.
            yield _of_pair(operation, expectation, np.unravel_index(int(np.argmax(unspecified)), unspecified.shape))
        yield _of_pair(operation, expectation, (0,) * quotient.ndim)


def _of_pair(operation: Operation, expectation: Expectation, index: Sequence[int | np.intp]) -> Expected:
    """Return an operation in which every quotient is the one at an index."""
    place = tuple(int(position) for position in index)
    quotient, unspecified = (
        None if array is None else np.full_like(array, array[place])
        for array in (expectation.quotient, expectation.unspecified)
    )
    return reduced(operation, place), Expectation(quotient, unspecified)


def _of_first_numbers(operation: Operation) -> Operation:
    """Return an operation whose operands need not fit, filled with the first number of each."""
    filled = (
        np.full_like(operand, operand.reshape(-1)[0]) if operand.size else operand for operand in operation.operands
    )
    return replace(operation, operands=tuple(filled))


def _is_the_same(verdict: Verdict, told: Verdict) -> bool:
    if told.example is None:
        return (verdict.kind, verdict.said, verdict.expected) == (told.kind, told.said, told.expected)
    return verdict.example is not None and verdict.example.actual == told.example.actual
