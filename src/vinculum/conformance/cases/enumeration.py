"""The suite: all operator versions, element types, pairs of shapes, classes of values and placements."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from vinculum.conformance.cases.builder import CaseBuilder
from vinculum.conformance.cases.case import Case, Level
from vinculum.conformance.cases.shape_cases import shape_cases
from vinculum.conformance.cases.value_cases import (
    attribute_cases,
    mixed_type_cases,
    unlisted_type_cases,
    unlisted_types,
    value_cases,
)
from vinculum.spec.model import OperatorSpec
from vinculum.spec.rows import ROWS

_OF_LISTED_TYPES = (value_cases, shape_cases, attribute_cases, mixed_type_cases)


def cases(level: Level, rows: Iterable[OperatorSpec] | None = None) -> Iterator[Case]:
    """Yield the cases of a level and of the levels before it, in the same order on every run.

    Parameters
    ----------
    level : Level
        The last level whose cases are yielded.
    rows : iterable of OperatorSpec, optional
        The operator versions; all twelve if None.

    Yields
    ------
    Case
        A case with an id that is unique in the suite.
    """
    for spec in ROWS if rows is None else rows:
        for element_type in (*spec.element_types, *unlisted_types(spec)):
            builder = CaseBuilder(spec, element_type, level)
            listed = element_type in spec.element_types
            for made in _OF_LISTED_TYPES if listed else (unlisted_type_cases,):
                yield from made(builder)
