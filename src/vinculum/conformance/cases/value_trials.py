"""The trials of values: every class of values of an operator and an element type."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache, partial

from vinculum.conformance.cases.builder import CaseBuilder, Trial
from vinculum.conformance.cases.clauses import Subject
from vinculum.conformance.cases.expectations import expectation_of_class
from vinculum.conformance.cases.values.float_classes import DIVISIONS, RECIPROCALS
from vinculum.conformance.cases.values.integer_classes import INTEGERS
from vinculum.conformance.cases.values.real_classes import REALS
from vinculum.conformance.cases.values.sizes import sizes
from vinculum.conformance.cases.values.value_class import ValueClass
from vinculum.spec.element_types import ElementType

_ONCE = (Subject.ZERO_DIVISOR, Subject.MINIMUM, Subject.SIZE)  # These do not depend on the rounding.


@cache
def value_classes(element_type: ElementType, operands: int) -> tuple[ValueClass, ...]:
    """Return the classes of operands of an element type, for a division or for Reciprocal.

    Parameters
    ----------
    element_type : ElementType
        The element type of all operands.
    operands : int
        2 for a division, 1 for Reciprocal, which has floating-point types only.
    """
    of_floats = DIVISIONS if operands > 1 else RECIPROCALS
    table = INTEGERS if element_type.is_integer else of_floats if element_type.binary_format else REALS
    return tuple(values for values in (*table, *sizes(operands)) if values.types(element_type))


def value_trials(builder: CaseBuilder) -> Iterator[Trial]:
    """Yield a trial for every class of values and every selectable rounding."""
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
                values.constants if newest or values.constants is None else (),
            )
