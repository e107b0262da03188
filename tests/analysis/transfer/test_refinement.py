"""Refinement by a condition is sound: no pair of numbers that meets the condition contradicts it."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from tests.analysis.containment import complaint
from vinculum.analysis.domain.abstract_tensor import AbstractTensor, tensor
from vinculum.analysis.domain.numbering import Definition, Numbering
from vinculum.analysis.transfer.relations import refine

COMPARISONS = {
    "Less": np.less,
    "LessOrEqual": np.less_equal,
    "Greater": np.greater,
    "GreaterOrEqual": np.greater_equal,
    "Equal": np.equal,
}
NUMBERS = np.array([-np.inf, -2, -1, -0.0, 0.0, 1, 2, np.inf], np.float32)
RANGES = [(-np.inf, np.inf), (-2.0, -1.0), (0.0, 0.0), (1.0, 2.0)]
LIMITS = [(-1.0, -1.0), (0.0, 0.0), (1.0, 1.0), (-1.0, 2.0), (0.0, 2.0)]


def refined(x: AbstractTensor, operator: str, limit: AbstractTensor, truth: bool, *, turned: bool) -> AbstractTensor:
    """Return what is known of x where its comparison with a limit, or the limit's with it, has a truth."""
    values = Numbering()
    x, limit = values.numbered(x), values.numbered(limit)
    operands = (limit.number, x.number) if turned else (x.number, limit.number)
    condition = values.numbered(tensor("bool", x.shape, 0, 1), Definition(operator, {}, operands))
    return refine(values, condition.number, truth, x)


@pytest.mark.parametrize("operator", COMPARISONS)
@pytest.mark.parametrize("truth", [True, False])
@pytest.mark.parametrize("turned", [False, True], ids=["x first", "limit first"])
@pytest.mark.parametrize("limit_may_nan", [False, True], ids=["of numbers", "of numbers or NaN"])
def test_whatever_has_this_truth_lies_inside(operator: str, truth: bool, turned: bool, limit_may_nan: bool) -> None:
    """Each number, and NaN, that compares so with some value of the limit."""
    for (low, high), (least, most) in product(LIMITS, RANGES):
        x = tensor("float32", (1,), least, most, may_nan=True)
        limit = tensor("float32", (1, 1) if low == high else (), low, high, may_nan=limit_may_nan)
        others = [n for n in NUMBERS if low <= n <= high] + [np.float32(np.nan)] * limit_may_nan
        known = refined(x, operator, limit, truth, turned=turned)
        assert known.low.ndim == 1
        assert least <= known.low <= known.high <= most
        numbers = [n for n in NUMBERS if least <= n <= most]
        for value, other in product([*numbers, np.float32(np.nan)], others):
            pair = (other, value) if turned else (value, other)
            if bool(COMPARISONS[operator](*pair)) == truth:
                assert complaint(known, np.array([value])) == "", (value, other, low, high)
