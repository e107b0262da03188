"""The slow exact truth: arrays divided one element at a time in Python integers and rationals.

It shares no code with the kernels, so that each can be compared with the other. NumPy only holds the
arrays here; it computes nothing.
"""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction
from numbers import Rational
from typing import Any

import ml_dtypes  # noqa: F401 - importing it teaches np.dtype the names bfloat16, int4, uint4 and float8
import numpy as np
from numpy.typing import NDArray

from vinculum.errors import BroadcastError, ElementTypeError
from vinculum.reference.exact_quotient import float_quotient, integer_quotient, rational_quotient
from vinculum.spec.element_types import ElementType
from vinculum.spec.model import IntegerRounding

__all__ = ["divide", "elements", "reciprocal"]

_ENCODING = {8: np.uint8, 16: np.uint16, 32: np.uint32, 64: np.uint64}
_FOUR_BITS = 4


def divide(
    a: NDArray[Any],
    b: NDArray[Any],
    element_type: ElementType,
    *,
    rounding: IntegerRounding = IntegerRounding.TRUNCATING,
    zero_divisor: str = "raise",
    overflow: str = "wrap",
) -> NDArray[Any]:
    """Return the exact, or correctly rounded, quotient of each pair of elements, in a new array.

    The operands have one shape, and both are of the element type; reals are object arrays of Fraction. Rounding and
    policies are of integers, as in `exact_quotient.integer_quotient`; other types have one answer only.

    ElementTypeError or BroadcastError if the operands are not of that type, or not of one shape. ZeroDivisionError or
    OverflowError for integers under the policy ``"raise"``, and for a real divided by 0.
    """
    if a.shape != b.shape:
        raise BroadcastError(f"the shapes are {a.shape} and {b.shape}; the reference divides equal shapes only")
    pairs = zip(elements(a, element_type), elements(b, element_type), strict=True)
    quotients: Iterable[int | Fraction]
    if element_type.is_integer:
        quotients = (integer_quotient(x, y, element_type, rounding, zero_divisor, overflow) for x, y in pairs)
    elif element_type.binary_format is not None:
        fmt = element_type.binary_format
        quotients = (float_quotient(x, y, fmt) for x, y in pairs)
    else:
        quotients = (rational_quotient(x, y) for x, y in pairs)
    return _array(quotients, a.shape, element_type)


def reciprocal(x: NDArray[Any], element_type: ElementType) -> NDArray[Any]:
    """Return 1 / x of each element, exact for reals and correctly rounded for floats.

    ElementTypeError if the element type is an integer type, or not the array's. ZeroDivisionError for a real 0.
    """
    if element_type.is_integer:
        raise ElementTypeError(
            f"Reciprocal of {element_type}; allowed: floating-point types and reals, so divide 1 instead"
        )
    fmt = element_type.binary_format
    one: int | Fraction = Fraction(1) if fmt is None else fmt.bias << fmt.trailing_bits
    ones = _array((one for _ in range(x.size)), x.shape, element_type)
    return divide(ones, x, element_type)


def elements(array: NDArray[Any], element_type: ElementType) -> list[Any]:
    """Return an array's elements in row-major order, exactly.

    Integers are ints, floats their encodings as unsigned ints, reals Fractions. ElementTypeError if the array is not of
    the element type.
    """
    # An array in the other byte order is refused too: its encodings would be read backwards.
    if array.dtype != np.dtype(element_type.numpy):
        raise ElementTypeError(f"the array's dtype is {array.dtype}; {element_type} needs {element_type.numpy}")
    if element_type.binary_format is not None:
        return array.view(_ENCODING[element_type.bits]).ravel().tolist()
    if element_type.bits == _FOUR_BITS:
        # ml_dtypes keeps one element a byte and promises nothing about the upper half of it.
        return [_four_bit_value(byte % 16, element_type) for byte in array.view(np.uint8).ravel().tolist()]
    values = array.ravel().tolist()
    return values if element_type.is_integer else [_real(value) for value in values]


def _four_bit_value(bits: int, element_type: ElementType) -> int:
    return bits - 16 if bits > element_type.maximum else bits


def _real(value: object) -> Fraction:
    if not isinstance(value, Rational):
        raise ElementTypeError(f"{value!r} is a {type(value).__name__}; a real is given exactly, as a Fraction or int")
    return Fraction(int(value.numerator), int(value.denominator))


def _array(values: Iterable[int | Fraction], shape: tuple[int, ...], element_type: ElementType) -> NDArray[Any]:
    if element_type.binary_format is not None:
        encodings = np.array(list(values), dtype=_ENCODING[element_type.bits])
        return encodings.view(element_type.numpy).reshape(shape)
    if element_type.bits == _FOUR_BITS:
        return np.array(list(values), dtype=np.int8).astype(element_type.numpy).reshape(shape)
    return np.array(list(values), dtype=element_type.numpy).reshape(shape)
