"""What the specification expects of an answer, by the exact reference alone."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache

import numpy as np
from numpy.typing import NDArray

from vinculum.conformance.cases.case import Expectation
from vinculum.conformance.cases.values.value_class import Array, Operands, ValueClass
from vinculum.reference import divide, elements, reciprocal
from vinculum.spec.element_types import ElementType
from vinculum.spec.model import AttributeValue, Dialect, IntegerRounding, OperatorSpec

_REFUSAL = Expectation(None)


def refusal() -> Expectation:
    """Return what is expected of an operation that must be refused."""
    return _REFUSAL


def expectation(
    spec: OperatorSpec, element_type: ElementType, attributes: Mapping[str, AttributeValue], operands: Operands
) -> Expectation:
    """Return what is expected: exact quotients, elements that the standard leaves unspecified, or a refusal.

    Parameters
    ----------
    spec : OperatorSpec
        The operator version.
    element_type : ElementType
        That of every operand.
    attributes : Mapping
        They select the rounding of integers.
    operands : tuple of ndarray
        Dividend and divisor, or Reciprocal's one operand. Shapes that the version joins otherwise than NumPy does
        must have been given the dimensions of size 1 with which NumPy does it too.
    """
    return _by_standard(spec, _exact(element_type, _rounding(spec, element_type, attributes), operands))


def expectation_of_class(
    spec: OperatorSpec, element_type: ElementType, attributes: Mapping[str, AttributeValue], values: ValueClass
) -> Expectation:
    """Return the same of a class of operands, whose quotients are computed once for all versions."""
    return _by_standard(spec, _exact_of_class(element_type, _rounding(spec, element_type, attributes), values))


def _rounding(
    spec: OperatorSpec, element_type: ElementType, attributes: Mapping[str, AttributeValue]
) -> IntegerRounding:
    return spec.rounding(attributes) if element_type.is_integer else IntegerRounding.TRUNCATING


def _by_standard(spec: OperatorSpec, exact: Expectation) -> Expectation:
    # SONNX makes a constraint of what the other two leave unspecified.
    return _REFUSAL if exact.unspecified is not None and spec.dialect is Dialect.SONNX else exact


@cache
def _exact_of_class(element_type: ElementType, rounding: IntegerRounding, values: ValueClass) -> Expectation:
    return _exact(element_type, rounding, values.operands(element_type))


def _exact(element_type: ElementType, rounding: IntegerRounding, operands: Operands) -> Expectation:
    """Return the quotients, and which elements have none."""
    if len(operands) == 1:
        return Expectation(reciprocal(operands[0], element_type))
    a, b = (np.array(operand) for operand in np.broadcast_arrays(*operands))
    without = _without_quotient(a, b, element_type)
    unspecified = without if without.any() else None
    if element_type.is_integer:
        return Expectation(divide(a, b, element_type, rounding=rounding, zero_divisor="zero"), unspecified)
    if unspecified is not None:
        b = np.where(without, 1, b)  # of the reals: only SONNX has them, and refuses the operation
    return Expectation(divide(a, b, element_type), unspecified)


def _without_quotient(a: Array, b: Array, element_type: ElementType) -> NDArray[np.bool_]:
    """Tell the elements that no quotient of the type is, of integers and reals; floats always have one."""
    if element_type.binary_format is not None:
        return np.zeros(a.shape, np.bool_)
    pairs = zip(elements(a, element_type), elements(b, element_type), strict=True)
    is_open = (y == 0 or (element_type.is_integer and y == -1 and x == element_type.minimum) for x, y in pairs)
    return np.fromiter(is_open, np.bool_, a.size).reshape(a.shape)
