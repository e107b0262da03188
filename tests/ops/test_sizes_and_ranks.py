"""Tensors without elements, without dimensions, with as many dimensions as NumPy has, and too large for memory."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import ml_dtypes
import numpy as np
import pytest

from tests.cases import case
from vinculum import BroadcastError, Operator, div, divide, reciprocal, sonnx
from vinculum.spec.element_types import ELEMENT_TYPES, REAL, ElementType
from vinculum.tensors.storage import dtype_of

every_type = pytest.mark.parametrize("element_type", ELEMENT_TYPES, ids=str)


def operator_of(element_type: ElementType) -> Operator:
    """Return an operator that divides the type, and raises wherever a policy may."""
    if element_type is REAL:
        return Operator("Div", dialect="sonnx", variant="real")
    return Operator("Divide", overflow="raise")


class TestEmpty:
    """Nothing is divided and nothing is raised, even if the divisor holds zeros."""

    @every_type
    def test_every_type(self, element_type: ElementType) -> None:
        for shape in ((0,), (0, 3), (3, 0), (0, 0), (2, 0, 3), (1, 0)):
            with case(shape):
                a = np.empty(shape, dtype_of(element_type))
                quotient = operator_of(element_type)(a, a.copy())
                assert (quotient.shape, quotient.dtype) == (shape, a.dtype)

    def test_limited_and_pdpd(self) -> None:
        empty, zeros = np.empty((0, 3), "i4"), np.zeros(3, "i4")
        assert div(empty, zeros, opset=6, broadcast=1).shape == (0, 3)
        assert divide(empty, zeros, auto_broadcast="pdpd").shape == (0, 3)
        assert sonnx.div(empty, empty).shape == (0, 3)
        assert reciprocal(np.empty((2, 0), "f4")).shape == (2, 0)

    def test_types_and_shapes_are_checked_all_the_same(self) -> None:
        with pytest.raises(BroadcastError):
            div(np.empty(0, "i4"), np.ones(2, "i4"))
        with pytest.raises(TypeError):
            div(np.empty(0, "i4"), np.empty(0, "i8"))
        with pytest.raises(TypeError):
            div(np.empty(0, bool), np.empty(0, bool))


class TestRank0:
    """A scalar tensor is divided into an array without dimensions, not into a number."""

    @every_type
    def test_every_type(self, element_type: ElementType) -> None:
        values = (Fraction(6), Fraction(2)) if element_type is REAL else (6, 2)
        a, b = (np.array(v, object).astype(dtype_of(element_type)) for v in values)
        quotient = operator_of(element_type)(a, b)
        assert type(quotient) is np.ndarray
        assert (quotient.shape, quotient.dtype, quotient.item()) == ((), a.dtype, 3)

    def test_out(self) -> None:
        out = np.empty((), "f4")
        assert div(np.float32(1), np.float32(4), out=out) is out
        assert reciprocal(np.float32(4), out=np.empty((), "f4")) == out == 0.25
        with pytest.raises(BroadcastError, match=r"out has shape \(1,\); the result has shape \(\)"):
            div(np.float32(1), np.float32(4), out=np.empty(1, "f4"))

    def test_errors(self) -> None:
        with pytest.raises(ZeroDivisionError, match=r"index \(\)"):
            div(np.int32(1), np.int32(0))


class TestRank64:
    """NumPy's largest rank, under every rule."""

    @pytest.mark.parametrize("dtype", ["int32", "float32", "float16", ml_dtypes.int4])
    def test_rank_64(self, dtype: Any) -> None:
        a = np.arange(1, 7).astype(dtype).reshape((1,) * 30 + (2,) + (1,) * 32 + (3,))
        b = np.array([1, 2, 4]).astype(dtype)
        assert a.ndim == 64
        expected = divide(a.reshape(2, 3), b).reshape(a.shape).tobytes()
        assert divide(a, b).tobytes() == expected
        assert divide(a, b.reshape((1,) * 63 + (3,))).tobytes() == expected
        assert divide(a, b, auto_broadcast="pdpd", axis=63).tobytes() == expected
        assert divide(a.T, b.reshape((3,) + (1,) * 63)).T.tobytes() == expected

    def test_every_dimension_in_its_own_direction(self) -> None:
        """Sixteen dimensions of size 2 in an order that no two of them share a loop."""
        shape = (1, 2) * 16 + (1,) * 32
        a = np.arange(2**16, dtype="i4").reshape(shape)
        order = np.random.default_rng(3).permutation(64)
        x, y = a.transpose(order), np.ascontiguousarray(a.transpose(order))[..., :]
        quotients = div(x, y, zero_divisor="zero")
        assert quotients.shape == x.shape
        assert quotients.sum() == 2**16 - 1


class TestTooLarge:
    """A result that no memory holds is one line, not a crash."""

    @pytest.mark.parametrize(
        ("a", "b"),
        [((2**40, 1), (1, 2**40)), ((2**40, 1, 1), (1, 2**40, 0)), ((2**31, 1), (1, 2**32)), ((2**62, 1), (2,))],
    )
    def test_refused(self, a: tuple[int, ...], b: tuple[int, ...]) -> None:
        one = np.int8(1)
        with pytest.raises(BroadcastError) as refusal:
            div(np.broadcast_to(one, a), np.broadcast_to(one, b))
        assert "\n" not in str(refusal.value)

    def test_more_bytes_than_memory_can_address(self) -> None:
        """2^62 elements can be counted; of 8 bytes each they cannot be addressed."""
        a = np.broadcast_to(np.float64(1), (2**31, 1))
        with pytest.raises(BroadcastError):
            div(a, a.T)
