"""`zero_divisor` and `overflow`: what integers give where no integer is the quotient."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest

from vinculum import (
    AttributeValueError,
    DivisionByZeroError,
    Operator,
    VinculumError,
    div,
    divide,
)

SIGNED = ["int8", "int16", "int32", "int64"]
INTEGERS = [*SIGNED, "uint8", "uint16", "uint32", "uint64"]
CALLS = [div, divide, lambda a, b, **kw: divide(a, b, m_pythondiv=False, **kw)]
every_call = pytest.mark.parametrize("call", CALLS, ids=["div", "floor", "regular"])


class TestZeroDivisor:
    """Raise; give 0; or the largest or smallest value by the dividend's sign, and 0 for 0/0."""

    @every_call
    def test_the_error_tells_how_many_and_where_first(self, call: Any) -> None:
        a, b = np.ones((3, 4), "i4"), np.ones((3, 4), "i4")
        b[1, 3] = b[1, 2] = b[2, 0] = 0
        with pytest.raises(DivisionByZeroError) as error:
            call(a, b)
        assert isinstance(error.value, ZeroDivisionError)
        assert isinstance(error.value, VinculumError)
        assert (error.value.count, error.value.first_index) == (3, (1, 2))
        assert "3 of 12 divisors" in str(error.value)
        assert "zero_divisor='zero' or 'saturate'" in str(error.value)

    @pytest.mark.parametrize("policy", ["raise", "zero", "saturate"])
    @pytest.mark.parametrize("dtype", ["float16", "float32", "float64", ml_dtypes.bfloat16])
    def test_floats_have_no_such_policy(self, dtype: Any, policy: Any) -> None:
        """They follow IEEE 754 and never raise."""
        for call in (div, divide):
            quotients = call(np.array([1, 0], dtype), np.array([0, 0], dtype), zero_divisor=policy, overflow="raise")
            assert np.isposinf(quotients[0])
            assert np.isnan(quotients[1])


class TestBoth:
    """The policies are independent, and a zero divisor is raised first."""

    @pytest.mark.parametrize("value", ["Raise", "RAISE", "", "nan", None, 0, True, b"zero", ["zero"], ("zero",)])
    def test_no_other_policies(self, value: Any) -> None:
        a = np.array([1], "int32")
        for call in (div, divide, lambda x, y, **kw: Operator("Div", **kw)(x, y)):
            with pytest.raises(
                AttributeValueError, match=r"^zero_divisor is .*; allowed: 'raise', 'zero', 'saturate'$"
            ):
                call(a, a, zero_divisor=value)
            if value is not None:  # which leaves the choice to the operator
                with pytest.raises(
                    AttributeValueError, match=r"^overflow is .*; allowed: 'wrap', 'raise', 'saturate'$"
                ):
                    call(a, a, overflow=value)

    def test_one_policy_is_not_the_others(self) -> None:
        one: Any
        for one in ({"zero_divisor": "wrap"}, {"overflow": "zero"}):
            with pytest.raises(AttributeValueError):
                div(np.array([1], "int32"), np.array([1], "int32"), **one)
