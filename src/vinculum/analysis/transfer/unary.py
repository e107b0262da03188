"""Elementwise functions of one operand as declarations: what is computed, where it turns, and how far it is off."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

import numpy as np

from vinculum.analysis.domain.abstract_tensor import AbstractTensor, BoundsFrom, anything, tensor
from vinculum.analysis.domain.facts import Fact, Facts, Kind
from vinculum.analysis.domain.formats import Bounds, Format, outward
from vinculum.analysis.transfer.call import Call, Operand
from vinculum.analysis.transfer.shared import hull_of, margined

OVER_ONE = 1 + 2.0**-20
OF_ATTRIBUTES = 2.0**-21
"""What attributes, which are float32, and numbers made of them may be off by, relatively."""
_FINEST = 2.0**-24
"""The unit roundoff below which absolute errors do not go: of float32, in which libraries have their tables."""


@dataclass(frozen=True, slots=True, eq=False)
class Unary:
    """A function of one operand; a call of it is its transfer function.

    Between its ends and its turning points it is monotone: so its bounds on an interval are among its values there.

    Attributes
    ----------
    f : callable or None
        The function, of bounds and of the attributes; None where only its limits are known.
    attributes : Mapping of str to float
        Their names and defaults.
    turns : tuple of float, or callable
        Where it turns or jumps, inside the domain; of the attributes.
    ulps, absolute : float
        The error of libraries: relative, in ulps; and absolute, in unit roundoffs.
    domain : (float, float)
        Outside of it is NaN.
    least, greatest : float
        What no library leaves.
    exact, integral : bool
        Whether nothing is rounded, and whether results are whole numbers.
    rising : bool
        Whether it never falls, so that facts on some element of a row pass through.
    finite : bool
        Whether an infinity gives NaN.
    minus_zero : bool
        Whether a result may be -0.
    """

    f: Callable[..., Bounds] | None
    attributes: Mapping[str, float] = field(default_factory=dict)
    turns: tuple[float, ...] | Callable[..., tuple[float, ...]] = ()
    ulps: float = 0.0
    absolute: float = 0.0
    domain: tuple[float, float] = (-np.inf, np.inf)
    least: float = -np.inf
    greatest: float = np.inf
    exact: bool = False
    integral: bool = False
    rising: bool = False
    finite: bool = False
    minus_zero: bool = True

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
        if self.domain != (-np.inf, np.inf):
            nan = nan or bool((a.low < start).any() or (a.high > end).any())
        low, high, undefined = self._values(np.clip(a.low, start, end), np.clip(a.high, start, end), given)
        low, high = self._widened(low, high, a.form)
        return tensor(
            a.element_type,
            a.shape,
            low,
            high,
            may_nan=nan or undefined,
            may_minus_zero=self.minus_zero,
            facts=self._carried(a.facts, a.form, given) if self.rising else (),
            integral=self.integral,
            bounds_from=rests,
        )

    def _values(self, low: Bounds, high: Bounds, given: list[float]) -> tuple[Bounds, Bounds, bool]:
        """Return the least and the greatest value at the ends and the turns, and whether one of them is NaN."""
        points = [low, high]
        for turn in self.turns(*given) if callable(self.turns) else self.turns:
            inside = (low <= turn) & (turn <= high)
            points += [np.where(inside, np.clip(side, low, high), low) for side in _sides(turn)]
        assert self.f is not None
        values = [np.asarray(self.f(point, *given)) for point in points]
        # NaN is of infinities; next to them all is finite, or at another point.
        return *hull_of(values), any(bool(np.isnan(value).any()) for value in values)

    def _widened(self, low: Bounds, high: Bounds, form: Format) -> tuple[Bounds, Bounds]:
        """Return bounds of what libraries compute."""
        if self.exact:
            return outward(low, high, form, exact=True)
        off = self.absolute * max(form.u, _FINEST)
        relative = OF_ATTRIBUTES if self.attributes else 0.0
        low, high = (
            np.where(np.isfinite(value), value + sign * (off + relative * np.abs(value)), value)
            for value, sign in ((low, -1), (high, 1))
        )
        low, high = margined(low, high, form, self.ulps)
        return np.clip(low, self.least, self.greatest), np.clip(high, self.least, self.greatest)

    def _carried(self, facts: Facts, form: Format, given: list[float]) -> Facts:
        """Return what is left of facts: of some element at least v, at least f(v)."""
        kept = [fact for fact in facts if fact.kind is Kind.SOME_AT_LEAST]
        ends = [np.clip(np.asarray(fact.low), *self.domain) for fact in kept]
        lows = [self._widened(*self._values(end, end, given)[:2], form)[0] for end in ends]
        return tuple(Fact(f.kind, f.axis, float(low)) for f, low in zip(kept, lows, strict=True))


def _sides(turn: float) -> tuple[float, float, float]:
    return float(np.nextafter(turn, -np.inf)), turn, float(np.nextafter(turn, np.inf))
