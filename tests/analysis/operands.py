"""Operands at the edges of their element types: boxes, and arrays that lie in them."""

from __future__ import annotations

from math import inf, sqrt
from typing import Any

import ml_dtypes
import numpy as np
from numpy.typing import NDArray

from vinculum.analysis.domain.abstract_tensor import AbstractTensor, tensor
from vinculum.analysis.domain.formats import FORMATS, type_range

Array = NDArray[Any]
Drawn = tuple[AbstractTensor, Array]
_SIGNS = np.array((-1.0, 1.0))  # NumPy's own `choice` takes longer than what it chooses for.


def drawn(rng: np.random.Generator, element_type: str, shape: tuple[int, ...], *, tame: bool = False) -> Drawn:
    """Return the declared bounds of an operand, and an array within them.

    - `tame`: without infinities, NaN and numbers near the largest.
    """
    if element_type == "bool":
        array = rng.integers(0, 2, shape).astype(bool)
        return tensor("bool", shape, array.min(initial=1), array.max(initial=0), integral=True), array
    if element_type not in FORMATS:
        return _integers(rng, element_type, shape, tame)
    return _floats(rng, element_type, shape, tame)


def _integers(rng: np.random.Generator, element_type: str, shape: tuple[int, ...], tame: bool) -> Drawn:
    smallest, _ = type_range(element_type)
    ends = [0, 1, 2, 7, 100, *([-1, -5] if smallest < 0 else [])]
    if not tame:
        ends += [int(smallest), int(np.iinfo(element_type).max)]
    low, high = sorted(ends[place] for place in rng.integers(len(ends), size=2))
    info = np.iinfo(element_type)
    low, high = max(low, int(info.min)), min(high, int(info.max))
    array = rng.integers(low, high, shape, dtype=element_type, endpoint=True)
    _put_ends(rng, array, [low, high])
    # A number beyond 2**53 may be rounded inward.
    below, above = (
        float(np.nextafter(end, way)) if abs(end) > 2**53 else end for end, way in ((low, -inf), (high, inf))
    )
    return tensor(element_type, shape, below, above, integral=True), array


def _put_ends(rng: np.random.Generator, array: Array, ends: list[Any]) -> None:
    flat = array.reshape(-1)
    for end in ends:
        if flat.size:
            flat[rng.integers(flat.size)] = end


def _floats(rng: np.random.Generator, element_type: str, shape: tuple[int, ...], tame: bool) -> Drawn:
    form = FORMATS[element_type]
    dtype = getattr(ml_dtypes, element_type, element_type)
    magnitudes = [0.0, 1.0, 0.5, 2.0, 3.7, 10.0, 1e-3, form.smallest_subnormal, form.smallest_normal, 88.0, 20.0]
    if not tame:
        magnitudes += [form.max, form.max / 2, sqrt(form.max), sqrt(form.smallest_normal), inf]
    ends = sorted(magnitudes[rng.integers(len(magnitudes))] * (-1, 1)[rng.integers(2)] for _ in range(2))
    if rng.random() < 0.15:
        ends = [ends[0], ends[0]]
    low, high = (float(np.asarray(end).astype(dtype).astype(np.float64)) for end in ends)
    plus, minus = bool(rng.random() < 0.6), bool(rng.random() < 0.5)
    with np.errstate(over="ignore"):
        values = _between(rng, low, high, shape, form.smallest_subnormal).astype(dtype).astype(np.float64)
    values = np.array(np.clip(values, low, high))
    _put_ends(rng, values, [low, high])
    zero = values == 0
    if not plus and not minus:
        inside = low if low != 0 else high
        values[zero] = inside
        plus = minus = inside == 0
        zero = values == 0
    signs = rng.random(values.shape) < 0.5
    values[zero] = np.where((signs[zero] | (not plus)) & minus, -0.0, 0.0)
    nan = not tame and rng.random() < 0.15
    if nan:
        values.reshape(-1)[rng.integers(max(values.size, 1))] = np.nan
    known = tensor(element_type, shape, low, high, may_nan=nan, may_plus_zero=plus, may_minus_zero=minus)
    return known, values.astype(dtype)


def _between(rng: np.random.Generator, low: float, high: float, shape: tuple[int, ...], least: float) -> Array:
    """Return numbers of all magnitudes between two, both ends included."""
    if low == high:
        return np.full(shape, low)
    bottom, top = max(low, -1e300), min(high, 1e300)
    even = bottom + (top - bottom) * rng.random(shape)
    largest = max(abs(bottom), abs(top), least)
    scaled = largest * 10.0 ** -(rng.random(shape) * 12) * _SIGNS[rng.integers(2, size=shape)]
    return np.clip(np.where(rng.random(shape) < 0.5, even, scaled), low, high)
