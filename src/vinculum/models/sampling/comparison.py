"""Comparison of two results bit for bit; the error names the first difference in one line."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vinculum.errors import DifferenceError
from vinculum.models.values import Value
from vinculum.text import quoted, shape_text

Sides = tuple[str, str]


def check_outputs(expected: Mapping[str, Value], actual: Mapping[str, Value], sides: Sides) -> int:
    """Check that all outputs of two models are equal, as `check_equal` does, and return the number of elements."""
    return sum(check_equal(f"output {quoted(name)}", value, actual[name], sides) for name, value in expected.items())


def check_equal(title: str, expected: Value, actual: Value, sides: Sides) -> int:
    """Check that two values are equal in type, shape and bits, and return the number of elements; all NaNs are equal.

    - `title`: the value's title in messages: ``"output 'c'"``.
    - `sides`: the names of the sides in messages: ``("the original", "the converted")``.

    DifferenceError if they differ; the message names the first index, both values, with the encoding of floats, and the
    number of differences.
    """
    if isinstance(expected, np.ndarray) and isinstance(actual, np.ndarray):
        return _check_arrays(title, expected, actual, sides)
    if isinstance(expected, list) and isinstance(actual, list) and len(expected) == len(actual):
        pairs = enumerate(zip(expected, actual, strict=True))
        return sum(check_equal(f"item {number} of {title}", *pair, sides) for number, pair in pairs)
    if expected is None and actual is None:
        return 0
    if isinstance(expected, dict) and isinstance(actual, dict) and list(expected) == list(actual):
        return sum(
            check_equal(f"entry {quoted(str(key))} of {title}", expected[key], actual[key], sides) for key in expected
        )
    if type(expected) is type(actual) and np.isscalar(expected):  # In a dict.
        kind = object if isinstance(expected, str) else None
        return _check_arrays(title, np.array(expected, kind), np.array(actual, kind), sides)
    raise DifferenceError(f"{title} is {_type_text(expected)} in {sides[0]}, {_type_text(actual)} in {sides[1]}")


def _type_text(value: Value) -> str:
    return f"{type(value).__name__} of {len(value)}" if isinstance(value, list | dict) else type(value).__name__


def _check_arrays(title: str, expected: NDArray[Any], actual: NDArray[Any], sides: Sides) -> int:
    if expected.dtype != actual.dtype:
        types = f"{expected.dtype} in {sides[0]}, {actual.dtype} in {sides[1]}"
        raise DifferenceError(f"{title} is of element type {types}")
    if expected.shape != actual.shape:
        shapes = f"{shape_text(expected.shape)} in {sides[0]}, {shape_text(actual.shape)} in {sides[1]}"
        raise DifferenceError(f"{title} has shape {shapes}")
    different = _different(expected, actual)
    count = int(np.count_nonzero(different))
    if count:
        index = tuple(int(i) for i in np.unravel_index(int(np.argmax(different)), expected.shape))
        values = f"{_value_text(expected[index])} in {sides[0]}, {_value_text(actual[index])} in {sides[1]}"
        raise DifferenceError(f"{title} differs at index {index}: {values}; {count} of {expected.size} elements differ")
    return expected.size


def _different(expected: NDArray[Any], actual: NDArray[Any]) -> NDArray[np.bool_]:
    if expected.dtype.kind in "c":
        parts = [_different(expected.real, actual.real), _different(expected.imag, actual.imag)]
        return np.asarray(parts[0] | parts[1])
    if not _is_float(expected.dtype):
        return np.asarray(expected != actual, bool)
    bits = f"u{expected.dtype.itemsize}"
    differ = np.ascontiguousarray(expected).view(bits) != np.ascontiguousarray(actual).view(bits)
    with np.errstate(invalid="ignore"):  # isnan of ml_dtypes warns about signalling NaN.
        both_nan = np.isnan(expected) & np.isnan(actual)
    return np.asarray(differ.reshape(expected.shape) & ~both_nan)


def _is_float(dtype: np.dtype[Any]) -> bool:
    return "float" in dtype.name  # All types of ml_dtypes are of kind "V", including its integers.


def _value_text(value: Any) -> str:
    array = np.asarray(value)
    if array.dtype.kind in "OU":
        return quoted(str(value))
    if not _is_float(array.dtype):
        return str(value)
    width = 2 * array.dtype.itemsize
    return f"{value!s} (0x{int(array.view(f'u{array.dtype.itemsize}')):0{width}x})"
