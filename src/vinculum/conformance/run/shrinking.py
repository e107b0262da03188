"""Shrinking an operation to as few numbers as still give the same verdict, for use in reproducers."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

import numpy as np

from vinculum.conformance.cases.case import Expectation
from vinculum.conformance.cases.operation import Operation, reduced
from vinculum.conformance.run.judgement import judge
from vinculum.conformance.run.verdict import Kind, Verdict
from vinculum.sandbox import Answer

_FEW = 16  # Operands with no more numbers than this stay as they are, as a person can still read them.
_LASTING = (Kind.HUNG, Kind.OUT_OF_MEMORY)  # Not repeated, as each repetition takes as long again.

Expected = tuple[Operation, Expectation]


def shrunk(
    operation: Operation, expectation: Expectation, verdict: Verdict, answer: Callable[[Operation], Answer]
) -> Operation | None:
    """Return an operation of the same shapes whose operands hold one number each, if it gives the same verdict.

    None if there is none, for instance if the runtime broadcasts wrongly.

    Parameters
    ----------
    operation, expectation
        The operation, and what the specification expects.
    verdict : Verdict
        The verdict on the answer.
    answer : callable
        Executes an operation in the runtime.
    """
    for smaller, expected in _smaller(operation, expectation, verdict):
        if _is_the_same(judge(smaller, expected, answer(smaller)), verdict):
            return smaller
    return None


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
        if unspecified is not None and unspecified.any():  # Unspecified divisions are what crashes runtimes.
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
