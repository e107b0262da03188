"""What is tried with each class of values, and with attributes."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from vinculum.conformance.cases.attribute_trials import attribute_trials
from vinculum.conformance.cases.builder import CaseBuilder, Trial
from vinculum.conformance.cases.case import Level
from vinculum.conformance.cases.clauses import Subject
from vinculum.conformance.cases.expectations import expectation_of_class, refusal
from vinculum.conformance.cases.placements import BOTH
from vinculum.conformance.cases.values.classes import value_classes

_ONCE = (Subject.ZERO_DIVISOR, Subject.MINIMUM, Subject.SIZE)  # Rounding plays no part in these.


def value_trials(builder: CaseBuilder) -> Iterator[Trial]:
    """Yield every class of values, for every rounding that can be chosen."""
    spec, element_type = builder.spec, builder.element_type
    for place, rounding in enumerate(builder.roundings()):
        for values in value_classes(element_type, len(spec.inputs)):
            joining = builder.joining(values.joined)
            if joining is None:
                continue
            newest = builder.newest and not (place and values.subject in _ONCE)
            yield Trial(
                values.tried,
                values.shapes(len(spec.inputs)),
                values.subject,
                {**rounding, **joining},
                partial(values.operands, element_type),
                partial(expectation_of_class, spec, element_type, rounding, values),
                values.level if newest else values.older,
                values.constants if newest else (),
            )


def attributes_tried(builder: CaseBuilder) -> Iterator[Trial]:
    """Yield what is tried with attributes, on the quickest class of values."""
    spec, element_type = builder.spec, builder.element_type
    # Numbers on which every rounding differs; of floats ordinary ones, which floor division would change.
    classes = value_classes(element_type, len(spec.inputs))
    values = next(v for v in classes if v.subject in (Subject.ORDINARY, Subject.DISCARDED, Subject.QUOTIENT))
    for asked in attribute_trials(spec, element_type):
        exact = partial(expectation_of_class, spec, element_type, builder.canonical(asked.attributes), values)
        yield Trial(
            asked.tried,
            values.shapes(len(spec.inputs)),
            asked.subject,
            asked.attributes,
            partial(values.operands, element_type),
            refusal if asked.refused else exact,
            Level.FULL if asked.refused and not builder.chosen else Level.DEFAULT,
            # A runtime may read an attribute where it folds constants and not at run time, or the other way round.
            BOTH if element_type.is_integer and not asked.refused else (),
        )
