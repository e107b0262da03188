"""How far computed values can be from the exact ones: what the rules of operators share.

With computed operands a', b' off by at most p and q, and A, B the largest abs(a'), abs(b'):

    a + b    p + q                         a * b    A q + (B + q) p
    a / b    (p + X q) / (m - q)           X = A / m, m the smallest abs(b'), which must exceed q
    sqrt a   p / (sqrt(l') + sqrt(l))      l' the smallest a', l the smallest a, which must not be negative
    f(a)     L p                           L the largest slope of f

Rounding to nearest adds E = max(u M, h): M the largest magnitude of the result, h half the smallest subnormal. Sums
and products of matrices round in any order: gamma_k of the sum of magnitudes, and k times the smallest subnormal.
Bounds are computed in float64 and rounded upward at each step.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vinculum.analysis.domain.abstract_tensor import AbstractTensor
from vinculum.analysis.domain.formats import Format, gamma, is_discrete, type_range
from vinculum.analysis.transfer.call import Call

Errors = NDArray[np.float64]
"""Bounds of absolute errors, which broadcast to the tensor."""


class NoBoundError(Exception):
    """There is no bound, for a reason."""


@dataclass(frozen=True, slots=True, eq=False)
class Computed:
    """A node with what is known of its operands, their errors, and its first result.

    - `inside`: of each operand, whether exact values lie in its box.
    """

    call: Call
    operands: tuple[AbstractTensor, ...]
    errors: tuple[Errors, ...]
    inside: tuple[bool, ...]
    result: AbstractTensor

    @property
    def form(self) -> Format:
        """The format of the result; no bound if it has none."""
        form = self.result.form
        if form is None:
            raise NoBoundError(f"{self.call.operator} of {self.result.element_type or 'unknown type'} has no rule")
        return form

    def magnitude(self, place: int) -> Errors:
        """Return the largest magnitudes of an operand."""
        return self.operands[place].box.largest()

    def rounding(self, *, adds: bool = False) -> Errors:
        """Return E; a sum of two never underflows."""
        scaled = self.form.u * self.result.box.largest()
        if adds:
            return np.where(scaled == 0, 0.0, up(scaled))
        return np.maximum(up(scaled), self.form.smallest_subnormal / 2)


Rule = Callable[[Computed], Errors]


def up(values: Any) -> Errors:
    """Return the next larger numbers."""
    return np.asarray(np.nextafter(values, np.inf))


def down(values: Any) -> Errors:
    """Return the next smaller numbers, of those that are not negative."""
    return np.asarray(np.maximum(np.nextafter(values, -np.inf), 0.0))


def sum_of(*terms: Any) -> Errors:
    """Return a sum rounded upward."""
    total = np.asarray(0.0)
    for term in terms:
        total = np.where(term == 0, total, np.where(total == 0, term, up(total + term)))
    return total


def times(a: Any, b: Any) -> Errors:
    """Return a product rounded upward; zero times anything is zero."""
    return np.where((np.asarray(a) == 0) | (np.asarray(b) == 0), 0.0, up(np.asarray(a) * b))


def none(made: Computed) -> Errors:
    """Return 0: what is computed is exact, whatever the operands are off by."""
    return np.asarray(0.0)


def decided(made: Computed) -> Errors:
    """Return 0 for exact operands; others may decide otherwise."""
    if any(error.any() for error in made.errors):
        raise NoBoundError(f"{made.call.operator} has no rule")
    return np.asarray(0.0)


def kept(made: Computed) -> Errors:
    """Elements are unchanged, or their differences do not grow."""
    return made.errors[0]


def moved(made: Computed) -> Errors:
    """Elements of the first operand move, without error, as other operands say."""
    if any(error.any() for error in made.errors[1:]):
        raise NoBoundError("the positions of elements may differ")
    return np.asarray(made.errors[0].max())


def chosen(made: Computed) -> Errors:
    """Elements are those of one operand or another."""
    return np.asarray(max(float(error.max()) for error in made.errors))


def stepped(made: Computed) -> Errors:
    """Both round to whole numbers: they differ by less than the error and 1."""
    return np.where(made.errors[0] == 0, 0.0, sum_of(made.errors[0], np.asarray(1.0)))


def added(made: Computed) -> Errors:
    """Sum or difference of two."""
    return sum_of(*made.errors, made.rounding(adds=True))


def added_up(made: Computed) -> Errors:
    """Sum of many."""
    magnitudes = sum_of(*(made.magnitude(place) for place in range(len(made.operands))))
    return sum_of(*made.errors, times(magnitudes, gamma(max(len(made.operands) - 1, 0), made.form)))


def multiplied(made: Computed) -> Errors:
    """Product of two."""
    (p, q), (a, b) = made.errors, (made.magnitude(0), made.magnitude(1))
    exact = b if made.inside[1] else sum_of(b, q)
    return sum_of(times(a, q), times(exact, p), made.rounding())


def rooted(made: Computed) -> Errors:
    """Square root."""
    p, low = made.errors[0], made.operands[0].low
    exact = low if made.inside[0] else low - p
    if not (exact >= 0).all():
        raise NoBoundError("the exact operand can be negative")
    roots = down(np.sqrt(low)) + down(np.sqrt(down(exact)))
    return sum_of(np.where(p == 0, 0.0, up(up(p / down(roots)))), made.rounding())


def where(made: Computed) -> Errors:
    """Elements of one operand or the other, as the first says."""
    if made.errors[0].any():
        raise NoBoundError("the condition may differ")
    return np.maximum(made.errors[1], made.errors[2])


def division(made: Computed) -> tuple[Errors, Errors]:
    """Return what a quotient's error has from its operands, and from its own rounding."""
    place = 0 if made.call.operator == "Reciprocal" else 1
    p, a = (np.asarray(0.0), np.asarray(1.0)) if not place else (made.errors[0], made.magnitude(0))
    q, smallest = made.errors[place], made.operands[place].mag
    if made.call.opset < 7:
        a, smallest = np.asarray(a.max()), np.asarray(smallest.min())
    exact = smallest if made.inside[place] else smallest - q  # The smallest magnitude of the exact divisor.
    if not (exact > 0).all():
        raise NoBoundError(
            "the divisor can be zero" if not (smallest > 0).all() else "the divisor's error is as large as the divisor"
        )
    largest = up(a / smallest)
    propagated = up(sum_of(p, times(largest, q)) / down(exact))
    propagated = np.where((p == 0) & (q == 0), 0.0, propagated)
    if is_discrete(made.result.element_type):
        if (largest > type_range(made.result.element_type)[1]).any():
            raise NoBoundError("the quotient can lie beyond its type")
        return propagated, up(1 - down(1 / made.magnitude(place)))
    return propagated, made.rounding()


def divided(made: Computed) -> Errors:
    """Quotient."""
    return sum_of(*division(made))
