"""What the analysis knows of an operator as one record, and elementwise functions as declarations."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from vinculum.analysis.domain.abstract_tensor import AbstractTensor, BoundsFrom, anything, tensor
from vinculum.analysis.domain.box import Box
from vinculum.analysis.domain.facts import Facts, carried
from vinculum.analysis.domain.formats import Bounds, Format, outward
from vinculum.analysis.transfer import errors
from vinculum.analysis.transfer.call import Call, Operand, Transfer
from vinculum.analysis.transfer.errors import Computed, Errors, Rule
from vinculum.analysis.transfer.shared import hull_of, margined


@dataclass(frozen=True, slots=True, eq=False)
class Hidden:
    """A divisor inside an operator, which no node computes."""

    operand: int  # The place of the operand that it is computed from.
    divisor: AbstractTensor  # What is known of it.
    of_zero: bool = True  # Whether zero is divided by it where it is zero.
    # A runtime that guards it, and how, though ONNX's definition does not; empty if none is known.
    guarded_by: str = ""


@dataclass(frozen=True, slots=True, eq=False)
class Operator:
    """What the analysis knows of an operator."""

    # Takes a call and its operands, None for one that is left out, and returns what is known of the results.
    transfer: Transfer
    error: Rule | None = None  # How far the result can be from the exact one; None if there is no bound.
    # Takes a call and its operands, the first of which is a float, and returns what is divided by inside, or None.
    hidden: Callable[..., Hidden | None] | None = None
    commutative: bool = False  # Whether operands in another order give the same.
    pure: bool = True  # Whether equal operands give equal results.


EVERYWHERE = (-np.inf, np.inf)
OVER_ONE = 1 + 2.0**-20
OF_ATTRIBUTES = 2.0**-21
"""The relative error of attributes, which are float32, and of numbers computed from them."""
_TAIL = 20.0
"""A gate is taken for 0 at operands below minus this."""
_FAR = 2.0**20
"""Operands beyond this magnitude are assumed to reach every turn of a periodic function."""
_FINEST = 2.0**-24
"""The smallest unit roundoff that absolute errors scale with: that of float32, in which libraries have tables."""


@dataclass(frozen=True, slots=True, eq=False)
class Unary:
    """A function of one operand; a call of it is its transfer function.

    Between its ends and its turning points it is monotone: so its bounds on an interval are among its values there.
    """

    # The function, of bounds and of the attributes; None where only its limits are known.
    f: Callable[..., Bounds] | None
    attributes: Mapping[str, float] = field(default_factory=dict)  # Their names and defaults.
    # Where it turns or jumps, inside the domain; of the attributes.
    turns: tuple[float, ...] | Callable[..., tuple[float, ...]] = ()
    period: float = 0.0  # After which it turns again and again; 0 if it does not.
    ulps: float = 0.0  # The relative error of libraries.
    absolute: float = 0.0  # Their absolute error, in unit roundoffs.
    domain: tuple[float, float] = EVERYWHERE  # Outside of it is NaN.
    least: float = -np.inf  # No library goes below it.
    greatest: float = np.inf  # No library goes above it.
    exact: bool = False  # Whether nothing is rounded.
    integral: bool = False  # Whether results are whole numbers.
    rising: bool = False  # Whether it never falls, so that facts on some element of a row pass through.
    finite: bool = False  # Whether an infinity gives NaN.
    minus_zero: bool = True  # Whether a result may be -0.
    # Whether it is x times a gate between 0 and 1, which alone has the absolute error, and is 0 far below zero.
    gates: bool = False
    # The largest slope on an interval, of its ends and of the attributes; infinite if there is none.
    slope: float | Callable[..., Any] = np.inf

    def __call__(self, call: Call, a: AbstractTensor, *_: Operand) -> AbstractTensor:
        """Return what is known of the result."""
        limited = np.isfinite(self.least) and np.isfinite(self.greatest)
        rests = BoundsFrom.MODEL if limited else a.bounds_from
        nan = a.may_nan or (self.finite and a.may_infinite)
        if a.form is None:
            return anything(a.element_type, a.shape)
        if self.f is None:
            return tensor(a.element_type, a.shape, self.least, self.greatest, may_nan=nan, bounds_from=rests)
        given = [float(call.attribute(name, default)) for name, default in self.attributes.items()]
        start, end = self.domain
        if self.domain != EVERYWHERE:
            nan = nan or bool((a.low < start).any() or (a.high > end).any())
        low, high, undefined = self._values(np.clip(a.low, start, end), np.clip(a.high, start, end), given, a.form)
        of_nan = np.asarray(self.f(np.asarray(np.nan), *given)) if a.may_nan else np.asarray(np.nan)
        low, high = np.fmin(low, of_nan), np.fmax(high, of_nan)  # A comparison with NaN is false.
        low, high = self._widened(low, high, a.form, self._gated(a.box, given))
        if self.gates:  # What is gated lies between 0 and x.
            ends = np.minimum(a.low * OVER_ONE, 0.0), np.maximum(a.high * OVER_ONE, 0.0)
            low, high = outward(np.maximum(low, ends[0]), np.minimum(high, ends[1]), a.form)
        more: dict[str, Any] = {
            "may_nan": nan or undefined,
            "may_minus_zero": self.minus_zero,
            "integral": self.integral,
        }
        facts = self._carried(a.facts, a.form, given) if self.rising else ()
        return tensor(a.element_type, a.shape, low, high, facts=facts, bounds_from=rests, **more)

    def _values(self, low: Bounds, high: Bounds, given: list[float], form: Format) -> tuple[Bounds, Bounds, bool]:
        """Return the least and the greatest value at the ends and the turns, and whether one of them is NaN."""
        points = [low, high]
        for turn in self.turns(*given) if callable(self.turns) else self.turns:
            # An attribute may be rounded to the element type.
            near = 2 * max(form.u, _FINEST) * abs(turn) if self.attributes else 0.0
            inside = (low <= turn + near) & (turn - near <= high)
            if self.period:
                first = turn + self.period * np.ceil((low - turn) / self.period)
                inside = ~(first > high) | (np.maximum(np.abs(low), np.abs(high)) > _FAR)
            sides = [side if near or self.period else np.clip(side, low, high) for side in _sides(turn)]
            points += [np.where(inside, side, low) for side in sides]
        assert self.f is not None
        values = [np.asarray(self.f(point, *given)) for point in points]
        # NaN is of infinities; next to them all is finite, or at another point.
        return *hull_of(values), any(bool(np.isnan(value).any()) for value in values)

    def _widened(self, low: Bounds, high: Bounds, form: Format, x: Any = 1.0) -> tuple[Bounds, Bounds]:
        """Return bounds of what libraries compute.

        - `x`: what a gate's error is multiplied by.
        """
        if self.exact:
            return outward(low, high, form, exact=True)
        off = self.absolute * max(form.u, _FINEST) * x
        relative = OF_ATTRIBUTES if self.attributes else 0.0
        low, high = (
            np.where(np.isfinite(value), value + sign * (off + relative * np.abs(value)), value)
            for value, sign in ((low, -1), (high, 1))
        )
        low, high = margined(low, high, form, self.ulps)
        return np.clip(low, self.least, self.greatest), np.clip(high, self.least, self.greatest)

    def _gated(self, box: Box, given: list[float]) -> Any:
        """Return the largest magnitudes of what a gate's error is multiplied by; 1 if nothing is gated."""
        tail = _TAIL / min(abs(given[0]), 1.0) if given and given[0] else np.inf if given else _TAIL
        return np.minimum(box.largest(), tail) if self.gates else 1.0

    def _carried(self, facts: Facts, form: Format, given: list[float]) -> Facts:
        """Return the facts that the function keeps: some element at least v becomes one at least f(v)."""

        def least(v: float) -> float:
            end = np.clip(np.asarray(v), *self.domain)
            return float(self._widened(*self._values(end, end, given, form)[:2], form)[0])

        return carried(facts, least)

    def error(self, made: Computed) -> Errors:
        """Return how far a result can be off: what the operand's error becomes, and the library's own."""
        if self.integral:
            return errors.stepped(made)
        p, box = made.errors[0], made.operands[0].box
        if self.f is None or (self.domain != EVERYWHERE and not made.inside[0]):
            raise errors.NoBoundError(f"{made.call.operator} has no rule")
        given = [float(made.call.attribute(name, default)) for name, default in self.attributes.items()]
        low, high = (box.low, box.high) if made.inside[0] else (box.low - p, box.high + p)
        slope = self.slope(low, high, *given) if callable(self.slope) else self.slope
        if self.exact:
            return errors.sum_of(errors.times(p, slope), made.rounding())
        largest = made.result.box.largest()
        free = replace(self, least=-np.inf, greatest=np.inf)
        own = free._widened(-largest, largest, made.form, self._gated(box, given))[1] - largest
        return errors.sum_of(errors.times(p, slope), errors.up(own))


def _sides(turn: float) -> tuple[float, float, float]:
    return float(np.nextafter(turn, -np.inf)), turn, float(np.nextafter(turn, np.inf))
