"""What is known of one tensor without running: its type, its shape, a box of intervals, zeros, NaN, and relations."""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import IntEnum
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from vinculum.analysis.domain.affine import Affine
from vinculum.analysis.domain.box import Box, limited, ranked
from vinculum.analysis.domain.dimensions import Dimension, Shape
from vinculum.analysis.domain.facts import Facts
from vinculum.analysis.domain.formats import (
    FORMATS,
    HIGHEST,
    LOWEST,
    ZERO,
    Bounds,
    Format,
    every,
    is_discrete,
    some,
    type_range,
)

SMALL = 4096
"""Elements of a constant whose values take part in the analysis; of larger ones only bounds and sums do."""
_MOST_ENTRIES = 64


class BoundsFrom(IntEnum):
    """What the bounds of a tensor depend on."""

    MODEL = 0  # Constants and operators alone.
    DECLARED = 1  # Ranges of inputs that somebody declared, or that data show.
    TYPE = 2  # The limits of an element type, too.


@dataclass(frozen=True, slots=True, eq=False)
class AbstractTensor:
    """Every tensor that the value can be, in any run.

    Attributes
    ----------
    element_type : str
        NumPy's or ml_dtypes' name; empty if it is not known.
    shape : tuple of int or Size, or None
        None if the rank is not known.
    box : Box
        Bounds of all values but NaN.
    may_nan, may_plus_zero, may_minus_zero : bool
        Whether some element may be NaN, +0 or -0; integers have no -0.
    number : int
        The value number: equal numbers are equal tensors; 0 before one is assigned.
    facts : tuple of Fact
        What is known of rows.
    affine : Affine, optional
        The value as a sum of others.
    constant : ndarray, optional
        The value itself, of any size.
    entries : tuple of Dimension or None, optional
        The known elements of a short list of integers.
    integral : bool
        Whether every finite value is a whole number.
    bounds_from : BoundsFrom
        What the bounds rest on.
    """

    element_type: str
    shape: Shape | None
    box: Box
    may_nan: bool = False
    may_plus_zero: bool = True
    may_minus_zero: bool = False
    number: int = 0
    facts: Facts = ()
    affine: Affine | None = None
    constant: NDArray[Any] | None = None
    entries: tuple[Dimension | None, ...] | None = None
    integral: bool = False
    bounds_from: BoundsFrom = BoundsFrom.MODEL

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
        """The only element of a constant."""
        return float(self.constant.reshape(())) if self.constant is not None and self.constant.size == 1 else None

    def sizes(self) -> tuple[Dimension | None, ...] | None:
        """Return each of a few integers; None if the tensor is not of integers, or not short."""
        if self.entries is not None:
            return self.entries
        if self.constant is not None and self.constant.size <= _MOST_ENTRIES and is_discrete(self.element_type):
            return tuple(int(value) for value in self.constant.reshape(-1))
        return None

    def known(self, **changes: Any) -> AbstractTensor:
        """Return the same with something else known."""
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
    """Return what may be any tensor of an element type and a shape."""
    whole = is_discrete(element_type)
    return tensor(
        element_type,
        shape,
        *type_range(element_type),
        may_nan=not whole,
        integral=whole,
        bounds_from=BoundsFrom.TYPE,
    )
