"""The cases of each class of values, and those about attributes."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from operator import attrgetter

from vinculum.conformance.cases.attribute_trials import AttributeTrial, attribute_trials
from vinculum.conformance.cases.builder import CaseBuilder
from vinculum.conformance.cases.case import Case, Level
from vinculum.conformance.cases.clauses import Subject
from vinculum.conformance.cases.expectations import expectation_of_class, refusal
from vinculum.conformance.cases.placements import Placement, placements
from vinculum.conformance.cases.values.classes import value_classes

_OPERANDS = attrgetter("operands")
_ONCE = (Subject.ZERO_DIVISOR, Subject.MINIMUM, Subject.SIZE)  # Rounding plays no part in these.


def value_cases(builder: CaseBuilder) -> Iterator[Case]:
    """Yield every class of values, for every rounding that can be chosen, in every placement."""
    spec, element_type = builder.spec, builder.element_type
    for place, rounding in enumerate(builder.roundings()):
        for values in value_classes(element_type, len(spec.inputs)):
            joining = builder.joining(values.joined)
            if joining is None:
                continue
            newest = builder.newest and not (place and values.subject in _ONCE)
            for placement in placements(spec):
                level = values.asked_at(placement, newest=newest)
                if level <= builder.level:
                    expected = partial(expectation_of_class, spec, element_type, rounding, values)
                    shapes = values.shapes(len(spec.inputs))
                    yield builder.case(
                        values.tried, shapes, placement, values.subject,
                        {**rounding, **joining}, partial(_OPERANDS, values), expected, level,
                    )  # fmt: skip


def attribute_cases(builder: CaseBuilder) -> Iterator[Case]:
    """Yield the operations about attributes, with the quickest class of values."""
    spec, element_type = builder.spec, builder.element_type
    # Numbers on which every rounding differs; of floats ordinary ones, which floor division would change.
    classes = value_classes(element_type, len(spec.inputs))
    values = next(v for v in classes if v.subject in (Subject.ORDINARY, Subject.DISCARDED, Subject.QUOTIENT))
    for asked in attribute_trials(spec, element_type):
        for placement in placements(spec):
            level = _level(builder, asked, placement)
            if level <= builder.level:
                attributes = builder.canonical(asked.attributes)
                exact = partial(expectation_of_class, spec, element_type, attributes, values)
                yield builder.case(
                    asked.tried, values.shapes(len(spec.inputs)), placement, asked.subject,
                    asked.attributes, lambda: values.operands, refusal if asked.refused else exact, level,
                )  # fmt: skip


def _level(builder: CaseBuilder, asked: AttributeTrial, placement: Placement) -> Level:
    if asked.refused:
        return Level.DEFAULT if builder.chosen and placement is Placement.RUN_TIME else Level.FULL
    # A runtime may read an attribute where it folds constants and not at run time, or the other way round.
    folded = builder.element_type.is_integer and placement is Placement.CONSTANTS
    return Level.DEFAULT if placement is Placement.RUN_TIME or folded else Level.FULL
