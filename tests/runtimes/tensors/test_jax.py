"""JAX arrays: results are JAX arrays, which cannot be written."""

from __future__ import annotations

from typing import Any

import jax
import ml_dtypes
import numpy as np
import pytest

import vinculum
from vinculum import ElementTypeError, div, reciprocal


@pytest.mark.parametrize("name", ["bfloat16", "float8_e4m3fn", "float8_e5m2", "float16", "int8", "uint32"])
def test_element_types(name: str) -> None:
    values = np.array([6, 3], getattr(ml_dtypes, name, name))
    operand = jax.numpy.asarray(values)
    result: Any = vinculum.divide(operand, operand[::-1])
    assert isinstance(result, jax.Array)
    assert result.dtype == operand.dtype
    np.testing.assert_array_equal(np.asarray(result), vinculum.divide(values, values[::-1]))


def test_narrowing_is_refused() -> None:
    """Without its 64-bit mode JAX converts to int32, which would lose the upper half."""
    with jax.enable_x64(True):
        operand = jax.numpy.asarray(np.array([2**62]))
    with pytest.raises(ElementTypeError, match="JAX converted quotients of type int64 to int32"):
        div(operand, np.array([1]))


def test_as_out() -> None:
    ones = jax.numpy.ones(2)
    with pytest.raises(ElementTypeError, match="out is read-only"):
        reciprocal(ones, out=ones)
