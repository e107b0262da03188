"""Declared ranges of a model's inputs and of its named dimensions."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import ceil, floor, inf, isinf, isnan, nextafter

import numpy as np
from numpy.typing import ArrayLike
from onnx import ModelProto, ValueInfoProto

from vinculum.analysis.domain.abstract_tensor import AbstractTensor, BoundsFrom, anything, tensor
from vinculum.analysis.domain.box import Box
from vinculum.analysis.domain.dimensions import LARGEST_DECLARED
from vinculum.analysis.domain.formats import is_discrete, type_range
from vinculum.analysis.transfer.call import named_type, size_of
from vinculum.errors import ModelError
from vinculum.text import did_you_mean, listed, quoted

_METADATA = "vinculum.assume"
_EXACT = 2.0**53
"""The largest number up to which every integer is a float64."""
_FORMS = "NAME=LOW:HIGH, NAME=A|B, NAME=VALUE, NAME>=LOW, NAME<=HIGH"
_NUMBER = r"[^:|=<>]+"
_SPLIT = re.compile(
    rf"(?P<name>.+?)(?P<sign>>=|<=|=)(?P<first>{_NUMBER})(?:(?P<between>[:|])(?P<last>{_NUMBER}))?$", re.S
)


@dataclass(frozen=True)
class Range:
    """A declared range: bounds, and whether only the bounds themselves are allowed; integers beyond 2**53 are int."""

    low: float
    high: float
    ends_alone: bool = False


@dataclass(frozen=True)
class Assumptions:
    """The declared ranges, by input and by dimension."""

    inputs: Mapping[str, ValueInfoProto]
    ranges: Mapping[str, Range] = field(default_factory=dict)
    sizes: Mapping[str, tuple[float, float]] = field(default_factory=dict)

    def tensors(self, narrowed: str) -> dict[str, AbstractTensor]:
        """Return what is known of each input with a declared range."""
        return {name: self._tensor(self.inputs[name], found, narrowed) for name, found in self.ranges.items()}

    def finite(self, names: Iterable[str], narrowed: str) -> dict[str, AbstractTensor]:
        """Return inputs as any finite numbers of their type, which nobody declared."""
        found = {}
        for name in names:
            whole = self._tensor(self.inputs[name], Range(-inf, inf), narrowed)
            most = whole.form.max if whole.form is not None else inf
            box = Box(np.maximum(whole.low, -most), np.minimum(whole.high, most), whole.mag)
            found[name] = whole.known(box=box, bounds_from=BoundsFrom.TYPE)
        return found

    def _tensor(self, value: ValueInfoProto, found: Range, narrowed: str) -> AbstractTensor:
        declared = value.type.tensor_type
        element_type = named_type(declared.elem_type, narrowed)
        sizes = tuple(size_of(size, self.sizes, 1) for size in declared.shape.dim)
        shape = sizes if declared.HasField("shape") else None
        known = anything(element_type, shape)
        if not element_type:
            return known
        smallest, biggest = type_range(element_type)
        low, high = max(found.low, smallest), min(found.high, biggest)
        if is_discrete(element_type):  # A larger number may have been rounded inward.
            low, high = (end if abs(end) <= _EXACT else nextafter(end, way) for end, way in ((low, -inf), (high, inf)))
            low, high = max(low, smallest), min(high, biggest)
            low, high = (end if isinf(end) else way(end) for end, way in ((low, ceil), (high, floor)))
        if low > high:
            given = f"{found.low:g}:{found.high:g}"
            raise ModelError(f"input {quoted(value.name)} holds {element_type}, none of which lies in {given}")
        whole = is_discrete(element_type) or (found.ends_alone and low.is_integer() and high.is_integer())
        mag = min(abs(low), abs(high)) if found.ends_alone and 0 not in (low, high) else None
        if known.form is not None:
            low, high = (float(known.form.round(np.asarray(end, np.float64))) for end in (low, high))
        return tensor(element_type, shape, low, high, mag, integral=whole, bounds_from=BoundsFrom.DECLARED)


def read_assumptions(texts: Sequence[str], model: ModelProto) -> Assumptions:
    """Return the ranges declared by the model's metadata, line by line under ``vinculum.assume``, then by texts.

    ModelError if one cannot be read, names no input and no dimension, or leaves nothing.
    """
    constants = {tensor.name for tensor in model.graph.initializer}
    inputs = {value.name: value for value in model.graph.input if value.name not in constants}
    dims = {d.dim_param for v in inputs.values() for d in v.type.tensor_type.shape.dim if d.dim_param}
    written = [entry.value for entry in model.metadata_props if entry.key == _METADATA]
    lines = [line.strip() for text in written for line in text.splitlines() if line.strip()]
    ranges: dict[str, Range] = {}
    sizes: dict[str, Range] = {}
    for text in (*lines, *texts):
        name, found = _read(text, [*inputs, *dims])
        if name in inputs:
            ranges[name] = _narrowed(ranges.get(name), found, text)
        else:
            whole = Range(float(np.ceil(float(found.low))), float(np.floor(float(found.high))))
            if whole.low > whole.high:
                raise ModelError(f"assumption {quoted(text)} leaves no size, which is a whole number")
            sizes[name] = _narrowed(sizes.get(name, Range(0, inf)), whole, text)
    return Assumptions(inputs, ranges, {name: _size_bounds(size) for name, size in sizes.items()})


def _size_bounds(declared: Range) -> tuple[float, float]:
    is_open = isinf(declared.high) and declared.low < LARGEST_DECLARED
    return declared.low, LARGEST_DECLARED if is_open else declared.high


MARGIN = 0.5
"""How far inputs may lie beyond the range seen, as a part of that range."""


def calibrated(assumptions: Assumptions, arrays: Mapping[str, ArrayLike]) -> Assumptions:
    """Return assumptions with the ranges of arrays for inputs without a declared range.

    Integers and truth values keep the range seen, floats may lie `MARGIN` beyond it; nonnegative inputs stay so.

    ModelError if an array matches no input, is empty, or holds NaN or an infinity.
    """
    ranges = dict(assumptions.ranges)
    for name, given in arrays.items():
        array = np.asarray(given)
        if name not in assumptions.inputs:
            raise ModelError(f"array {quoted(name)} matches no input; inputs: {listed(list(assumptions.inputs))}")
        if array.dtype.kind not in "fiub" and array.dtype.kind != "V":
            raise ModelError(f"array {quoted(name)} holds {array.dtype}; give numbers")
        values = array.astype(np.float64)
        if not values.size or not np.isfinite(values).all():
            raise ModelError(f"array {quoted(name)} holds nothing, NaN or infinities; give finite numbers")
        low, high = float(values.min()), float(values.max())
        if array.dtype.kind in "fV":
            beyond = MARGIN * (high - low)
            low, high = (max(low - beyond, 0.0) if low >= 0 else low - beyond), high + beyond
        ranges.setdefault(name, Range(low, high))
    return replace(assumptions, ranges=ranges)


def _narrowed(before: Range | None, found: Range, text: str) -> Range:
    if before is None or found.ends_alone:
        return found
    both = Range(max(before.low, found.low), min(before.high, found.high))
    if both.low > both.high:
        raise ModelError(f"assumption {quoted(text)} leaves no value: others say {before.low:g}:{before.high:g}")
    return both


def _read(text: str, names: Iterable[str]) -> tuple[str, Range]:
    allowed = list(names)
    match = _SPLIT.match(text)
    if match is None:
        raise ModelError(f"assumption {quoted(text)} cannot be read; write {_FORMS}")
    name, sign, first, between, last = match.group("name", "sign", "first", "between", "last")
    if name not in allowed:
        known = listed(allowed)
        raise ModelError(
            f"assumption {quoted(text)} names no input and no dimension; there are {known}{did_you_mean(name, allowed)}"
        )
    low, high = _number(first, text), _number(last if last is not None else first, text)
    if sign != "=":
        if last is not None:
            raise ModelError(f"assumption {quoted(text)} cannot be read; write {_FORMS}")
        return name, Range(low, inf) if sign == ">=" else Range(-inf, high)
    if low > high:
        raise ModelError(f"assumption {quoted(text)}: {first} is more than {last}; write the lower number first")
    return name, Range(low, high, between == "|")


def _number(text: str, whole: str) -> float:
    try:
        number = float(text)
    except ValueError:
        number = float("nan")
    if isnan(number):
        raise ModelError(f"assumption {quoted(whole)}: {quoted(text)} is not a number; write {_FORMS}")
    return _exact(text, number) if _EXACT <= abs(number) < 2.0**65 else number


def _exact(text: str, number: float) -> float:
    try:
        return int(text)
    except ValueError:
        return number
