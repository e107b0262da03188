"""Arrays of other libraries, through DLPack: viewed where they lie, or refused in one line."""

from __future__ import annotations

import sys
from typing import Any

import ml_dtypes
import numpy as np
import pytest

import vinculum
from tests.tensors.exporters import JAX, TORCH, Frozen, Tensor
from vinculum import BroadcastError, ConstraintError, ElementTypeError, VinculumError
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
    """Let the stand-ins be imported already, as they are when somebody has their arrays."""
    monkeypatch.setitem(sys.modules, "torch", TORCH)
    monkeypatch.setitem(sys.modules, "jax", JAX)


class TestViews:
    """What DLPack and NumPy share is divided where it lies, and goes back to where it came from."""

    @pytest.mark.parametrize("name", SHARED + NARROW)
    def test_every_type(self, name: str) -> None:
        dtype = np.dtype(getattr(ml_dtypes, name, name))
        tensor, divisor = Tensor(np.array([6, 4], dtype)), np.array([2, 4], dtype)
        operand = as_operand(tensor, "A")
        assert operand.dtype == dtype
        assert operand.ctypes.data == tensor.array.ctypes.data
        for quotient in (
            divide(tensor, Tensor(divisor)),
            divide(tensor, divisor),
            divide(tensor.array, Tensor(divisor)),
        ):
            assert type(quotient) is Tensor
            assert quotient.array.dtype == dtype
            assert quotient.array.astype("f4").tolist() == [3, 1]
        assert tensor.array.astype("f4").tolist() == [6, 4]


class TestRefusals:
    """What cannot be viewed as it is: one line that says why."""

    @pytest.mark.parametrize(
        ("tensor", "words"),
        [
            (
                Tensor(np.ones(2, "f4"), gradient=True),
                r"NumPy cannot view \(Can't export .* gradient",
            ),
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

    def test_sparse(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """[GR1]."""
        monkeypatch.setattr(Tensor, "layout", "torch.sparse_csr")
        for call in (div, divide, sonnx.div):
            with pytest.raises(ConstraintError, match=r"^\[GR1\]"):
                call(np.ones((2, 2), "f4"), Tensor(np.ones((2, 2), "f4")))


class TestOut:
    """Quotients are written to an array where it lies."""

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

    @pytest.mark.parametrize(
        ("out", "error", "words"),
        [
            (Tensor(np.ones(2)), ElementTypeError, "out has type float64; the result has type float32"),
            (Tensor(np.ones((1, 2), "f4")), BroadcastError, r"out has shape \(1, 2\)"),
            (
                Tensor(np.ones(2, "f4"), gradient=True),
                ElementTypeError,
                r"out is a Tensor that .*gradient",
            ),
            (Frozen(np.ones(2, "f4")), ElementTypeError, "out is read-only"),
        ],
    )
    def test_refused(self, out: Tensor, error: type[VinculumError], words: str) -> None:
        with pytest.raises(error, match=words):
            div(Tensor(np.ones(2, "f4")), np.ones(2, "f4"), out=out)


class TestJax:
    """A library may have narrower types than its arrays were made of."""

    @pytest.mark.parametrize("name", ["bfloat16", "float8_e5m2", "int8", "uint32"])
    def test_quotients(self, name: str) -> None:
        operand = Frozen(np.array([6, 3], getattr(ml_dtypes, name, name)))
        result: Any = divide(operand, Frozen(operand.array[::-1].copy()))
        assert type(result) is Frozen
        np.testing.assert_array_equal(result.array, divide(operand.array, operand.array[::-1]), strict=True)

    def test_that_nothing_is_narrowed(self) -> None:
        """Which would lose the upper half."""
        with pytest.raises(
            ElementTypeError, match=r"JAX converted quotients of type int64 to .*int32; pass NumPy arrays"
        ):
            div(Frozen(np.array([2**62])), np.array([1]))
