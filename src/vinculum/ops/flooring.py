"""The floor quotient and its remainder, as NumPy's ``floor_divide``, ``remainder`` and ``divmod`` name them, exact."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Unpack, overload

import numpy as np
import numpy.typing as npt

from vinculum.errors import AttributeValueError, ElementTypeError
from vinculum.kernels.float_environment import ieee_754
from vinculum.ops.openvino import divide
from vinculum.ops.policies import Overflow, ZeroDivisor
from vinculum.spec.element_types import REAL
from vinculum.tensors.broadcasting import multidirectional
from vinculum.tensors.libraries import in_library_of
from vinculum.tensors.scalars import with_element_types
from vinculum.tensors.storage import as_operand, checked_out, element_type_of, native

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from vinculum.ops.annotations import ArrayT, Elements, FloatT, FloorDivide, IntegerT, Operand, Policies, Remainder

Array = npt.NDArray[Any]

_NAMES = ("a", "b")


@overload
def floor_divide(a: ArrayT, b: Operand | float, **options: Unpack[FloorDivide[ArrayT]]) -> ArrayT: ...
@overload
def floor_divide(a: Operand | float, b: ArrayT, **options: Unpack[FloorDivide[ArrayT]]) -> ArrayT: ...
@overload
def floor_divide(
    a: Elements[IntegerT], b: Elements[IntegerT] | int, **options: Unpack[FloorDivide[NDArray[IntegerT]]]
) -> NDArray[IntegerT]: ...
@overload
def floor_divide(
    a: int, b: Elements[IntegerT], **options: Unpack[FloorDivide[NDArray[IntegerT]]]
) -> NDArray[IntegerT]: ...
@overload
def floor_divide(
    a: Elements[FloatT], b: Elements[FloatT] | float, **options: Unpack[FloorDivide[NDArray[FloatT]]]
) -> NDArray[FloatT]: ...
@overload
def floor_divide(a: float, b: Elements[FloatT], **options: Unpack[FloorDivide[NDArray[FloatT]]]) -> NDArray[FloatT]: ...
def floor_divide(
    a: Any,
    b: Any,
    *,
    out: Any = None,
    zero_divisor: ZeroDivisor = "raise",
    overflow: Overflow = "wrap",
) -> Any:
    """Return the largest integer that is not above each quotient; a float's is rounded to nearest, ties to even.

    Parameters
    ----------
    a : array
        Dividend in CPU memory; a Python number takes the divisor's element type if that holds it.
    b : array
        Divisor in CPU memory, of the same element type, and of a shape that NumPy broadcasts with the dividend's; a
        Python number takes the dividend's element type if that holds it.
    out : array, optional
        Where to write, of the result's element type and shape; it may be an operand.
    zero_divisor, overflow : str
        For integers, as in `vinculum.div`. Floats follow NumPy: x/0 is infinite or NaN, and an infinite dividend gives
        NaN.

    Returns
    -------
    array
        Of the operands' element type and the joined shape.

    Raises
    ------
    ElementTypeError, BroadcastError, AttributeValueError
        If the operands do not fit; the message says what is allowed.
    DivisionByZeroError, IntegerOverflowError
        As the policies say; `out` may then hold partial results.

    Notes
    -----
    NumPy's own ``floor_divide`` of floats rounds more than once and is off by up to an ulp above 2**53.
    """
    dividend, divisor = _operands(a, b)
    if not _is_float(dividend):
        quotients = divide(dividend, divisor, zero_divisor=zero_divisor, overflow=overflow)
    else:
        quotients = _floor_quotients(dividend, divisor)
    return _result(quotients, out, a, b)


@overload
def remainder(a: ArrayT, b: Operand | float, **options: Unpack[Remainder[ArrayT]]) -> ArrayT: ...
@overload
def remainder(a: Operand | float, b: ArrayT, **options: Unpack[Remainder[ArrayT]]) -> ArrayT: ...
@overload
def remainder(
    a: Elements[IntegerT], b: Elements[IntegerT] | int, **options: Unpack[Remainder[NDArray[IntegerT]]]
) -> NDArray[IntegerT]: ...
@overload
def remainder(a: int, b: Elements[IntegerT], **options: Unpack[Remainder[NDArray[IntegerT]]]) -> NDArray[IntegerT]: ...
@overload
def remainder(
    a: Elements[FloatT], b: Elements[FloatT] | float, **options: Unpack[Remainder[NDArray[FloatT]]]
) -> NDArray[FloatT]: ...
@overload
def remainder(a: float, b: Elements[FloatT], **options: Unpack[Remainder[NDArray[FloatT]]]) -> NDArray[FloatT]: ...
def remainder(a: Any, b: Any, *, out: Any = None, zero_divisor: ZeroDivisor = "raise") -> Any:
    """Return the remainder of `floor_divide`, ``a - floor(a / b) * b``, which has the divisor's sign.

    Parameters
    ----------
    a, b, out : array
        As in `floor_divide`.
    zero_divisor : {"raise", "zero"}
        The remainder of an integer by 0. That of a float is NaN.

    Raises
    ------
    ElementTypeError, BroadcastError, AttributeValueError, DivisionByZeroError
        As in `floor_divide`.
    """
    if zero_divisor not in ("raise", "zero"):
        raise AttributeValueError(f"zero_divisor is {zero_divisor!r}; remainder allows 'raise' and 'zero'")
    dividend, divisor = _operands(a, b)
    if _is_float(dividend):
        return _result(_float_remainders(dividend, divisor), out, a, b)
    quotients = divide(dividend, divisor, zero_divisor=zero_divisor)
    return _result(_integer_remainders(dividend, divisor, quotients), out, a, b)


@overload
def divmod(a: ArrayT, b: Operand | float, **options: Unpack[Policies]) -> tuple[ArrayT, ArrayT]: ...
@overload
def divmod(a: Operand | float, b: ArrayT, **options: Unpack[Policies]) -> tuple[ArrayT, ArrayT]: ...
@overload
def divmod(
    a: Elements[IntegerT], b: Elements[IntegerT] | int, **options: Unpack[Policies]
) -> tuple[NDArray[IntegerT], NDArray[IntegerT]]: ...
@overload
def divmod(
    a: int, b: Elements[IntegerT], **options: Unpack[Policies]
) -> tuple[NDArray[IntegerT], NDArray[IntegerT]]: ...
@overload
def divmod(
    a: Elements[FloatT], b: Elements[FloatT] | float, **options: Unpack[Policies]
) -> tuple[NDArray[FloatT], NDArray[FloatT]]: ...
@overload
def divmod(a: float, b: Elements[FloatT], **options: Unpack[Policies]) -> tuple[NDArray[FloatT], NDArray[FloatT]]: ...
def divmod(a: Any, b: Any, *, zero_divisor: ZeroDivisor = "raise", overflow: Overflow = "wrap") -> tuple[Any, Any]:
    """Return `floor_divide` and `remainder` of each pair, with the same parameters and errors.

    With ``zero_divisor="saturate"`` the remainder by 0 is 0.
    """
    quotients = floor_divide(a, b, zero_divisor=zero_divisor, overflow=overflow)
    return quotients, remainder(a, b, zero_divisor="raise" if zero_divisor == "raise" else "zero")


def _operands(a: object, b: object) -> tuple[Array, Array]:
    views = [as_operand(x, name) for x, name in zip(with_element_types(a, b, _NAMES), _NAMES, strict=True)]
    types = [element_type_of(x, name) for x, name in zip(views, _NAMES, strict=True)]
    if types[0] is not types[1] or REAL in types:
        raise ElementTypeError(
            f"a is {types[0]} and b {types[1]}; floor_divide, remainder and divmod take integers or floats of one "
            "element type, and convert nothing"
        )
    multidirectional(views[0].shape, views[1].shape)
    return native(views[0]), native(views[1])


def _is_float(array: Array) -> bool:
    return element_type_of(array).binary_format is not None


def _result(results: Array, out: Array | None, a: object, b: object) -> Array:
    if out is None:
        adopted: Array = in_library_of((a, b), results)
        return adopted
    checked_out(out, results.dtype, results.shape)[...] = results
    return out


def _integer_remainders(dividend: Array, divisor: Array, quotients: Array) -> Array:
    # Wrapping arithmetic; ml_dtypes' narrow integers are computed in a wider type.
    wide = quotients.dtype if quotients.dtype.kind in "iu" else np.dtype(np.int16)
    with np.errstate(over="ignore"):
        rest = dividend.astype(wide) - quotients.astype(wide) * divisor.astype(wide)
    return np.where(divisor.astype(wide) == 0, wide.type(0), rest).astype(quotients.dtype)


def _widened(array: Array) -> Array:
    """Return floats in a type wide enough that rounding to it first changes no result."""
    if array.dtype == np.float64:
        return array
    return array.astype(np.float64 if array.dtype == np.float32 else np.float32)


def _narrowed(results: Array, dtype: np.dtype[Any]) -> Array:
    narrowed = np.asarray(results.astype(dtype))
    narrowed[np.isnan(narrowed)] = np.nan  # always the same one
    return narrowed


def _float_remainders(dividend: Array, divisor: Array) -> Array:
    # C's fmod is exact, and NumPy adds the divisor to it at most once.
    with ieee_754():
        return _narrowed(np.remainder(_widened(dividend), _widened(divisor)), dividend.dtype)


def _floor_quotients(dividend: Array, divisor: Array) -> Array:
    with ieee_754():
        a, b = np.broadcast_arrays(_widened(dividend), _widened(divisor))
        quotients = a / b
        floors = np.floor(quotients)
        # A quotient rounded up to an integer was below it if the remainder is nearer to the divisor than to 0.
        rest = np.abs(np.remainder(a, b))
        below = ~(rest <= np.abs(b) - rest)
        whole = (floors == quotients) & (np.abs(quotients) < 2.0**52)
        floors = np.where(whole & below, floors - 1, floors)
        if dividend.dtype == np.float64:
            large = (np.abs(quotients) >= 2.0**52) & (np.abs(quotients) < 2.0**107)
            floors = np.where(large, _large_floors(a, b, quotients, below), floors)
        return _narrowed(np.where(np.isinf(a) & (b != 0), np.nan, floors), dividend.dtype)


def _large_floors(a: Array, b: Array, quotients: Array, below: npt.NDArray[np.bool_]) -> Array:
    """Return the floors of binary64 quotients of at least 2**52, rounded once.

    The exact quotient is the rounded one plus ``rest / b``, where the rest is exact. The floor of that, of less than 53
    bits, is added to the rounded quotient, and the sum rounded. From 2**107 on no quotient lies close enough to a
    rounding boundary for this to matter.
    """
    (significand_a, exponent_a), (significand_b, exponent_b) = np.frexp(a), np.frexp(b)
    near_one = significand_a / significand_b
    high, low = _exact_product(near_one, significand_b)
    rest = (significand_a - high) - low
    error = np.ldexp(rest / significand_b, exponent_a - exponent_b)
    whole = np.floor(error)
    sums: Array = quotients + np.where((whole == error) & below, whole - 1, whole)
    return sums


def _exact_product(x: Array, y: Array) -> tuple[Array, Array]:
    """Return a product of factors near one as the sum of two numbers (Dekker)."""
    product = x * y
    (x_high, x_low), (y_high, y_low) = _halves(x), _halves(y)
    return product, x_low * y_low - (((product - x_high * y_high) - x_low * y_high) - x_high * y_low)


def _halves(x: Array) -> tuple[Array, Array]:
    """Return a number as the sum of two numbers with half its bits (Veltkamp)."""
    spread = x * (2.0**27 + 1)
    high = spread - (spread - x)
    return high, x - high
