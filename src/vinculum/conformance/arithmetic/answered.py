"""Answered cases, and the causes of their deviations."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from vinculum.conformance.arithmetic.division import Division
from vinculum.conformance.cases.case import Case
from vinculum.conformance.run.record import Kind, Verdict
from vinculum.sandbox import Answer, End
from vinculum.spec.element_types import ElementType

VALUES, REFUSED, ACCEPTED, UNSUPPORTED = "divided", "refused", "accepted", "not supported"


@dataclass(frozen=True, eq=False)
class Answered:
    """A case, its answer, the verdict, and Python source that reproduces the answer if the verdict is not a pass."""

    case: Case
    answer: Answer
    verdict: Verdict
    reproducer: str | None = None

    @property
    def deviates(self) -> bool:
        """Whether the answer needs an explanation."""
        return self.verdict.kind.deviates

    @property
    def outcome(self) -> str:
        """The outcome of the operation, in words that do not depend on its numbers."""
        if self.answer.end is End.REFUSED:
            return REFUSED
        if self.answer.end is End.UNSUPPORTED:
            return UNSUPPORTED
        if self.answer.end is not End.RETURNED:
            of_what = f": {self.answer.words}" if self.answer.end is End.CRASHED else ""
            return f"{self.answer.end.value}{of_what}"
        if self.case.expectation.quotient is None:
            return ACCEPTED
        if self.verdict.kind is Kind.WRONG_TYPE:
            value = self.answer.value
            return f"gave {value.dtype}" if isinstance(value, np.ndarray) else "gave no array"
        return "gave another shape" if self.verdict.kind is Kind.WRONG_SHAPE else VALUES


@dataclass(frozen=True)
class Predictor:
    """A cause as it predicts answers: an arithmetic predicts quotients, a rule predicts outcomes.

    - `statement`: What happens, in English.
    - `element_types`: The dividends' element types in the cases that it explains.
    - `divisions`: For an arithmetic, the way to divide for each element type; empty for a rule.
    - `outcome`: For a rule, the outcome of an operation, or how its operands are aligned; empty for an arithmetic.
    - `where`: For a rule, the properties of the operations that it applies to; for an arithmetic, the elements that it
      applies to if not to all: ``"packets of 8"``.
    """

    statement: str
    element_types: tuple[ElementType, ...] = ()
    divisions: tuple[Division, ...] = ()
    outcome: str = ""
    where: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        """The name in files: ``"arithmetic: a * (1/b)"``, ``"rule: crashed: SIGFPE where MIN / -1"``."""
        where = f" where {' and '.join(self.where)}" if self.where else ""
        return f"arithmetic: {self.divisions[0].form}{where}" if self.divisions else f"rule: {self.outcome}{where}"


def arithmetic(ways: Sequence[Division], places: str = "") -> Predictor:
    """Return the cause that elements, all or those at some places, are divided in a way, one for each element type."""
    statement = ways[0].statement + (f"; only in {places}" if places else "")
    return Predictor(statement, divisions=tuple(ways), where=(places,) if places else ())


@dataclass(frozen=True, eq=False)
class Explained:
    """A cause, or an arithmetic that only might be one, and the deviating cases that it predicts.

    - `cases`: The deviating cases that it predicts and that no earlier cause predicts, the smallest first.
    - `passing`: How many passing cases of the same element types and circumstances it predicts, too.
    - `refuting`: How many of these passing cases, and of other cases the right quotients, it does not predict; 0 for a
      cause.
    """

    cause: Predictor
    cases: tuple[Answered, ...]
    passing: int
    refuting: int = 0

    @classmethod
    def of(cls, cause: Predictor, predicted: Sequence[Answered]) -> Explained:
        """Return a cause with all that it predicts."""
        deviating = tuple(one for one in predicted if one.deviates)
        return cls(cause, deviating, len(predicted) - len(deviating))

    @property
    def consistent(self) -> str:
        """What unexplained cases are consistent with, and why that is not the cause, in English."""
        against = f"{self.refuting} other cases refute it" if self.refuting else "too few quotients prove it"
        return f"consistent with: {self.cause.statement}; but {against}"


@dataclass(frozen=True, eq=False)
class Explanation:
    """Why the answers of a run deviate.

    - `explained`: The causes, ordered by decreasing number of cases.
    - `unexplained`: The deviating cases that no cause predicts.
    - `refuted`: What some unexplained cases are consistent with, although other cases refute it.
    """

    explained: tuple[Explained, ...]
    unexplained: tuple[Answered, ...]
    refuted: tuple[Explained, ...] = ()


def smallest_first(cases: Iterable[Answered]) -> tuple[Answered, ...]:
    """Return cases sorted by the total number of elements of their operands."""
    return tuple(sorted(cases, key=lambda one: sum(operand.size for operand in one.case.operation.operands)))
