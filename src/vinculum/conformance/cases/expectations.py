"""The answers that the specification expects, computed by the exact reference alone."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache

import numpy as np
from numpy.typing import NDArray

from vinculum.conformance.cases.case import Expectation
from vinculum.conformance.cases.values import Array, Numbers, Operands
from vinculum.reference import divide, reciprocal
from vinculum.spec.element_types import ElementType
from vinculum.spec.model import AttributeValue, Dialect, IntegerRounding, OperatorSpec
from vinculum.tensors.storage import element_type_of

_REFUSAL = Expectation(None)


def refusal() -> Expectation:
    """Return the expectation of an operation that must be refused."""
    return _REFUSAL


def expectation(
    spec: OperatorSpec, element_type: ElementType, attributes: Mapping[str, AttributeValue], numbers: Numbers
) -> Expectation:
    """Return the expectation: exact quotients, elements that the standard leaves unspecified, or a refusal.

    - `spec`, `element_type`: The operator version, and the element type of all operands.
    - `attributes`: They select the rounding of integers.
    - `numbers`: Makes the operands; their quotients are computed once for all versions.
    """
    rounding = spec.rounding(attributes) if element_type.is_integer else IntegerRounding.TRUNCATING
    found = _exact(element_type, rounding, numbers)
    # SONNX forbids, by a constraint, the divisions that the other two leave unspecified.
    return _REFUSAL if found.unspecified is not None and spec.dialect is Dialect.SONNX else found


@cache
def _exact(element_type: ElementType, rounding: IntegerRounding, numbers: Numbers) -> Expectation:
    return exact(element_type, rounding, numbers.aligned(element_type))


def exact(element_type: ElementType, rounding: IntegerRounding, operands: Operands) -> Expectation:
    """Return the quotients, and which elements are unspecified.

    - `element_type`, `rounding`: The element type of all operands, and the rounding of integers.
    - `operands`: Dividend and divisor, or Reciprocal's one operand, which NumPy broadcasts as the version does.
    """
    if len(operands) == 1:
        return Expectation(reciprocal(operands[0], element_type))
    a, b = (np.array(operand) for operand in np.broadcast_arrays(*operands))
    unspecified = without_quotient(a, b)
    if element_type.is_integer:
        return Expectation(divide(a, b, element_type, rounding=rounding, zero_divisor="zero"), unspecified)
    if unspecified is not None:
        b = np.where(unspecified, 1, b)  # Reals divided by 0: only SONNX has reals, and it refuses the operation.
    return Expectation(divide(a, b, element_type), unspecified)


def without_quotient(a: Array, b: Array) -> NDArray[np.bool_] | None:
    """Return which pairs of aligned integers or reals have no quotient (x/0 and MIN/-1); None if all have one.

    Floats always have a quotient.
    """
    if element_type_of(b).binary_format is not None:
        return None
    without = are(b, 0) | are_minimum_by_minus_one(a, b)
    return without if without.any() else None


def are_minimum_by_minus_one(a: Array, b: Array) -> NDArray[np.bool_]:
    """Return which pairs of aligned integers are MIN / -1; none for unsigned types and reals."""
    minimum = element_type_of(b).minimum
    return are(a, minimum) & are(b, -1) if minimum else np.zeros(b.shape, np.bool_)


def are(array: Array, number: int) -> NDArray[np.bool_]:
    """Return which elements equal a number that the element type can represent."""
    return np.asarray(array == np.asarray(number).astype(array.dtype), np.bool_)
