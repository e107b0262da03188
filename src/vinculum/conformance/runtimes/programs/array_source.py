"""Arrays as Python source that reproduces them bit by bit, as short as a person would write it if possible."""

from __future__ import annotations

import zlib
from base64 import b85encode
from typing import Any

import ml_dtypes
import numpy as np
from numpy.typing import NDArray

from vinculum.tensors.storage import element_type_of

_SHORT = 8
"""Arrays with more elements than this are written as a sequence if they are one."""
_LISTED = 64
"""The most elements that are written one by one."""
_WIDTH = 100
_LONGEST_NUMBER = 14


def array_source(array: NDArray[Any]) -> str:
    """Return a Python expression that reproduces an array bit by bit, with ``np`` and other modules as needed.

    Floats are decimals where those are short and give the same bits, else encodings in hexadecimal. A repeated number
    and a sequence of integers are written as such; many different numbers are compressed.
    """
    dtype = dtype_source(array.dtype)
    if not array.size:
        return f"np.empty({array.shape}, {dtype})"
    if array.dtype == object:
        return f"np.array({_nested(array, _rational)}, {dtype})"
    if array.size > 1 and _is_uniform(array):
        return f"np.full({array.shape}, {array_source(array.reshape(-1)[:1].reshape(()))})"
    if array.size > _SHORT and (sequence := _sequence(array, dtype)):
        return sequence
    return _compressed(array, dtype) if array.size > _LISTED else _listed(array, dtype)


def dtype_source(dtype: np.dtype[Any]) -> str:
    """Return the expression for an element type: ``np.float32``, ``ml_dtypes.bfloat16``."""
    if dtype.hasobject:
        return "object"
    return f"{'ml_dtypes' if hasattr(ml_dtypes, dtype.name) else 'np'}.{dtype.name}"


def _listed(array: NDArray[Any], dtype: str) -> str:
    decimals = _nested(array, _decimal)
    # Decimals of integers are always exact; those of floats are verified below.
    spelt = f"np.array({decimals}, {dtype})" if array.dtype.isbuiltin == 1 else f"np.array({decimals}).astype({dtype})"
    if element_type_of(array).is_integer:
        return spelt
    short = all(len(_decimal(element)) <= _LONGEST_NUMBER for element in array.reshape(-1))
    if short and _same_bits(_evaluated(array), array):
        return spelt
    bits = array.view(f"u{array.itemsize}")
    digits = 2 * array.itemsize
    return f"np.array({_nested(bits, lambda n: f'0x{int(n):0{digits}x}')}, np.{bits.dtype.name}).view({dtype})"


def _nested(array: NDArray[Any], spell: Any) -> str:
    """Return the elements as nested lists."""
    if array.ndim == 0:
        return str(spell(array[()]))
    rows = (array[place : place + 1].reshape(array.shape[1:]) for place in range(len(array)))
    return f"[{', '.join(_nested(row, spell) for row in rows)}]"


def _decimal(element: Any) -> str:
    if element.dtype.kind in "iu":
        return str(element.item())
    if element.dtype.isbuiltin != 1:  # Python cannot read the text of ml_dtypes' elements.
        element = int(element) if element_type_of(element).is_integer else np.float64(element)
    text = str(element)
    return {"nan": "np.nan", "inf": "np.inf", "-inf": "-np.inf"}.get(text, text)


def _rational(element: Any) -> str:
    return f"Fraction({element.numerator}, {element.denominator})"


def _evaluated(array: NDArray[Any]) -> NDArray[Any]:
    """Return the array that Python reads from the decimals of an array of floats."""
    texts = [_decimal(element).removeprefix("np.").replace("-np.", "-") for element in array.reshape(-1)]
    return np.array([float(text) for text in texts]).astype(array.dtype).reshape(array.shape)


def _same_bits(one: NDArray[Any], other: NDArray[Any]) -> bool:
    return one.tobytes() == other.tobytes()


def _is_uniform(array: NDArray[Any]) -> bool:
    first = np.empty_like(array)
    first[...] = array.reshape(-1)[0]
    return _same_bits(first, array)


def _sequence(array: NDArray[Any], dtype: str) -> str | None:
    """Return the expression for an arithmetic sequence of integers; None for other arrays."""
    flat = array.reshape(-1)
    if not all(np.isfinite(np.float64(element)) for element in flat[:2]):
        return None
    start, second = (int(element) for element in flat[:2])
    step = second - start
    stop = start + step * array.size
    if not step or not all(-(2**63) <= end < 2**63 for end in (start, stop)):
        return None
    with np.errstate(all="ignore"):  # Numbers that the type cannot represent fail the comparison of bits.
        if not _same_bits(np.arange(start, stop, step).astype(array.dtype), flat):
            return None
    ends = f"{start}, {stop}, {step}" if step != 1 else f"{start}, {stop}" if start else str(stop)
    shape = "" if array.ndim == 1 else f".reshape{array.shape}"
    return f"np.arange({ends}){shape}.astype({dtype})"


def _compressed(array: NDArray[Any], dtype: str) -> str:
    text = b85encode(zlib.compress(array.tobytes(), 9)).decode()
    pieces = "\n".join(f'    "{text[start : start + _WIDTH]}"' for start in range(0, len(text), _WIDTH))
    return f"np.frombuffer(zlib.decompress(base64.b85decode(\n{pieces}\n)), {dtype}).copy().reshape({array.shape})"
