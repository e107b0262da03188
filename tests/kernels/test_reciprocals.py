"""Every float16 and bfloat16 reciprocal, through every loop, against the exact reference."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

import vinculum
from tests.kernels.comparing import DTYPES, assert_same
from tests.kernels.layouts import ANY
from vinculum import reference
from vinculum.spec.element_types import BFLOAT16, FLOAT16, ElementType

Array = npt.NDArray[Any]

each_type = pytest.mark.parametrize("element_type", [FLOAT16, BFLOAT16], ids=str)


@cache
def every_encoding(element_type: ElementType) -> Array:
    """Return all 65,536 values, NaNs and both zeros among them."""
    return np.arange(1 << 16, dtype=np.uint16).view(DTYPES[element_type.name])


@cache
def expected(element_type: ElementType) -> Array:
    """Return the reference's reciprocals."""
    return reference.reciprocal(every_encoding(element_type), element_type)


@each_type
@pytest.mark.clause("ieee-754")
@pytest.mark.clause("bfloat16")
@pytest.mark.clause("special-values")
class TestEveryReciprocal:
    """Reciprocal-13: 1/x of each element, rounded once, subnormals kept."""

    def test_alone(self, element_type: ElementType) -> None:
        assert_same(vinculum.reciprocal(every_encoding(element_type)), expected(element_type))

    def test_as_division_by_equal_shape(self, element_type: ElementType) -> None:
        x = every_encoding(element_type)
        assert_same(vinculum.div(np.ones_like(x), x), expected(element_type))

    def test_as_division_of_a_repeated_dividend(self, element_type: ElementType) -> None:
        x = every_encoding(element_type)
        assert_same(vinculum.divide(np.ones(1, x.dtype), x), expected(element_type))

    def test_one_by_one_in_its_own_place(self, element_type: ElementType) -> None:
        x = every_encoding(element_type).copy()
        for start in range(0, x.size, 17):  # lengths that no vector divides evenly
            part = x[start : start + 17]
            assert vinculum.reciprocal(part, out=part) is part
        assert_same(x, expected(element_type))

    @pytest.mark.parametrize("layout", ANY)
    def test_laid_out(self, element_type: ElementType, layout: str) -> None:
        square = (256, 256)
        x = ANY[layout](every_encoding(element_type).reshape(square))
        assert_same(vinculum.reciprocal(x), expected(element_type).reshape(square))
