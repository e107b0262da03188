"""The suite: every operator version, element type, pair of shapes, class of values and placement, from the rows."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from vinculum.conformance.cases.builder import CaseBuilder
from vinculum.conformance.cases.case import Case, Level
from vinculum.conformance.cases.refusals import unlisted_types
from vinculum.conformance.cases.shape_cases import mixed_type_cases, shape_cases, unlisted_type_cases
from vinculum.conformance.cases.value_cases import attribute_cases, value_cases
from vinculum.spec.model import OperatorSpec
from vinculum.spec.registry import ROWS


def cases(level: Level, rows: Iterable[OperatorSpec] | None = None) -> Iterator[Case]:
    """Yield the cases of a level and of those before it, the same at every run, one at a time.

    Parameters
    ----------
    level : Level
        The last level whose cases are wanted.
    rows : iterable of OperatorSpec, optional
        The operator versions; all twelve if None.

    Yields
    ------
    Case
        With an id that no other case of the suite has.
    """
    for spec in ROWS if rows is None else rows:
        for element_type in spec.element_types:
            builder = CaseBuilder(spec, element_type, level)
            yield from value_cases(builder)
            yield from shape_cases(builder)
            yield from attribute_cases(builder)
            yield from mixed_type_cases(builder)
        for element_type in unlisted_types(spec):
            yield from unlisted_type_cases(CaseBuilder(spec, element_type, level))
