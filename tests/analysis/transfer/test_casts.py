"""What is known of a value in another element type holds of what NumPy makes of it."""

from __future__ import annotations

import numpy as np
import pytest

from tests.analysis.containment import complaint, enclosing
from vinculum.analysis.domain.abstract_tensor import tensor
from vinculum.analysis.domain.facts import Fact, Kind
from vinculum.analysis.transfer.operators.casts import converted

NUMBERS = [[-1.5, 2.5], [0.25, 0.75], [-0.0, 0.0], [1e-30, 1e30], [-70000.0, 3.0], [100.0, 127.0]]


@pytest.mark.parametrize("source", ["float32", "float64", "int64"])
@pytest.mark.parametrize("to", ["float16", "float32", "float64", "int8", "int32", "int64", "bool"])
def test_numbers(source: str, to: str) -> None:
    """Those that an integer type does not hold are left to each runtime."""
    for numbers in NUMBERS:
        array = np.clip(numbers, -(2.0**62), 2.0**62).astype(source)
        known = enclosing(array)
        assert known is not None
        with np.errstate(all="ignore"):
            assert complaint(converted(known, to), array.astype(to)) == "", numbers


@pytest.mark.parametrize(("low", "high", "may_nan", "hull"), [
    (-1.5, 2.5, False, (-1, 2)),
    (-1.5, 2.5, True, (-128, 127)),
    (0, 128, False, (-128, 127)),
    (-np.inf, 0, False, (-128, 127)),
])  # fmt: skip
def test_floats_that_no_integer_stands_for(low: float, high: float, may_nan: bool, hull: tuple[float, float]) -> None:
    known = converted(tensor("float32", (2,), low, high, may_nan=may_nan), "int8")
    assert (known.box.hull(), known.may_nan) == (hull, False)


@pytest.mark.parametrize(("source", "number", "to"), [("float32", 0.1, "float16"), ("int64", 2**24 + 1, "float32")])
def test_what_some_element_is_at_least_is_rounded_too(source: str, number: float, to: str) -> None:
    known = tensor(source, (2,), 0, number, integral=source == "int64", facts=(Fact(Kind.SOME_AT_LEAST, 0, number),))
    (fact,) = converted(known, to).facts
    assert 0.99 * number < fact.low <= float(np.array(number, source).astype(to)) < number
