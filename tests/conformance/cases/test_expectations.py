"""What the specification leaves unspecified or refuses, and the shapes of quotients, computed by hand."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from tests.conformance.asking import array
from vinculum.conformance.cases.case import Expectation
from vinculum.conformance.cases.expectations import exact, expectation
from vinculum.spec.element_types import INT8, INT32, REAL, ElementType
from vinculum.spec.model import OperatorSpec
from vinculum.spec.onnx_div import DIV_6, DIV_14
from vinculum.spec.openvino_divide import DIVIDE_1
from vinculum.spec.sonnx_div import DIV_INT, DIV_REAL

A = np.arange(24, dtype=np.float32).reshape(2, 3, 4)


def expected(spec: OperatorSpec, t: ElementType, *operands: Any) -> Expectation:
    """Return what a version expects of operands; what all cases expect, our own engine gives."""
    arrays = tuple(array(operand, t) for operand in operands)
    return expectation(spec, t, {}, lambda rounding: exact(t, rounding, arrays))


@pytest.mark.parametrize("row", [DIV_6, DIV_14, DIVIDE_1], ids=lambda row: row.title)
@pytest.mark.parametrize(
    ("element_type", "operands", "unspecified", "others"),
    [
        (INT32, ([7, 0, 7], [0, 0, 2]), [True, True, False], [3]),
        (INT8, ([-128, -128, 127], [-1, 1, -1]), [True, False, False], [-128, -127]),
    ],
)
def test_what_is_unspecified_and_its_neighbours_are_not(
    row: OperatorSpec, element_type: ElementType, operands: Any, unspecified: list[bool], others: list[int]
) -> None:
    found = expected(row, element_type, *operands)
    assert found.unspecified is not None
    assert found.quotient is not None
    assert found.unspecified.tolist() == unspecified
    assert found.quotient[~found.unspecified].tolist() == others


def test_sonnx_refuses_it() -> None:
    reals = [Fraction(1), Fraction(1)], [Fraction(2), Fraction(0)]
    for row, t, operands in (
        (DIV_INT, INT8, ([7, 8], [0, 2])), (DIV_INT, INT8, ([-128], [-1])), (DIV_REAL, REAL, reals)
    ):  # fmt: skip
        assert expected(row, t, *operands).quotient is None
    empty = expected(DIV_14, INT32, [], [0])
    assert (empty.unspecified, empty.quotient is not None and empty.quotient.shape) == (None, (0,))
