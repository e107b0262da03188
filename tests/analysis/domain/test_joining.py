"""Values that may be one or another: the join holds both, and says no more than they share."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pytest

from tests.analysis.containment import complaint, enclosing
from vinculum.analysis.domain.abstract_tensor import AbstractTensor, holds, join, widened

ARRAYS = [
    np.array(numbers, np.float32)
    for numbers in ([1, 3], [-2, -0.5], [4, 5], [0.0, 5], [-0.0, 7], [np.nan, 7], [-1, np.inf], [0.25, 0.5])
]


def known_of(array: Any) -> AbstractTensor:
    known = enclosing(array)
    assert known is not None
    return known


@pytest.mark.parametrize("both", [join, widened])
def test_each_is_inside(both: Any) -> None:
    for first, second in product(ARRAYS, repeat=2):
        a, b = known_of(first), known_of(second)
        together = both(a, b)
        assert [complaint(together, array) for array in (first, second)] == ["", ""], (first, second)
        assert holds(together, a)
        assert holds(together, b)
        assert not holds(a, b) or complaint(a, second) == ""


def test_what_both_say_stays() -> None:
    joined = join(known_of(ARRAYS[0]), known_of(ARRAYS[1]))
    assert (joined.box.hull(), float(joined.mag.min())) == ((-2, 3), 0.5)
    assert (joined.may_zero, joined.may_nan, joined.integral) == (False, False, False)
