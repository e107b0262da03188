"""Division of every float type, compared with the table of special values, and without warnings."""

from __future__ import annotations

import warnings
from itertools import product
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from numpy.typing import NDArray

from tests.cases import case
from tests.kernels.witness import crossed, values
from vinculum import div, divide, reciprocal, sonnx
from vinculum.spec.element_types import BFLOAT16, DOUBLE, FLOAT, FLOAT8E4M3FN, FLOAT8E5M2, FLOAT16, ElementType
from vinculum.spec.special_values import OperandClass, QuotientClass, quotient_class

OF_DIV = [BFLOAT16, FLOAT16, FLOAT, DOUBLE]


def classified(numbers: NDArray[Any]) -> NDArray[Any]:
    """Return the class of each number, in the words of the table."""
    found: NDArray[Any] = np.select(
        [numbers == 0, np.isnan(numbers), np.isinf(numbers)], ["zero", "NaN", "infinity"], "finite"
    )
    return found


class TestSpecialValues:
    """Each row of the table of special values, for each type and each operator that divides it."""

    @pytest.mark.clause("Div-13", "special-values")
    @pytest.mark.clause("Div-14", "special-values")
    @pytest.mark.clause("Divide-1", "special-values")
    @pytest.mark.clause("SONNX Div (float)", "special-values")
    @pytest.mark.parametrize("element_type", [*OF_DIV, FLOAT8E4M3FN, FLOAT8E5M2], ids=str)
    def test_every_row(self, element_type: ElementType) -> None:
        """Every pair of values has a quotient of the row's class, and with the right sign."""
        infinity = "NaN" if element_type is FLOAT8E4M3FN else "infinity"
        operands = crossed(values(element_type.numpy))
        operators: list[Any] = [divide]
        operators += [div] if element_type in OF_DIV else []
        operators += [sonnx.div] if element_type in OF_DIV[1:] else []
        for operator in operators:
            with np.errstate(invalid="ignore"):  # some NaNs are signalling
                a, b, quotients = (x.astype("f8") for x in (*operands, operator(*operands)))
            for kinds in product(OperandClass, repeat=2):
                expected = quotient_class(*kinds)
                allowed = {
                    QuotientClass.INFINITY: {infinity},
                    QuotientClass.ROUNDED: {"zero", "finite", infinity},
                }.get(expected, {expected.value})
                found = set(
                    classified(quotients)[(classified(a) == kinds[0].value) & (classified(b) == kinds[1].value)]
                )
                with case(operator, *kinds):
                    assert found == allowed or (found == set() and infinity == "NaN")
            numbers = ~np.isnan(quotients)
            assert np.array_equal(np.signbit(quotients)[numbers], (np.signbit(a) != np.signbit(b))[numbers])


finfo: Any = ml_dtypes.finfo  # these two have no types
iinfo: Any = ml_dtypes.iinfo
TYPES: list[Any] = ["float16", "float32", "float64", ml_dtypes.bfloat16, ml_dtypes.float8_e5m2, ml_dtypes.float8_e4m3fn]


@pytest.mark.parametrize("how", ["warn", "raise", "call", "log"])
@pytest.mark.parametrize("dtype", TYPES)
def test_floats_neither_warn_nor_raise(dtype: Any, how: Any) -> None:
    """Zero by zero, overflow, underflow and NaN, even if the caller lets NumPy raise on them."""
    info = finfo(dtype)
    a = np.array([1, 0, info.max, info.smallest_subnormal, np.nan, np.inf], dtype)
    b = np.array([0, 0, info.smallest_subnormal, info.max, 1, np.inf], dtype)
    refused: list[object] = []
    with warnings.catch_warnings(), np.errstate(all=how, call=lambda *flags: refused.append(flags)):
        warnings.simplefilter("error")
        for shape in ((6,), (2, 3), (3, 2)):
            divide(a.reshape(shape), b.reshape(shape))
            divide(np.asfortranarray(a.reshape(shape)), b.reshape(shape))
        divide(a[::-1], b[:1])
        if np.dtype(dtype).itemsize > 1:
            div(a, b)
            reciprocal(b)
        if np.dtype(dtype).name != "bfloat16" and np.dtype(dtype).itemsize > 1:
            sonnx.div(a, b)
            sonnx.error_conditions(a, b)
            sonnx.accuracy(a, b, 0, 0)
    assert refused == []


@pytest.mark.parametrize(
    "dtype", ["int8", "int16", "int32", "int64", "uint8", "uint64", ml_dtypes.int4, ml_dtypes.uint4]
)
def test_integers_do_not_warn(dtype: Any) -> None:
    info = iinfo(dtype)
    smallest, largest = int(info.min), int(info.max)
    a = np.array([smallest, largest, 0, smallest], object).astype(dtype)
    b = np.array([largest, 0, 0, -1 if smallest else largest], object).astype(dtype)
    with warnings.catch_warnings(), np.errstate(all="raise"):
        warnings.simplefilter("error")
        for zero_divisor in ("zero", "saturate"):
            for overflow in ("wrap", "saturate"):
                divide(a, b, zero_divisor=zero_divisor, overflow=overflow)
                divide(a, b[:1], zero_divisor=zero_divisor, overflow=overflow)


def test_the_callers_settings_stay() -> None:
    with np.errstate(divide="raise", over="warn", under="ignore", invalid="print"):
        before = np.geterr()
        div(np.array([1], "float32"), np.array([0], "float32"))
        assert np.geterr() == before
