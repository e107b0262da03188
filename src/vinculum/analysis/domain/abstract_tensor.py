"""What is known of one tensor without running: its type, its shape, a box of intervals, zeros, NaN, and relations."""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import IntEnum
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from vinculum.analysis.domain.box import LIMIT, Box, limited, ranked
from vinculum.analysis.domain.dimensions import Dimension, Shape, bounds, unknown_size
from vinculum.analysis.domain.facts import Affine, Facts
from vinculum.analysis.domain.formats import (
    FORMATS,
    HIGHEST,
    LOWEST,
    ZERO,
    Bounds,
    Format,
    downward,
    every,
    is_discrete,
    some,
    type_range,
    upward,
)

SMALL = 4096
"""The most elements of a constant whose values are used; of a larger constant only bounds and sums are."""
_MOST_ENTRIES = 64


class BoundsFrom(IntEnum):
    """What the bounds of a tensor depend on."""

    MODEL = 0  # Constants and operators alone.
    DECLARED = 1  # Ranges of inputs that somebody declared, or that data show.
    TYPE = 2  # The limits of an element type, too.


@dataclass(frozen=True, slots=True, eq=False)
class AbstractTensor:
    """Every tensor that the value can be, in any run."""

    element_type: str  # NumPy's or ml_dtypes' name; empty if it is not known.
    shape: Shape | None  # None if the rank is not known.
    box: Box  # Bounds of all values but NaN.
    may_nan: bool = False  # Whether some element may be NaN.
    may_plus_zero: bool = True  # Whether some element may be +0.
    may_minus_zero: bool = False  # Whether some element may be -0, which integers do not have.
    number: int = 0  # The value number: equal numbers are equal tensors; 0 before one is assigned.
    facts: Facts = ()  # What is known of rows.
    affine: Affine | None = None  # The value as a sum of others.
    constant: NDArray[Any] | None = None  # The value itself, of any size.
    entries: tuple[Dimension | None, ...] | None = None  # The known elements of a short list of integers.
    integral: bool = False  # Whether every finite value is a whole number.
    bounds_from: BoundsFrom = BoundsFrom.MODEL  # What the bounds rest on.

    @property
    def form(self) -> Format | None:
        """The floating-point format; None for integers and everything else."""
        return FORMATS.get(self.element_type)

    @property
    def rank(self) -> int | None:
        """How many dimensions it has."""
        return None if self.shape is None else len(self.shape)

    @property
    def may_zero(self) -> bool:
        """Whether some element may be a zero of either sign."""
        return self.may_plus_zero or self.may_minus_zero

    @property
    def never_negative(self) -> bool:
        """Whether every element but NaN is at least +0."""
        return not self.may_minus_zero and every(self.low >= 0)

    @property
    def may_infinite(self) -> bool:
        """Whether some element may be an infinity."""
        return some(np.isinf(self.box.low)) or some(np.isinf(self.box.high))

    @property
    def at_least_zero(self) -> bool:
        """Whether no element is less than zero, be it +0 or -0."""
        return every(self.low >= 0)

    @property
    def largest(self) -> float:
        """The largest magnitude."""
        return float(self.box.largest().max())

    @property
    def low(self) -> Bounds:
        """The lower bounds."""
        return self.box.low

    @property
    def high(self) -> Bounds:
        """The upper bounds."""
        return self.box.high

    @property
    def mag(self) -> Bounds:
        """The lower bounds of the magnitudes."""
        return self.box.mag

    @property
    def small(self) -> NDArray[Any] | None:
        """The value itself, if it is a constant of few elements."""
        return self.constant if self.constant is not None and self.constant.size <= SMALL else None

    @property
    def scalar(self) -> float | None:
        """The only element of a constant; an integer exactly."""
        return self.constant.item() if self.constant is not None and self.constant.size == 1 else None

    def sizes(self) -> tuple[Dimension | None, ...] | None:
        """Return each of a few integers; None if the tensor is not of integers, or not short."""
        if self.entries is not None:
            return self.entries
        if self.constant is not None and self.constant.size <= _MOST_ENTRIES and is_discrete(self.element_type):
            return tuple(int(value) for value in self.constant.reshape(-1))
        return None

    def known(self, **changes: Any) -> AbstractTensor:
        """Return the same tensor with other fields."""
        return replace(self, **changes)


