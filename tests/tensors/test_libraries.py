"""Arrays of other libraries: they are viewed without a copy, and results are arrays of the library."""

from __future__ import annotations

import sys
from typing import Any

import ml_dtypes
import numpy as np
import pandas
import pytest
import xarray

import vinculum
from tests.tensors.exporters import JAX, TORCH, Exporter, Frozen, Standard, Tensor
from vinculum import BroadcastError, ElementTypeError, VinculumError
from vinculum.tensors.libraries import on_cuda_device
from vinculum.tensors.storage import as_operand

# Typed as for NumPy arrays.
div: Any = vinculum.div
divide: Any = vinculum.divide
reciprocal: Any = vinculum.reciprocal
sonnx: Any = vinculum.sonnx

SHARED = [f"{kind}{bits}" for kind in ("int", "uint") for bits in (8, 16, 32, 64)] + ["float16", "float32", "float64"]
NARROW = ["bfloat16", "float8_e4m3fn", "float8_e5m2"]


@pytest.fixture(autouse=True)
def libraries(monkeypatch: pytest.MonkeyPatch) -> None:
    """Install the stand-ins as imported packages."""
    monkeypatch.setitem(sys.modules, "torch", TORCH)
    monkeypatch.setitem(sys.modules, "jax", JAX)


class TestViews:
    """Arrays are divided without a copy, and results belong to their library."""

    @pytest.mark.parametrize("name", SHARED + NARROW)
    @pytest.mark.parametrize("kind", [Tensor, Frozen, Standard])
    def test_every_type(self, kind: type[Exporter], name: str) -> None:
        if (kind is Standard and name in NARROW) or (kind is Frozen and "64" in name):
            return  # Those types it has not.
        dtype = np.dtype(getattr(ml_dtypes, name, name))
        tensor, divisor = kind(np.array([6, 4], dtype)), np.array([2, 4], dtype)
        operand = as_operand(tensor, "A")
        assert operand.dtype == dtype
        assert operand.ctypes.data == tensor.array.ctypes.data
        for operands in ((tensor, kind(divisor)), (tensor, divisor), (tensor.array, kind(divisor))):
            quotient = divide(*operands)
            assert type(quotient) is kind
            assert quotient.array.dtype == dtype
            assert quotient.array.astype("f4").tolist() == [3, 1]
        assert tensor.array.astype("f4").tolist() == [6, 4]

    @pytest.mark.parametrize("operator", [vinculum.floor_divide, vinculum.remainder])
    def test_quotients_that_are_floored(self, operator: Any) -> None:
        a = np.array([-7, 7], "i4")
        for tensor in (Tensor(a), Tensor(a.astype("f4"))):
            found = operator(tensor, 2)
            assert type(found) is Tensor
            assert found.array.tolist() == operator(a, 2).tolist()

    def test_that_nothing_is_narrowed(self) -> None:
        """Which would lose the upper half."""
        with pytest.raises(
            ElementTypeError, match=r"JAX converted quotients of type int64 to .*int32; pass NumPy arrays"
        ):
            div(Frozen(np.array([2**62])), np.array([1]))


class TestRefusals:
    """Arrays that cannot be viewed are refused in one line that says why."""

    @pytest.mark.parametrize(
        ("tensor", "words"),
        [
            (Tensor(np.ones(2, "f4"), gradient=True), r"NumPy cannot view \(Can't export .* gradient"),
            (Tensor(np.ones(2, "f4"), device=14), "must lie in CPU memory"),
            (Tensor(np.ones(2, "f4"), negated=True), r"negated lazily; pass its \.resolve_neg\(\)"),
            (Tensor(np.ones(2, "?")), "^A has NumPy type bool"),
            (Tensor(np.ones(2, "c8")), "^A has NumPy type complex"),
        ],
    )
    def test_operands(self, tensor: Tensor, words: str) -> None:
        with pytest.raises(ElementTypeError, match=words) as refusal:
            div(tensor, np.ones(2, "f4"))
        assert "\n" not in str(refusal.value)


class TestOut:
    """Quotients are written to the memory of `out`."""

    def test_written(self) -> None:
        memory = np.zeros((2, 4), "i4")
        out, a = Tensor(memory[:, ::2]), Tensor(np.array([[7, -7], [9, 8]], "i4"))
        assert div(a, np.int32(2), out=out) is out
        assert memory.tolist() == [[3, 0, -3, 0], [4, 0, 4, 0]]
        assert sonnx.div(a, a, out=a) is a
        assert a.array.tolist() == [[1, 1], [1, 1]]
        x = Tensor(np.array([4, 8], ml_dtypes.bfloat16))
        assert reciprocal(x, out=x) is x
        assert x.array.tolist() == [0.25, 0.125]
        quotients = np.empty(2)
        assert div(Standard(np.array([7.0, 9.0])), np.float64(2), out=quotients) is quotients
        assert quotients.tolist() == [3.5, 4.5]

    @pytest.mark.parametrize(
        ("out", "error", "words"),
        [
            (Tensor(np.ones(2)), ElementTypeError, "out has type float64; the result has type float32"),
            (Tensor(np.ones((1, 2), "f4")), BroadcastError, r"out has shape \(1, 2\)"),
            (Tensor(np.ones(2, "f4"), gradient=True), ElementTypeError, r"out is a Tensor that .*gradient"),
            (Frozen(np.ones(2, "f4")), ElementTypeError, "out is read-only"),
        ],
    )
    def test_refused(self, out: Tensor, error: type[VinculumError], words: str) -> None:
        with pytest.raises(error, match=words):
            div(Tensor(np.ones(2, "f4")), np.ones(2, "f4"), out=out)


def test_what_lies_on_a_cuda_device() -> None:
    """As either of its protocols says."""
    protocols: tuple[dict[str, Any], ...] = (
        {"__cuda_array_interface__": {}},
        {"__dlpack_device__": lambda self: (2, 0)},
        {"__dlpack_device__": lambda self: (1, 2)},
    )
    assert [on_cuda_device(type("Held", (), one)()) for one in protocols] == [True, True, False]


class TestLabelled:
    """pandas and xarray objects, which align by labels, are refused with the line to write instead."""

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
