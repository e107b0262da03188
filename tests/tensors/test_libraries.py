"""Arrays of other libraries: results go back to the library that an operand came from, or the operand is refused."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas
import pytest
import xarray

import vinculum
from vinculum import ElementTypeError, div, sonnx
from vinculum.tensors.libraries import on_cuda_device


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


def test_what_lies_on_a_cuda_device() -> None:
    """As either of its protocols says."""
    protocols: tuple[dict[str, Any], ...] = (
        {"__cuda_array_interface__": {}},
        {"__dlpack_device__": lambda self: (2, 0)},
        {"__dlpack_device__": lambda self: (1, 2)},
    )
    assert [on_cuda_device(type("Held", (), one)()) for one in protocols] == [True, True, False]


class TestLabelled:
    """pandas aligns by index and xarray by the names of dimensions: refused by name, with the line to paste."""

    def test_pandas(self) -> None:
        a = pandas.Series([7, 8, 9], index=[0, 1, 2], dtype="int32")
        b = pandas.Series([1, 2, 3], index=[2, 1, 0], dtype="int32")
        for value in (a, a.to_frame(), a.index):
            with pytest.raises(ElementTypeError, match=r"A is an? \w+ of pandas, .*: A\.to_numpy\(\)$"):
                div(value, np.int32(1))
        assert div(a.to_numpy(), b.to_numpy()).tolist() == [7, 4, 3]

    def test_xarray(self) -> None:
        a = xarray.DataArray(np.array([[7, 8], [-9, 10]], "int32"), dims=("y", "x"))
        b = xarray.DataArray(np.array([2, 3], "int32"), dims=("y",))
        with pytest.raises(ElementTypeError, match=r'xarray\.apply_ufunc\(vinculum\.div, a, b, dask="allowed"\)$'):
            div(a, b)
        joined = xarray.apply_ufunc(vinculum.div, a, b, dask="allowed")
        assert joined.dims == ("y", "x")
        assert joined.values.tolist() == [[3, 4], [-3, 3]]

    def test_xarray_of_dask(self) -> None:
        a = xarray.DataArray(np.arange(6, dtype="int32"), dims="x").chunk({"x": 2})
        lazy = xarray.apply_ufunc(vinculum.div, a, xarray.DataArray(np.int32(2)), dask="allowed")
        assert lazy.chunks == ((2, 2, 2),)
        assert lazy.compute().values.tolist() == [0, 0, 1, 1, 2, 2]