def tensor(
    element_type: str,
    shape: Shape | None,
    low: ArrayLike,
    high: ArrayLike,
    mag: ArrayLike | None = None,
    *,
    may_nan: bool = False,
    may_plus_zero: bool = True,
    may_minus_zero: bool = True,
    **more: Any,
) -> AbstractTensor:
    """Return an abstract tensor with consistent bounds: within its type, of its rank, and of few elements.

    A bound that is NaN is that of the type, and integers beyond their type wrap, so that they may be any of it.
    """
    form = FORMATS.get(element_type)
    rank = None if shape is None else len(shape)
    lows = ranked(np.asarray(low, np.float64), rank, np.min)
    highs = ranked(np.asarray(high, np.float64), rank, np.max)
    smallest, biggest = type_range(element_type)
    bounded = form is None and biggest < np.inf
    if bounded:
        lows, highs = np.ceil(lows), np.floor(highs)
        within = (lows >= smallest) & (highs <= biggest)
        if not every(within):
            lows, highs = np.where(within, lows, smallest), np.where(within, highs, biggest)
            mag = None
    else:
        lows, highs = np.fmax(lows, LOWEST), np.fmin(highs, HIGHEST)  # Only a NaN changes.
    apart = np.maximum(np.maximum(lows, -highs), ZERO)
    if mag is not None:
        # fmax: a NaN says nothing. It must not become the least of a bound that is reduced to the rank.
        apart = np.maximum(apart, ranked(np.fmax(np.asarray(mag, np.float64), ZERO), rank, np.min))
    lows, highs, apart = limited(lows, np.min), limited(highs, np.max), limited(apart, np.min)
    away = int(np.count_nonzero(apart))  # Never negative, and positive wherever a bound keeps from zero.
    zero = away < apart.size
    if form is None:
        plus, minus = zero, False
    else:
        plus, minus = zero and may_plus_zero, zero and may_minus_zero
    excluded = zero and not (plus or minus)
    if excluded:
        apart = np.maximum(apart, form.least if form is not None else 1.0)
    # Elsewhere `apart` is what the bounds say themselves.
    if excluded or (away and (mag is not None or not every(lows <= highs))):
        lows = np.where((lows > -apart) & (lows < apart), apart, lows)
        highs = np.where((highs < apart) & (highs > -apart), -apart, highs)
    box = Box(lows, highs, apart)
    return AbstractTensor(element_type, shape, box, may_nan and not bounded, plus, minus, **more)


def anything(element_type: str, shape: Shape | None) -> AbstractTensor:
    """Return an abstract tensor that stands for every tensor of an element type and a shape."""
    whole, limits = is_discrete(element_type), type_range(element_type)
    return tensor(element_type, shape, *limits, may_nan=not whole, integral=whole, bounds_from=BoundsFrom.TYPE)


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


def _held_in(low: NDArray[Any], high: NDArray[Any], name: str) -> tuple[Bounds, Bounds]:
    """Return bounds in float64 of elements that are held in a type: rounded to it; outward from 2**53 on."""
    form, narrower = FORMATS.get(name), name != low.dtype.name
    low, high = low.astype(np.float64), high.astype(np.float64)
    if form is not None:
        return (form.round(low), form.round(high)) if narrower else (low, high)
    below, above = np.maximum(downward(low), type_range(name)[0]), np.minimum(upward(high), type_range(name)[1])
    return np.where(np.abs(low) < 2.0**53, low, below), np.where(np.abs(high) < 2.0**53, high, above)


def _element_by_element(array: NDArray[Any], name: str) -> AbstractTensor:
    low, high = _held_in(array, array, name)
    nan = np.isnan(low)
    if nan.all():
        return tensor(name, array.shape, np.inf, np.inf, may_nan=True, constant=array)
    zero = low == 0
    minus = zero & np.signbit(low)
    if nan.any():  # An interval of its own for NaN alone would be empty; the nearest value keeps all bounds in order.
        low = high = np.where(nan, low[~nan].min(), low)
    finite = low[np.isfinite(low)]
    return tensor(
        name,
        array.shape,
        low,
        high,
        np.minimum(np.abs(low), np.abs(high)),
        may_nan=bool(nan.any()),
        may_plus_zero=bool((zero & ~minus).any()),
        may_minus_zero=bool(minus.any()),
        constant=array,
        integral=bool((finite == np.rint(finite)).all()),
    )


