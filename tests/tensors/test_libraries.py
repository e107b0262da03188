"""Arrays of other libraries: results go back to the library that an operand came from, or the operand is refused."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import pytest

import vinculum
from tests.optional import module_or_skip, needs, skip_without
from vinculum import ElementTypeError, div, reciprocal, sonnx

ROOT = Path(__file__).parents[2]


class Strict:
    """An array of the array API standard, with no more than it asks for."""

    def __init__(self, array: Any) -> None:
        self.array = array

    @property
    def dtype(self) -> Any:
        return self.array.dtype

    def __array_namespace__(self) -> type[Strict]:
        return Strict

    def __dlpack__(self, **options: Any) -> Any:
        return self.array.__dlpack__(**options)

    def __dlpack_device__(self) -> Any:
        return self.array.__dlpack_device__()

    @staticmethod
    def from_dlpack(exporter: Any) -> Strict:
        return Strict(np.from_dlpack(exporter))


class TestArrayApi:
    """`__array_namespace__`: results come back in the namespace of the operands."""

    def test_of_either_operand(self) -> None:
        a, b = np.array([7, -7], "i2"), np.array([2, 2], "i2")
        for operands in ((Strict(a), Strict(b)), (a, Strict(b)), (Strict(a), b)):
            for call in (div, sonnx.div):
                result: Any = call(*operands)
                assert type(result) is Strict
                assert result.array.dtype == np.int16
                assert result.array.tolist() == [3, -3]
        assert type(div(a, b)) is np.ndarray

    def test_out_is_returned(self) -> None:
        a, out = Strict(np.array([7.0, 9.0])), np.empty(2)
        assert div(a, np.float64(2), out=out) is out
        assert out.tolist() == [3.5, 4.5]


@needs("jax")
class TestJax:
    """JAX arrays, which nobody may write."""

    @pytest.mark.parametrize("name", ["bfloat16", "float8_e4m3fn", "float8_e5m2", "float16", "int8", "uint32"])
    def test_element_types(self, name: str) -> None:
        jax = module_or_skip("jax")
        values = np.array([6, 3], getattr(ml_dtypes, name, name))
        operand = jax.numpy.asarray(values)
        result: Any = vinculum.divide(operand, operand[::-1])
        assert isinstance(result, jax.Array)
        assert result.dtype == operand.dtype
        np.testing.assert_array_equal(np.asarray(result), vinculum.divide(values, values[::-1]))

    def test_that_nothing_is_narrowed(self) -> None:
        """Without its 64-bit mode JAX makes int32 of what it is given, which would lose the upper half."""
        jax = module_or_skip("jax")
        with jax.enable_x64(True):
            operand = jax.numpy.asarray(np.array([2**62]))
        with pytest.raises(ElementTypeError, match="JAX converted quotients of type int64 to int32"):
            div(operand, np.array([1]))

    def test_as_out(self) -> None:
        ones = module_or_skip("jax").numpy.ones(2)
        with pytest.raises(ElementTypeError, match="out is read-only"):
            reciprocal(ones, out=ones)


class TestLabelled:
    """pandas aligns by index and xarray by the names of dimensions: refused by name, with the line to paste."""

    def test_pandas(self) -> None:
        skip_without("pandas")
        pandas = module_or_skip("pandas")
        a = pandas.Series([7, 8, 9], index=[0, 1, 2], dtype="int32")
        b = pandas.Series([1, 2, 3], index=[2, 1, 0], dtype="int32")
        for value in (a, a.to_frame(), a.index):
            with pytest.raises(ElementTypeError, match=r"A is an? \w+ of pandas, .*: A\.to_numpy\(\)$"):
                div(value, np.int32(1))
        assert div(a.to_numpy(), b.to_numpy()).tolist() == [7, 4, 3]

    def test_xarray(self) -> None:
        skip_without("xarray")
        xarray = module_or_skip("xarray")
        a = xarray.DataArray(np.array([[7, 8], [-9, 10]], "int32"), dims=("y", "x"))
        b = xarray.DataArray(np.array([2, 3], "int32"), dims=("y",))
        with pytest.raises(ElementTypeError, match=r'xarray\.apply_ufunc\(vinculum\.div, a, b, dask="allowed"\)$'):
            div(a, b)
        joined = xarray.apply_ufunc(vinculum.div, a, b, dask="allowed")
        assert joined.dims == ("y", "x")
        assert joined.values.tolist() == [[3, 4], [-3, 3]]

    @needs("dask")
    def test_xarray_of_dask(self) -> None:
        skip_without("xarray")
        xarray = module_or_skip("xarray")
        a = xarray.DataArray(np.arange(6, dtype="int32"), dims="x").chunk({"x": 2})
        lazy = xarray.apply_ufunc(vinculum.div, a, xarray.DataArray(np.int32(2)), dask="allowed")
        assert lazy.chunks == ((2, 2, 2),)
        assert lazy.compute().values.tolist() == [0, 0, 1, 1, 2, 2]
