"""Conversion between element types, defined where ONNX's Cast leaves much open.

Conversions to an integer type keep the low bits of integers, and truncate floats toward zero and saturate them; NaN
gives 0. Conversions to a float type round once, to nearest with ties to even. In conversions to boolean, 0 is false and
everything else is true.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from vinculum.kernels.float_environment import ieee_754
from vinculum.spec.element_types import INT4, UINT4, ElementType
from vinculum.tensors.storage import dtype_of, element_type_of_dtype

_CHUNK = 1 << 18
_EXACT_BITS = 53
_DROPPED_BITS = 64 - _EXACT_BITS
_NARROW = 16  # Bits. NumPy and ml_dtypes convert to float types up to this width through binary32.


def convert(array: NDArray[Any], target: ElementType | str) -> NDArray[Any]:
    """Return the values of an array in another element type (or ``"bool"``); the array itself if it has that type."""
    dtype = np.dtype(bool) if isinstance(target, str) else dtype_of(target)
    if array.dtype == dtype:
        return array
    result = np.empty(array.shape, dtype)
    flat = result.reshape(-1)
    source = array.reshape(-1) if array.flags.c_contiguous else array.flat
    for start in range(0, array.size, _CHUNK):
        # No warnings for infinities and NaN, which are valid results; subnormal numbers are kept.
        with ieee_754():
            flat[start : start + _CHUNK] = _converted(_plain(source[start : start + _CHUNK]), target, dtype)
    return result


def _plain(piece: NDArray[Any]) -> NDArray[Any]:
    """Return the values in one of NumPy's own types that holds all of them."""
    if piece.dtype == bool:
        return piece.astype(np.uint8)
    source = element_type_of_dtype(piece.dtype)
    if source in (INT4, UINT4):
        return piece.astype(np.int8)
    if source is not None and source.binary_format is not None and source.bits < 32:
        return piece.astype(np.float32)
    return piece


def _converted(piece: NDArray[Any], target: ElementType | str, dtype: np.dtype[Any]) -> NDArray[Any]:
    if isinstance(target, str):
        return np.asarray(piece != 0)
    if target.is_integer:
        return _to_integer(piece, target).astype(dtype)
    if target.bits > _NARROW:
        return piece.astype(dtype)
    return _to_float32_keeping_sticky(piece).astype(dtype)


def _to_integer(piece: NDArray[Any], target: ElementType) -> NDArray[Any]:
    if piece.dtype.kind == "f":
        return _truncated(piece, target)
    if target is UINT4:
        return (piece & 15).astype(np.uint8)
    return ((piece & 15).astype(np.int8) ^ 8) - 8 if target is INT4 else piece


def _truncated(piece: NDArray[Any], target: ElementType) -> NDArray[Any]:
    """Truncate floats; only those in range are cast, since the result of other casts depends on the processor."""
    wide = np.trunc(piece.astype(np.float64))
    result = np.zeros(wide.shape, np.uint64 if target.minimum == 0 else np.int64)
    above, below = wide >= float(target.maximum + 1), wide < float(target.minimum)
    fits = ~(above | below | np.isnan(wide))
    result[fits] = wide[fits].astype(result.dtype)
    result[above], result[below] = target.maximum, target.minimum
    return result


def _to_float32_keeping_sticky(piece: NDArray[Any]) -> NDArray[np.float32]:
    """Round to odd to binary32: inexact values get a last bit of 1, so that a second, narrower rounding is correct."""
    if piece.dtype == np.float32:
        return piece
    wide = _to_float64_keeping_sticky(piece)
    nearest = wide.astype(np.float32)
    bits = nearest.view(np.uint32)
    inexact = (nearest != wide) & ~np.isnan(wide)
    bits -= inexact & (np.abs(nearest) > np.abs(wide))
    bits |= inexact
    return nearest


def _to_float64_keeping_sticky(piece: NDArray[Any]) -> NDArray[np.float64]:
    if piece.dtype not in (np.int64, np.uint64):
        return piece.astype(np.float64)
    negative = piece < 0
    magnitude = np.where(negative, np.negative(piece), piece).astype(np.uint64)
    dropped = np.uint64((1 << _DROPPED_BITS) - 1)
    sticky = (magnitude & ~dropped) | (((magnitude & dropped) != 0).astype(np.uint64) << np.uint64(_DROPPED_BITS))
    exact = np.where(magnitude >> np.uint64(_EXACT_BITS) != 0, sticky, magnitude).astype(np.float64)
    return np.where(negative, -exact, exact)
