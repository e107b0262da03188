"""PyTorch tensors in CPU memory are viewed through DLPack, or refused; JAX gets arrays of its own."""

from __future__ import annotations

import warnings
from types import ModuleType
from typing import Any

import jax
import ml_dtypes
import numpy as np
import pytest

from vinculum import ConstraintError, ElementTypeError, div, divide, floor_divide, reciprocal, sonnx
from vinculum.tensors.storage import as_operand


class TestViews:
    """Tensors are divided without a copy."""

    @pytest.mark.parametrize(
        "name",
        ["float16", "float32", "float64", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"],
    )
    def test_every_shared_type(self, torch_or_skip: ModuleType, name: str) -> None:
        tensor = torch_or_skip.tensor([6, 9], dtype=getattr(torch_or_skip, name))
        operand = as_operand(tensor, "A")
        assert operand.dtype == np.dtype(name)
        assert operand.__array_interface__["data"][0] == tensor.data_ptr()
        quotient = div(np.array([6, 9], name), torch_or_skip.tensor([2, 3]).to(tensor.dtype))
        assert type(quotient) is torch_or_skip.Tensor
        assert quotient.dtype is tensor.dtype
        assert quotient.tolist() == [3, 3]

    @pytest.mark.parametrize("name", ["bfloat16", "float8_e4m3fn", "float8_e5m2"])
    def test_narrow_types_that_dlpack_lacks(self, torch_or_skip: ModuleType, name: str) -> None:
        tensor = torch_or_skip.tensor([6.0, 1.0]).to(getattr(torch_or_skip, name))
        operand = as_operand(tensor, "A")
        assert operand.dtype == np.dtype(getattr(ml_dtypes, name))
        assert operand.__array_interface__["data"][0] == tensor.data_ptr()
        divisor = torch_or_skip.tensor([4.0, 3.0]).to(tensor.dtype)
        quotient: Any = divide(tensor, divisor)
        assert quotient.dtype is tensor.dtype
        expected = divide(operand, as_operand(divisor, "B"))
        assert quotient.to(torch_or_skip.float32).tolist() == expected.astype("f4").tolist()

    def test_any_strides(self, torch_or_skip: ModuleType) -> None:
        tensor = torch_or_skip.arange(1, 25, dtype=torch_or_skip.float32).reshape(2, 3, 4)
        views = [tensor.permute(2, 0, 1), tensor[:, 1:, ::2], tensor[0, 0].expand(5, 4), tensor[:0], tensor[0, 0, 0]]
        for view in views:
            quotients: Any = reciprocal(view)
            np.testing.assert_array_equal(quotients.numpy(), 1 / view.numpy(), strict=True)


class TestRefusals:
    """Tensors that cannot be viewed are refused."""

    def refusal(self, tensor: Any) -> str:
        with pytest.raises(ElementTypeError) as refusal:
            div(tensor, np.ones(2, "f4"))
        assert "\n" not in str(refusal.value)
        return str(refusal.value)

    def test_gradients(self, torch_or_skip: ModuleType) -> None:
        for tensor in (torch_or_skip.ones(2, requires_grad=True), torch_or_skip.nn.Parameter(torch_or_skip.ones(2))):
            with pytest.raises(ElementTypeError, match=r"requires a gradient; pass its \.detach\(\)"):
                floor_divide(tensor, np.ones(2, "f4"))

    def test_no_memory(self, torch_or_skip: ModuleType) -> None:
        assert "must lie in CPU memory" in self.refusal(torch_or_skip.ones(2, device="meta"))

    def test_lazily_conjugated_or_negated(self, torch_or_skip: ModuleType) -> None:
        """The imaginary part of a conjugate holds the opposite numbers in memory; a view of it has the wrong sign."""
        conjugate = torch_or_skip.tensor([1 + 2j, 3 - 4j]).conj()
        self.refusal(conjugate)
        negated = conjugate.imag
        assert negated.tolist() == [-2, 4]
        assert negated.is_neg()
        self.refusal(negated)

    @pytest.mark.parametrize("layout", ["sparse", "sparse_csr", "sparse_csc", "sparse_bsr"])
    def test_sparse(self, torch_or_skip: ModuleType, layout: str) -> None:
        """[GR1]."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # that sparse tensors are in beta
            dense = torch_or_skip.eye(2)
            sparse = {
                "sparse": dense.to_sparse,
                "sparse_csr": dense.to_sparse_csr,
                "sparse_csc": dense.to_sparse_csc,
                "sparse_bsr": lambda: dense.to_sparse_bsr((1, 1)),
            }[layout]()
        for call in (div, divide, sonnx.div):
            with pytest.raises(ConstraintError, match=r"^\[GR1\]"):
                call(np.ones((2, 2), "f4"), sparse)


class TestOut:
    """Quotients are written into the memory of a tensor."""

    def test_strided(self, torch_or_skip: ModuleType) -> None:
        memory = torch_or_skip.zeros(2, 4, dtype=torch_or_skip.int32)
        out = memory[:, ::2]
        a = torch_or_skip.tensor([[7, -7], [9, 8]], dtype=torch_or_skip.int32)
        assert div(a, np.int32(2), out=out) is out
        assert memory.tolist() == [[3, 0, -3, 0], [4, 0, 4, 0]]
        assert sonnx.div(a, a, out=a) is a
        assert a.tolist() == [[1, 1], [1, 1]]

    def test_a_type_that_dlpack_lacks(self, torch_or_skip: ModuleType) -> None:
        x = torch_or_skip.tensor([4.0, 8.0], dtype=torch_or_skip.bfloat16)
        assert reciprocal(x, out=x) is x
        assert x.tolist() == [0.25, 0.125]


@pytest.mark.parametrize("name", ["bfloat16", "float8_e4m3fn", "float8_e5m2", "float16", "int8", "uint32"])
def test_element_types_of_jax(name: str) -> None:
    values = np.array([6, 3], getattr(ml_dtypes, name, name))
    operand = jax.numpy.asarray(values)
    result: Any = divide(operand, operand[::-1])
    assert isinstance(result, jax.Array)
    assert result.dtype == operand.dtype
    np.testing.assert_array_equal(np.asarray(result), divide(values, values[::-1]))


def test_narrowing_by_jax_is_refused() -> None:
    """Without its 64-bit mode JAX converts to int32, which would lose the upper half."""
    with jax.enable_x64(True):
        operand = jax.numpy.asarray(np.array([2**62]))
    with pytest.raises(ElementTypeError, match="JAX converted quotients of type int64 to int32"):
        div(operand, np.array([1]))


def test_arrays_of_jax_as_out() -> None:
    ones = jax.numpy.ones(2)
    with pytest.raises(ElementTypeError, match="out is read-only"):
        reciprocal(ones, out=ones)
