"""Integer quotients of 32 and 64 bits against Python's integers, at the edges of everything."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given
from hypothesis import strategies as st

import vinculum
from tests.kernels.comparing import assert_same
from tests.property.strategies import integer_operands
from tests.property.views import half_as_often
from vinculum import reference
from vinculum.spec.element_types import INT32, INT64, UINT32, UINT64, ElementType
from vinculum.spec.model import IntegerRounding

Array = npt.NDArray[Any]

POLICIES = st.fixed_dictionaries(
    {"zero_divisor": st.sampled_from(["zero", "saturate"]), "overflow": st.sampled_from(["wrap", "saturate"])}
)


@pytest.mark.parametrize("element_type", [INT32, UINT32, INT64, UINT64], ids=str)
@pytest.mark.clause("truncating-division")
@pytest.mark.clause("floor-division")
@pytest.mark.clause("regular-division")
class TestIntegers:
    """Div-6 on truncates, Divide-1 floors or truncates by ``m_pythondiv``; the policies decide x/0 and MIN/-1."""

    @half_as_often
    @given(st.data(), POLICIES)
    def test_every_loop(self, element_type: ElementType, data: st.DataObject, policies: dict[str, Any]) -> None:
        a, b = square(*data.draw(integer_operands(element_type)), element_type)
        for rounding, divide in OPERATORS.items():  # of the same operands, whose drawing takes longest
            expected = reference.divide(a, b, element_type, rounding=rounding, **policies)
            assert_same(divide(a, b, **policies), expected)
            assert_same(divide(a[:, :1], b[:1], **policies), expected)
            assert_same(divide(a[::-1], b[::-1], **policies), expected[::-1])
            for column in range(a.shape[1]):
                assert_same(divide(a[:, 0], b[0, column], **policies), expected[:, column])
            for row in range(min(a.shape[0], 4)):
                assert_same(divide(a[row, 0], b[0], **policies), expected[row])


def truncated_by_divide(a: Array, b: Array, **policies: Any) -> Array:
    """Truncate by Divide-1, and by Div-14 to the same quotients."""
    quotients: Array = vinculum.divide(a, b, m_pythondiv=False, **policies)
    assert_same(vinculum.div(a, b, **policies), quotients)
    return quotients


OPERATORS: dict[IntegerRounding, Callable[..., Array]] = {
    IntegerRounding.TRUNCATING: truncated_by_divide,
    IntegerRounding.FLOOR: vinculum.divide,
}


def square(dividends: list[int], divisors: list[int], element_type: ElementType) -> tuple[Array, Array]:
    """Pair every dividend with every divisor."""
    a, b = np.meshgrid(np.array(dividends, element_type.numpy), np.array(divisors, element_type.numpy), indexing="ij")
    return np.ascontiguousarray(a), np.ascontiguousarray(b)