def _summarised(array: NDArray[Any], name: str) -> AbstractTensor:
    """Return bounds along the axes that are left when leading ones are reduced, each in the array's own type."""
    fast = array.dtype.name in ("float32", "float64") or is_discrete(array.dtype.name)
    array_in = array if fast else array.astype(np.float32)
    axes: tuple[int, ...] = ()
    for axis, size in enumerate(array.shape):
        if np.prod([s for a, s in enumerate(array.shape) if a not in axes], dtype=float) <= LIMIT:
            break
        axes = (*axes, axis) if size > 1 else axes
    low, high = array_in.min(axis=axes, keepdims=True), array_in.max(axis=axes, keepdims=True)
    nan = bool(np.isnan(low).any())
    if nan:
        low, high = np.fmin.reduce(array_in, axes, keepdims=True), np.fmax.reduce(array_in, axes, keepdims=True)
    return tensor(
        name, array.shape, *_held_in(low, high, name), may_nan=nan, constant=array, integral=is_discrete(name)
    )


def join(a: AbstractTensor, b: AbstractTensor) -> AbstractTensor:
    """Return an abstract tensor that stands for every tensor that either operand stands for."""
    if a.number and a.number == b.number:
        return a
    if a.element_type != b.element_type:
        return anything("", _joined_shape(a.shape, b.shape))
    shape = _joined_shape(a.shape, b.shape)
    p, q = _boxes(a, b)
    return tensor(
        a.element_type,
        shape,
        np.minimum(p.low, q.low),
        np.maximum(p.high, q.high),
        np.minimum(p.mag, q.mag),
        may_nan=a.may_nan or b.may_nan,
        may_plus_zero=a.may_plus_zero or b.may_plus_zero,
        may_minus_zero=a.may_minus_zero or b.may_minus_zero,
        integral=a.integral and b.integral,
        bounds_from=max(a.bounds_from, b.bounds_from),
    )


def _boxes(a: AbstractTensor, b: AbstractTensor) -> tuple[Box, Box]:
    return (a.box, b.box) if a.shape == b.shape else (a.box.hulled(), b.box.hulled())


def _joined_shape(a: Shape | None, b: Shape | None) -> Shape | None:
    if a is None or b is None or len(a) != len(b):
        return None
    ends = [(p, q, bounds(p), bounds(q)) for p, q in zip(a, b, strict=True)]
    return tuple(p if p == q else unknown_size(min(r[0], s[0]), max(r[1], s[1])) for p, q, r, s in ends)


def holds(a: AbstractTensor, b: AbstractTensor) -> bool:
    """Tell whether the first stands for every tensor that the second stands for."""
    if a.element_type != b.element_type or (a.shape is not None and a.shape != b.shape):
        return False
    flags = ((a.may_nan, b.may_nan), (a.may_plus_zero, b.may_plus_zero), (a.may_minus_zero, b.may_minus_zero))
    if any(has and not may for may, has in flags) or (a.integral and not b.integral):
        return False
    p, q = _boxes(a, b)
    return bool((p.low <= q.low).all() and (p.high >= q.high).all() and (p.mag <= q.mag).all())


def widened(a: AbstractTensor, b: AbstractTensor) -> AbstractTensor:
    """Return the join of both; a bound that the second would move becomes the limit of the type."""
    both = join(a, b)
    if not both.element_type:
        return both
    smallest, biggest = type_range(both.element_type)
    low, high = both.box.hull()
    first_low, first_high = a.box.hull()
    return tensor(
        both.element_type,
        both.shape if a.shape == b.shape else None,
        low if low >= first_low else smallest,
        high if high <= first_high else biggest,
        both.mag.min() if both.mag.min() >= a.mag.min() else 0.0,
        may_nan=both.may_nan,
        integral=both.integral,
        bounds_from=BoundsFrom.TYPE if low < first_low or high > first_high else both.bounds_from,
    )
