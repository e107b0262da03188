"""Tells whether a computed array lies within what the analysis knows; and encloses arrays in intervals."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray
from onnx import ModelProto

from vinculum.analysis.domain.abstract_tensor import AbstractTensor, constant
from vinculum.analysis.domain.dimensions import bounds
from vinculum.analysis.domain.formats import FORMATS, is_discrete
from vinculum.analysis.interpreter import Interpreter, Scope
from vinculum.analysis.transfer.shared import hulled
from vinculum.models.onnx.inference import infer_types

Array = NDArray[Any]


def looked_at(
    model: ModelProto, inputs: Mapping[str, AbstractTensor], *, infer: bool = True
) -> tuple[Interpreter, Scope]:
    """Return what is known of every value of a model."""
    types = infer_types(model) if infer else model
    interpreter = Interpreter(model, types, inputs, {}, look=lambda site: None)  # bodies too
    return interpreter, interpreter.run()


def enclosing(array: Array) -> AbstractTensor | None:
    """Return a tensor of one interval that holds an array; None of element types of which nothing is known."""
    if array.dtype.name not in FORMATS and not is_discrete(array.dtype.name):
        return None
    known = constant(array)
    return known if np.isnan(array.astype(np.float64)).all() else hulled(known, array.shape)


def complaint(known: AbstractTensor, array: Array) -> str:
    """Return how an array contradicts what is known of it; empty if it does not."""
    if array.dtype.kind in "OUSV" and array.dtype.name not in FORMATS:
        return ""
    if known.element_type and known.element_type != array.dtype.name:
        return f"it is {array.dtype}, not {known.element_type}"
    return _of_shape(known, array) or _of_values(known, array)


def _of_shape(known: AbstractTensor, array: Array) -> str:
    if known.shape is None:
        return ""
    if len(known.shape) != array.ndim:
        return f"it has shape {array.shape}, not {known.shape}"
    for size, actual in zip(known.shape, array.shape, strict=True):
        low, high = bounds(size)
        if not low <= actual <= high:
            return f"it has shape {array.shape}, not {known.shape}"
    return ""


def _of_values(known: AbstractTensor, array: Array) -> str:
    if not array.size:
        return ""
    values = array.astype(np.float64)
    nan = np.isnan(values)
    if nan.any() and not known.may_nan:
        return "it holds NaN"
    low, high, mag = (np.broadcast_to(b, values.shape) for b in (known.low, known.high, known.mag))
    outside = ~nan & ((values < low) | (values > high) | (np.abs(values) < mag))
    if outside.any():
        place = np.unravel_index(int(np.argmax(outside)), outside.shape)
        return f"{values[place]!r} is outside of [{low[place]!r}, {high[place]!r}] of magnitude {mag[place]!r}"
    zero = values == 0
    minus = zero & np.signbit(values)
    if known.form is not None and minus.any() and not known.may_minus_zero:
        return "it holds -0"
    if (zero & ~minus).any() and not known.may_plus_zero:
        return "it holds +0"
    finite = values[np.isfinite(values)]
    if known.integral and (finite != np.rint(finite)).any():
        return "it holds fractions"
    return _of_facts(known, values)


def _of_facts(known: AbstractTensor, values: Array) -> str:
    for fact in known.facts:
        rows = np.moveaxis(values, fact.axis, -1).reshape(-1, values.shape[fact.axis])
        if fact.fills and not (np.isnan(rows).all(axis=1) == np.isnan(rows).any(axis=1)).all():
            return f"a row along {fact.axis} holds NaN and more"
        for row in rows[~np.isnan(rows).any(axis=1)]:
            if fact.kind.value == "some>=" and not row.max() >= fact.low:
                return f"no element along {fact.axis} is at least {fact.low!r}: {row}"
            if fact.kind.value == "some<=" and not row.min() <= fact.high:
                return f"no element along {fact.axis} is at most {fact.high!r}: {row}"
            if fact.kind.value == "sum" and np.isfinite(row).all() and not fact.low <= row.sum() <= fact.high:
                return f"the sum along {fact.axis} is not in [{fact.low!r}, {fact.high!r}]: {row}"
    if known.constant is not None and known.constant.dtype == values.dtype and known.constant.shape == values.shape:
        return "" if np.array_equal(known.constant, values, equal_nan=True) else "it is another constant"
    return ""
