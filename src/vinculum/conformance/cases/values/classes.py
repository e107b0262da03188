"""Every class of operands of an operator and an element type."""

from __future__ import annotations

from functools import cache

from vinculum.conformance.cases.values.float_classes import float_classes
from vinculum.conformance.cases.values.integer_classes import integer_classes
from vinculum.conformance.cases.values.real_classes import real_classes
from vinculum.conformance.cases.values.reciprocal_classes import reciprocal_classes
from vinculum.conformance.cases.values.sizes import sizes
from vinculum.conformance.cases.values.unspecified_classes import unspecified_classes
from vinculum.conformance.cases.values.value_class import ValueClass
from vinculum.spec.element_types import ElementType


@cache  # Versions of an operator share the arrays.
def value_classes(element_type: ElementType, operands: int) -> tuple[ValueClass, ...]:
    """Return the classes of operands of an element type: of a division, or of Reciprocal's one operand.

    Parameters
    ----------
    element_type : ElementType
        Of all operands.
    operands : int
        2 for a division, 1 for Reciprocal, which has floating-point types only.
    """
    if element_type.is_integer:
        return (*integer_classes(element_type), *unspecified_classes(element_type), *sizes(element_type, operands))
    fmt = element_type.binary_format
    if fmt is None:
        return (*real_classes(), *sizes(element_type, operands))
    classes = float_classes(element_type, fmt) if operands > 1 else reciprocal_classes(element_type, fmt)
    return (*classes, *sizes(element_type, operands))
