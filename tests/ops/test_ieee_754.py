"""Division of every float type, by the table of special operands; and no warnings, which are errors in tests."""

from __future__ import annotations

import warnings
from itertools import product
from typing import Any

import ml_dtypes
import numpy as np
import pytest

from tests.cases import case
from vinculum import div, divide, reciprocal, sonnx
from vinculum.spec.element_types import BFLOAT16, DOUBLE, FLOAT, FLOAT8E4M3FN, FLOAT8E5M2, FLOAT16, ElementType
from vinculum.spec.special_values import OperandClass, QuotientClass, quotient_class
from vinculum.tensors.storage import dtype_of

Array = np.ndarray[Any, Any]
finfo: Any = ml_dtypes.finfo  # these two have no types
iinfo: Any = ml_dtypes.iinfo
OF_DIV = [BFLOAT16, FLOAT16, FLOAT, DOUBLE]
EVERY = [*OF_DIV, FLOAT8E4M3FN, FLOAT8E5M2]
every_type = pytest.mark.parametrize("element_type", EVERY, ids=str)


def members(kind: OperandClass, element_type: ElementType) -> Array:
    """Return numbers of a class, of both signs: for the finite ones the smallest, the largest and some between."""
    dtype, fmt = dtype_of(element_type), element_type.binary_format
    assert fmt is not None
    if kind is OperandClass.NAN:  # of any payload
        encodings = [fmt.nan, fmt.nan | fmt.sign_mask, fmt.sign_mask - 1, 2 * fmt.sign_mask - 1]
        return np.array(encodings, f"u{element_type.bits // 8}").view(dtype)
    info = finfo(dtype)
    finite = [info.smallest_subnormal, info.smallest_normal, 1, 1.5, 3, info.max]
    magnitudes: dict[OperandClass, list[Any]] = {
        OperandClass.ZERO: [0.0],
        OperandClass.FINITE: finite,
        OperandClass.INFINITY: [np.inf],
    }
    values = np.array([float(m) for m in magnitudes[kind]]).astype(dtype)
    both: Array = np.concatenate([values, -values])
    return both


def calls(element_type: ElementType) -> list[Any]:
    """Return the operators that divide a type."""
    by_type: list[Any] = [divide, lambda a, b: divide(a, b, m_pythondiv=False)]
    by_type += [div] if element_type in OF_DIV else []
    by_type += [sonnx.div] if element_type in OF_DIV[1:] else []
    return by_type


def signs(array: Array) -> Array:
    """Return the sign bits."""
    bits: Array = np.signbit(array.astype("f8"))
    return bits


class TestSpecialValues:
    """Each row of the table of special values, for each type and each operator that divides it."""

    @pytest.mark.clause("Div-13", "special-values")
    @pytest.mark.clause("Div-14", "special-values")
    @pytest.mark.clause("Divide-1", "special-values")
    @pytest.mark.clause("SONNX Div (float)", "special-values")
    @every_type
    def test_every_row(self, element_type: ElementType) -> None:
        for kinds in product(OperandClass, repeat=2):
            with case(*kinds):
                self.check(element_type, *kinds)

    @staticmethod
    def check(element_type: ElementType, *kinds: OperandClass) -> None:
        expected = quotient_class(*kinds)
        if not (element_type.binary_format and element_type.binary_format.infinities):
            if OperandClass.INFINITY in kinds:
                assert np.isnan(members(OperandClass.INFINITY, element_type).astype("f8")).all()
            if expected is QuotientClass.INFINITY:
                expected = QuotientClass.NAN
        dividends, divisors = np.meshgrid(*(members(kind, element_type) for kind in kinds))
        for call in calls(element_type):
            a, b, quotients = dividends, divisors, call(dividends, divisors).astype("f8")
            if np.isnan(a.astype("f8")).any() or np.isnan(b.astype("f8")).any() or expected is QuotientClass.NAN:
                assert np.isnan(quotients).all()
                continue
            if expected is QuotientClass.ROUNDED and element_type is FLOAT8E4M3FN:
                assert np.isnan(quotients).any()  # of the pairs that are too large for it
                a, b, quotients = (z[~np.isnan(quotients)] for z in (a, b, quotients))
            assert np.array_equal(signs(quotients), signs(a) != signs(b))
            if expected is QuotientClass.ZERO:
                assert not quotients.any()
            elif expected is QuotientClass.INFINITY:
                assert np.isinf(quotients).all()
            else:  # rounded: any number, an infinity or a zero
                assert set(kinds) == {OperandClass.FINITE}


TYPES: list[Any] = ["float16", "float32", "float64", ml_dtypes.bfloat16, ml_dtypes.float8_e5m2, ml_dtypes.float8_e4m3fn]


@pytest.mark.parametrize("how", ["warn", "raise", "call", "log"])
@pytest.mark.parametrize("dtype", TYPES)
def test_floats_neither_warn_nor_raise(dtype: Any, how: Any) -> None:
    """Zero by zero, overflow, underflow and NaN, even where the caller has NumPy raise on them."""
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
