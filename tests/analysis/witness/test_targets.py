"""How far a division is from showing a finding."""

from __future__ import annotations

from math import inf
from typing import Any

import numpy as np
import pytest

from vinculum.analysis.witness.targets import distance
from vinculum.models.execution import Division, DivisionRecord
from vinculum.spec.onnx_div import DIV_14

TINY = 1e-40  # subnormal in float32
MIN = -(2**31)


@pytest.mark.parametrize(
    ("rule", "dtype", "dividend", "divisor", "expected"),
    [
        ("zero-divisor", "f4", [1, 1], [4, -2], 2.0),
        ("zero-divisor", "f4", [1, 1], [4, -0.0], 0.0),
        ("integer-zero-divisor", "i4", [1, 1], [-3, 5], 3.0),
        ("quotient-overflow", "f4", [1e30, 1], [1e-30, 1], 0.0),
        ("quotient-overflow", "f4", [1, 8], [0, 2], inf),
        ("quotient-overflow", "f4", [1, 8], [1, 2], 0.25),
        ("subnormal-divisor", "f4", [1, 1], [TINY, 2], 0.0),
        ("subnormal-divisor", "f4", [1, 1], [0, 2], inf),
        ("subnormal-divisor", "f4", [1, 1], [3, 2], 2.0),
        ("min-over-minus-one", "i4", [MIN, 1], [1, -1], inf),
        ("min-over-minus-one", "i4", [MIN, 1], [-1, 1], 0.0),
    ],
)
def test_distance(rule: str, dtype: str, dividend: list[Any], divisor: list[Any], expected: float) -> None:
    a, b = np.array(dividend, dtype), np.array(divisor, dtype)
    with np.errstate(all="ignore"):
        quotient = a / b if dtype == "f4" else a
    assert distance(rule, DivisionRecord(Division("d", "", DIV_14), a, b, quotient, 0.0)) == expected
