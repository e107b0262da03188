"""No call warns, whatever the processor's flags say: every warning is an error in these tests, these seek them."""

from __future__ import annotations

import warnings
from typing import Any

import ml_dtypes
import numpy as np
import pytest

from vinculum import div, divide, reciprocal, sonnx

finfo: Any = ml_dtypes.finfo  # these two have no types
iinfo: Any = ml_dtypes.iinfo
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
