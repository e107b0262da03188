"""Whether two tensors hold the same numbers, bit for bit, and by how many ulps they do not."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from vinculum.spec.element_types import BinaryFormat, ElementType


def different(expected: NDArray[Any], actual: NDArray[Any], element_type: ElementType) -> NDArray[np.bool_]:
    """Tell which elements of two arrays of one element type and shape differ.

    NaN equals NaN, whatever its sign and payload; -0.0 and 0.0 differ.
    """
    form = element_type.binary_format
    if form is None:
        return np.asarray(expected != actual, bool)
    bits = [encodings(array, element_type) for array in (expected, actual)]
    return np.asarray((bits[0] != bits[1]) & ~(_is_nan(bits[0], form) & _is_nan(bits[1], form)))


def ulps_apart(expected: NDArray[Any], actual: NDArray[Any], element_type: ElementType) -> list[int] | None:
    """Return by how many encodings each number is off; None if that is meaningless for one of them.

    A number that is NaN, infinite, of the other sign, or a binade or more away is not a rounding of the expected one.
    """
    form = element_type.binary_format
    if form is None:
        return None
    bits = [encodings(array, element_type) for array in (expected, actual)]
    mask = bits[0].dtype.type(form.sign_mask)
    magnitudes = [own & ~mask for own in bits]
    if np.any((bits[0] ^ bits[1]) & mask) or any(np.any(own > form.largest) for own in magnitudes):
        return None
    # Of one sign, encodings follow each other as the numbers do.
    distances: list[int] = (np.maximum(*magnitudes) - np.minimum(*magnitudes)).tolist()
    return distances if max(distances) < 1 << form.trailing_bits else None


def encodings(array: NDArray[Any], element_type: ElementType) -> NDArray[Any]:
    """Return the encodings of floats as unsigned integers of the same size."""
    return np.ascontiguousarray(array).view(f"u{element_type.bits // 8}").reshape(array.shape)


def _is_nan(bits: NDArray[Any], form: BinaryFormat) -> NDArray[np.bool_]:
    """Tell which encodings are NaN; ml_dtypes' `isnan` would warn of signalling ones."""
    return np.asarray(bits & bits.dtype.type(form.sign_mask - 1) > form.largest + form.infinities)
