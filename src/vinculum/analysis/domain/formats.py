"""Element types as the analysis knows them: unit roundoff, limits, and bounds that rounding cannot leave."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import ml_dtypes
import numpy as np
from numpy.typing import NDArray

Bounds = NDArray[np.float64]
"""End points of intervals, in float64."""
# Arrays, since NumPy takes twice as long with numbers of Python's, and most boxes have one element.
ZERO, LOWEST, HIGHEST = np.zeros(()), np.array(-np.inf), np.array(np.inf)


@dataclass(frozen=True)
class Format:
    """A floating-point element type."""

    name: str  # What NumPy or ml_dtypes calls it.
    u: float  # The unit roundoff.
    max: float  # The largest finite value.
    smallest_normal: float  # Below the first a runtime may flush to zero; below the second every runtime does.
    smallest_subnormal: float
    least: float  # The smallest magnitude that a runtime holds which keeps such values in float32 between two nodes.
    dtype: np.dtype[Any]  # For rounding.

    @property
    def may_round_later(self) -> bool:
        """Whether a runtime may keep values in float32, so that one value may be rounded in one place alone."""
        return self.least < self.smallest_subnormal

    def round(self, values: Bounds) -> Bounds:
        """Return values rounded to nearest in this type; rounding is monotone."""
        if self.name == "float64":
            return values
        with np.errstate(over="ignore"):
            rounded: Bounds = values.astype(self.dtype).astype(np.float64)
        return rounded


def _format(name: str, least: float, bits: int) -> Format:
    dtype = np.dtype(getattr(ml_dtypes, name, name))
    limits: Any = ml_dtypes.finfo(dtype) if name == "bfloat16" else np.finfo(dtype)  # type: ignore[no-untyped-call]
    smallest = (float(limits.smallest_normal), float(limits.smallest_subnormal))
    return Format(name, 2.0**-bits, float(limits.max), *smallest, least, dtype)


FORMATS = {
    "float16": _format("float16", 2.0**-149, 11),
    "bfloat16": _format("bfloat16", 2.0**-149, 8),
    "float32": _format("float32", 2.0**-149, 24),
    "float64": _format("float64", 2.0**-1074, 53),
}
INTEGERS = {
    **{f"int{bits}": (-(2.0 ** (bits - 1)), 2.0 ** (bits - 1) - 1) for bits in (2, 4, 8, 16, 32, 64)},
    **{f"uint{bits}": (0.0, 2.0**bits - 1) for bits in (2, 4, 8, 16, 32, 64)},
}
"""The smallest and the largest value; those of 64 bits are rounded outward."""
NUMPY_INTEGERS = frozenset(INTEGERS) - {"int2", "int4", "uint2", "uint4"}
"""Integers that NumPy itself has."""


def type_range(element_type: str) -> tuple[float, float]:
    """Return the smallest and the largest value of an element type; NaN does not count."""
    if element_type == "bool":
        return 0.0, 1.0
    return INTEGERS.get(element_type, (-np.inf, np.inf))


def is_discrete(element_type: str) -> bool:
    """Tell whether all values are whole numbers."""
    return element_type in INTEGERS or element_type == "bool"


def downward(values: Bounds) -> Bounds:
    """Return the next smaller float64; a zero is exact, because what underflows here is zero in every type."""
    return np.where(values == ZERO, values, np.nextafter(values, LOWEST))


def upward(values: Bounds) -> Bounds:
    """Return the next larger float64, zero for zero."""
    return np.where(values == ZERO, values, np.nextafter(values, HIGHEST))


def some(mask: NDArray[np.bool_]) -> bool:
    """Tell whether any element is true, as ``any`` does; of few elements in a third of the time."""
    return bool(np.count_nonzero(mask))


def every(mask: NDArray[np.bool_]) -> bool:
    """Tell whether all elements are true, as ``all`` does."""
    return bool(np.count_nonzero(mask) == mask.size)


def outward(low: Bounds, high: Bounds, form: Format | None, *, exact: bool = False) -> tuple[Bounds, Bounds]:
    """Return bounds of what was computed in float64, wherever a runtime rounds it: to the element type, or later.

    - `exact`: whether the bounds are the true ones, so that only the rounding of the element type is left.
    """
    if not exact:
        low, high = downward(low), upward(high)
    if form is None or form.name == "float64":
        return low, high
    return np.minimum(low, form.round(low)), np.maximum(high, form.round(high))


def gamma(terms: float, form: Format) -> float:
    """Return Higham's gamma: it bounds the relative error of a sum of `terms` + 1 terms in every order."""
    product = terms * form.u
    return float(product / (1 - product)) if product < 0.5 else np.inf
