"""Constants as abstract tensors: small ones element by element, of large ones bounds in their own element type."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from vinculum.analysis.domain.abstract_tensor import AbstractTensor, BoundsFrom, anything, tensor
from vinculum.analysis.domain.box import LIMIT
from vinculum.analysis.domain.formats import FORMATS, downward, is_discrete, upward


def constant(array: NDArray[Any], element_type: str | None = None) -> AbstractTensor:
    """Return what is known of a constant.

    - `element_type`: the type that it is held in, if that is narrower than the array's own.
    """
    name = element_type or array.dtype.name
    if name not in FORMATS and not is_discrete(name):
        return anything(name, array.shape).known(constant=array, bounds_from=BoundsFrom.MODEL)
    if array.size == 0:
        return tensor(name, array.shape, 0.0, 0.0, constant=array, integral=True)
    if array.size <= LIMIT:
        return _element_by_element(array, name)
    return _summarised(array, name)


def _element_by_element(array: NDArray[Any], name: str) -> AbstractTensor:
    form = FORMATS.get(name)
    values = array.astype(np.float64)
    if form is not None and name != array.dtype.name:
        values = form.round(values)
    if name in ("int64", "uint64"):
        exact = np.abs(values) < 2.0**53
        low, high = np.where(exact, values, downward(values)), np.where(exact, values, upward(values))
        low, high = np.maximum(low, 0.0 if name == "uint64" else -(2.0**63)), np.minimum(high, 2.0**63)
        high = np.where(values >= 2.0**63, values, high)
        return tensor(
            name, array.shape, low, high, np.minimum(np.abs(low), np.abs(high)), constant=array, integral=True
        )
    nan = np.isnan(values)
    if nan.all():
        return tensor(name, array.shape, np.inf, np.inf, may_nan=True, constant=array)
    zero = values == 0
    minus = zero & np.signbit(values)
    low, high = np.where(nan, np.inf, values), np.where(nan, -np.inf, values)
    if nan.any():  # An interval of its own for NaN alone would be empty; the nearest value keeps all bounds in order.
        low, high = np.where(nan, values[~nan].min(), low), np.where(nan, values[~nan].min(), high)
    finite = values[~nan & np.isfinite(values)]
    return tensor(
        name,
        array.shape,
        low,
        high,
        np.abs(low),
        may_nan=bool(nan.any()),
        may_plus_zero=bool((zero & ~minus).any()),
        may_minus_zero=bool(minus.any()),
        constant=array,
        integral=bool((finite == np.rint(finite)).all()),
    )


def _summarised(array: NDArray[Any], name: str) -> AbstractTensor:
    """Return bounds along the axes that are left when leading ones are reduced, each in the array's own type."""
    if array.dtype.name not in ("float32", "float64") and not is_discrete(array.dtype.name):
        array_in = array.astype(np.float32)  # NumPy reduces no other type fast.
    else:
        array_in = array
    axes: tuple[int, ...] = ()
    for axis, size in enumerate(array.shape):
        if np.prod([s for a, s in enumerate(array.shape) if a not in axes], dtype=float) <= LIMIT:
            break
        axes = (*axes, axis) if size > 1 else axes
    low, high = array_in.min(axis=axes, keepdims=True), array_in.max(axis=axes, keepdims=True)
    nan = bool(np.isnan(low).any()) if low.dtype.kind == "f" else False
    if nan:
        low, high = np.fmin.reduce(array_in, axes, keepdims=True), np.fmax.reduce(array_in, axes, keepdims=True)
    form = FORMATS.get(name)
    lows, highs = low.astype(np.float64), high.astype(np.float64)
    if form is not None and name != array.dtype.name:
        lows, highs = form.round(lows), form.round(highs)
    if name in ("int64", "uint64"):
        lows, highs = (
            np.where(np.abs(lows) < 2.0**53, lows, downward(lows)),
            np.where(np.abs(highs) < 2.0**53, highs, upward(highs)),
        )
    return tensor(name, array.shape, lows, highs, may_nan=nan, constant=array, integral=is_discrete(name))
