"""What is tried with each class of values."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from vinculum.conformance.cases.builder import CaseBuilder, Trial
from vinculum.conformance.cases.clauses import Subject
from vinculum.conformance.cases.expectations import expectation_of_class
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
