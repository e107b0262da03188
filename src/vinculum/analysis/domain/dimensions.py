"""Sizes of dimensions: numbers, or polynomials with rational coefficients in sizes that only a run determines."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from itertools import count
from math import inf, prod

LARGEST_DECLARED = 10**9
"""The largest size that a check assumes for an open dimension of an input; hardening assumes no largest size.

Exporters of TensorFlow and JAX cast sizes to int32, and write a slice to the end as a slice to this number.
"""

_fresh = count(1)


@dataclass(frozen=True, order=True)
class Variable:
    """An open size of the model, and its bounds."""

    name: str
    low: float = 1
    high: float = inf


Monomial = tuple[Variable, ...]


@dataclass(frozen=True)
class Size:
    """A polynomial that is not a number; equal polynomials are equal sizes."""

    terms: tuple[tuple[Monomial, Fraction], ...]

    def __str__(self) -> str:
        return " + ".join(
            "*".join([*([str(c)] if c != 1 or not m else []), *(v.name for v in m)]) for m, c in self.terms
        )


Dimension = int | Size
Shape = tuple[Dimension, ...]


def variable(name: str, low: float = 1, high: float = inf) -> Dimension:
    """Return a size by name; a number if its bounds leave only one."""
    if low == high and float(low).is_integer():
        return int(low)
    return Size((((Variable(name, low, high),), Fraction(1)),))


def _terms(size: Dimension) -> Iterable[tuple[Monomial, Fraction]]:
    return size.terms if isinstance(size, Size) else [((), Fraction(size))] if size else []


def _simplified(terms: Iterable[tuple[Monomial, Fraction]]) -> Dimension | None:
    summed: dict[Monomial, Fraction] = defaultdict(Fraction)
    for monomial, coefficient in terms:
        summed[tuple(sorted(monomial))] += coefficient
    left = {m: c for m, c in summed.items() if c}
    if set(left) <= {()}:
        number = left.get((), Fraction(0))
        return int(number) if number.denominator == 1 else None
    return Size(tuple(sorted(left.items()))) if len(left) <= 16 else None


def plus(a: Dimension, b: Dimension) -> Dimension | None:
    """Return a + b; None if it is too long to keep."""
    if isinstance(a, int) and isinstance(b, int):
        return a + b
    return _simplified([*_terms(a), *_terms(b)])


def minus(a: Dimension, b: Dimension) -> Dimension | None:
    """Return a - b."""
    return plus(a, negated) if (negated := times(b, -1)) is not None else None


def times(a: Dimension, b: Dimension) -> Dimension | None:
    """Return a * b."""
    if isinstance(a, int) and isinstance(b, int):
        return a * b
    return _simplified([(p + q, c * d) for p, c in _terms(a) for q, d in _terms(b)])


def quotient(a: Dimension, b: Dimension) -> Dimension | None:
    """Return a / b where it is known to be a whole number; None elsewhere."""
    if isinstance(a, int) and isinstance(b, int):
        return a // b if b and a % b == 0 else None
    if isinstance(b, int):
        divided = _simplified([(m, c / b) for m, c in _terms(a)]) if b else None
    elif len(b.terms) == 1 and min(v.low for v in b.terms[0][0]) > 0:
        (below, divisor) = b.terms[0]
        divided = _simplified(found) if (found := _cancelled(_terms(a), below, divisor)) is not None else None
    else:
        return 1 if a == b and bounds(b)[0] > 0 else None
    if isinstance(divided, Size) and any(c.denominator != 1 for _, c in divided.terms):
        return None
    return divided


def _cancelled(
    terms: Iterable[tuple[Monomial, Fraction]], below: Monomial, divisor: Fraction
) -> list[tuple[Monomial, Fraction]] | None:
    gone, result = Counter(below), []
    for monomial, coefficient in terms:
        if gone - Counter(monomial):
            return None
        result.append((tuple((Counter(monomial) - gone).elements()), coefficient / divisor))
    return result


def total(sizes: Iterable[Dimension | None]) -> Dimension | None:
    """Return the sum of sizes, 0 for none; None if one is not known."""
    result: Dimension | None = 0
    for size in sizes:
        result = None if result is None or size is None else plus(result, size)
    return result


def product(sizes: Iterable[Dimension | None]) -> Dimension | None:
    """Return the product of sizes, 1 for none; None if one is not known."""
    result: Dimension | None = 1
    for size in sizes:
        result = None if result is None or size is None else times(result, size)
    return result


def bounds(size: Dimension) -> tuple[float, float]:
    """Return the smallest and the largest number that a size can be."""
    if isinstance(size, int):
        return size, size
    low = high = 0.0
    for monomial, coefficient in size.terms:
        ends = [float(coefficient) * prod((getattr(v, end) for v in monomial), start=1.0) for end in ("low", "high")]
        low, high = low + min(ends), high + max(ends)
    return low, high


def largest(size: Dimension) -> float:
    """Return the largest number that a size can be."""
    return bounds(size)[1]


def element_count(sizes: Iterable[Dimension]) -> tuple[float, float]:
    """Return the smallest and the largest number of elements of a tensor, or of a part of it, by its sizes."""
    ends = [bounds(size) for size in sizes]
    return prod((low for low, _ in ends), start=1.0), prod((high for _, high in ends), start=1.0)


def resized(shape: Shape, axis: int, *sizes: Dimension) -> Shape:
    """Return a shape with other sizes in the place of an axis: another one, none, or several."""
    return (*shape[:axis], *sizes, *shape[axis + 1 :])


def fixed(shape: Shape | None) -> tuple[int, ...] | None:
    """Return a shape all of whose sizes are numbers; None for another."""
    if shape is None:
        return None
    sizes = tuple(size for size in shape if isinstance(size, int))
    return sizes if len(sizes) == len(shape) else None


def unknown_size(low: float = 0, high: float = inf) -> Dimension:
    """Return a size of which bounds alone are known."""
    return variable(f"?{next(_fresh)}", low, high)


def known_size(size: Dimension | None) -> Dimension:
    """Return a size; for None, a new one without bounds."""
    return unknown_size() if size is None else size
