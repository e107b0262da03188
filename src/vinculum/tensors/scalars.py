"""Python numbers with an array: they take its element type, as in NumPy (NEP 50), if that loses nothing."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import ml_dtypes
import numpy as np
import numpy.typing as npt

from vinculum.errors import ElementTypeError
from vinculum.tensors.libraries import element_type_name
from vinculum.tensors.storage import as_operand, element_type_of, element_type_of_dtype, native_dtype

Array = npt.NDArray[Any]

_NUMBERS = (int, float)  # not bool, nor other subclasses


def with_element_types(a: object, b: object, names: Sequence[str]) -> tuple[object, object]:
    """Return the operands, a Python number among them as an array without dimensions, of the other's element type.

    ElementTypeError if the type does not hold the number.
    """
    if type(a) in _NUMBERS and type(b) not in _NUMBERS:
        return _held(a, _dtype_of(b, names[1]), names[0], names[1]), b
    if type(b) in _NUMBERS and type(a) not in _NUMBERS:
        return a, _held(b, _dtype_of(a, names[0]), names[1], names[0])
    return a, b


def _dtype_of(operand: object, name: str) -> np.dtype[Any]:
    """Return the element type of an array, in any memory."""
    dtype = getattr(operand, "dtype", None)
    if dtype is None:
        return as_operand(operand, name).dtype
    if isinstance(dtype, np.dtype):
        return native_dtype(dtype)
    known = element_type_name(dtype)
    try:
        return np.dtype(getattr(ml_dtypes, known, known))
    except TypeError:
        return as_operand(operand, name).dtype


def _held(number: Any, dtype: np.dtype[Any], name: str, other: str) -> Array:
    element_type = element_type_of_dtype(dtype) or element_type_of(np.empty(0, dtype), other)  # which refuses it
    integers = element_type.is_integer
    if isinstance(number, int) or not integers:
        try:
            with np.errstate(over="ignore"):
                array = np.array(number if integers else float(number), dtype)
        except (OverflowError, TypeError, ValueError):
            pass  # it is too large, or not a number of that type
        else:
            if array.item() == number or number != number:
                return array
    kind = "float" if isinstance(number, float) else "int"
    raise ElementTypeError(
        f"{name} is the Python {kind} {number!r}, and {other}'s element type {dtype} does not hold it; "
        f"{_advice(number, dtype, other, integers=integers)}"
    )


def _advice(number: int | float, dtype: np.dtype[Any], other: str, *, integers: bool) -> str:
    """Return advice for a number that a type does not hold."""
    if not integers:
        package = "numpy" if dtype.isbuiltin == 1 else "ml_dtypes"
        return f"round it, as {package}.{dtype.name}(...) does, or give {other} a wider type"
    if isinstance(number, float):
        return f"give an int, or make floats of {other}: {other}.astype(numpy.float64)"
    for wider in (np.int16, np.int32, np.int64, np.uint64):
        limits = np.iinfo(wider)
        if limits.min <= number <= limits.max and np.can_cast(dtype, wider):
            return f"give {other} a wider type: {other}.astype(numpy.{wider.__name__})"
    return "no integer type holds both"
