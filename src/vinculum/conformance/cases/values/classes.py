"""Every class of operands of an operator and an element type."""

from __future__ import annotations

from functools import cache

from vinculum.conformance.cases.values.float_classes import DIVISIONS, RECIPROCALS
from vinculum.conformance.cases.values.integer_classes import INTEGERS
from vinculum.conformance.cases.values.real_classes import REALS
from vinculum.conformance.cases.values.sizes import sizes
from vinculum.conformance.cases.values.value_class import ValueClass
from vinculum.spec.element_types import ElementType


@cache
def value_classes(element_type: ElementType, operands: int) -> tuple[ValueClass, ...]:
    """Return the classes of operands of an element type: of a division, or of Reciprocal's one operand.

    Parameters
    ----------
    element_type : ElementType
        Of all operands.
    operands : int
        2 for a division, 1 for Reciprocal, which has floating-point types only.
    """
    of_floats = DIVISIONS if operands > 1 else RECIPROCALS
    table = INTEGERS if element_type.is_integer else of_floats if element_type.binary_format else REALS
    return tuple(values for values in (*table, *sizes(operands)) if values.types(element_type))
