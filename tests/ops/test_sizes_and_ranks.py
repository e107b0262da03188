"""Tensors without elements, without dimensions, and too large for memory."""

from __future__ import annotations

import numpy as np
import pytest

from vinculum import BroadcastError, div, divide, reciprocal, sonnx


class TestEmpty:
    """Nothing is divided and nothing is raised, even if the divisor holds zeros."""

    def test_limited_and_pdpd(self) -> None:
        empty, zeros = np.empty((0, 3), "i4"), np.zeros(3, "i4")
        assert div(empty, zeros, opset=6, broadcast=1).shape == (0, 3)
        assert divide(empty, zeros, auto_broadcast="pdpd").shape == (0, 3)
        for x in (empty, empty.astype(object)):
            assert sonnx.div(x, x).shape == (0, 3)
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

    def test_out(self) -> None:
        out = np.empty((), "f4")
        assert div(np.float32(1), np.float32(4), out=out) is out
        assert reciprocal(np.float32(4), out=np.empty((), "f4")) == out == 0.25
        with pytest.raises(BroadcastError, match=r"out has shape \(1,\); the result has shape \(\)"):
            div(np.float32(1), np.float32(4), out=np.empty(1, "f4"))

    def test_errors(self) -> None:
        with pytest.raises(ZeroDivisionError, match=r"index \(\)"):
            div(np.int32(1), np.int32(0))


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
