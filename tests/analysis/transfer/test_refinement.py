"""What a condition tells of a value: nothing that some pair of numbers contradicts, and as much as it says."""

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
    x = tensor("float32", (1,), -np.inf, np.inf, may_nan=True)
    for low, high in LIMITS:
        limit = tensor("float32", (1, 1) if low == high else (), low, high, may_nan=limit_may_nan)
        others = [n for n in NUMBERS if low <= n <= high] + [np.float32(np.nan)] * limit_may_nan
        known = refined(x, operator, limit, truth, turned=turned)
        assert known.low.ndim == 1
        for value, other in product([*NUMBERS, np.float32(np.nan)], others):
            pair = (other, value) if turned else (value, other)
            if bool(COMPARISONS[operator](*pair)) == truth:
                assert complaint(known, np.array([value])) == "", (value, other, low, high)


def test_bounds() -> None:
    x, one = tensor("float32", (1,), -5, 5, may_nan=True), tensor("float32", (), 1, 1)
    above = refined(x, "Greater", one, True, turned=False)
    assert (above.box.hull(), above.may_nan, above.may_zero) == ((1, 5), False, False)
    not_above = refined(x, "Greater", one, False, turned=False)
    assert (not_above.box.hull(), not_above.may_nan) == ((-5, 1), True)


@pytest.mark.parametrize(
    ("element_type", "stays"), [("float16", False), ("bfloat16", False), ("float32", True), ("float64", True)]
)
@pytest.mark.parametrize("operator", ["Greater", "Less", "Equal"])
def test_what_is_not_zero_may_be_rounded_to_it(element_type: str, stays: bool, operator: str) -> None:
    """A runtime may hold a float16 in float32, in which more numbers are above zero."""
    x, zero = tensor(element_type, (1,), -1, 1), tensor(element_type, (), 0, 0)
    known = refined(x, operator, zero, operator != "Equal", turned=False)
    assert known.may_zero != stays
    assert (known.mag > 0).all() == stays


@pytest.mark.parametrize(("shape", "tells"), [((), True), ((1,), True), ((1, 1), True), ((2,), False), ((1, 2), False)])
def test_a_condition_that_is_reshaped_tells_of_a_single_element(shape: tuple[int, ...], tells: bool) -> None:
    values = Numbering()
    x, one = values.numbered(tensor("float32", shape, -5, 5)), values.numbered(tensor("float32", (), 1, 1))
    above = values.numbered(tensor("bool", shape, 0, 1), Definition("Greater", {}, (x.number, one.number)))
    reshaped = values.numbered(tensor("bool", None, 0, 1), Definition("Reshape", {}, (above.number,)))
    assert refine(values, reshaped.number, True, x).box.hull() == ((1, 5) if tells else (-5, 5))


@pytest.mark.parametrize(("operator", "truth", "low"), [("Equal", False, -10), ("Greater", True, -5)])
def test_a_sum_is_what_is_left_of_its_terms(operator: str, truth: bool, low: float) -> None:
    """That a term is not zero tells nothing of a sum, which stays itself."""
    values = Numbering()
    a, b = (values.numbered(tensor("float32", (1,), -5, 5)) for _ in range(2))
    zero = values.numbered(tensor("float32", (), 0, 0))
    total = values.numbered(tensor("float32", (1,), -10, 10), Definition("Add", {}, (a.number, b.number)))
    condition = values.numbered(tensor("bool", (1,), 0, 1), Definition(operator, {}, (a.number, zero.number)))
    found = refine(values, condition.number, truth, total)
    assert np.allclose(found.box.hull(), (low, 10))
    assert (found is total) == (low == -10)
