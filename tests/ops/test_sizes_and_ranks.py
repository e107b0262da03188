"""Tensors without elements, without dimensions, and too large for memory."""

from __future__ import annotations

import numpy as np
import pytest

from vinculum import BroadcastError, div, reciprocal, sonnx


def test_types_and_shapes_are_checked_without_elements() -> None:
    with pytest.raises(BroadcastError):
        div(np.empty(0, "i4"), np.ones(2, "i4"))
    for a, b in ((np.empty(0, "i4"), np.empty(0, "i8")), (np.empty(0, bool), np.empty(0, bool))):
        with pytest.raises(TypeError):
            div(a, b)
    for x in (np.empty((0, 3), "i4"), np.empty((0, 3), object)):
        assert sonnx.div(x, x).shape == (0, 3)


def test_a_scalar_is_divided_into_an_array_without_dimensions() -> None:
    out = np.empty((), "f4")
    assert div(np.float32(1), np.float32(4), out=out) is out
    assert reciprocal(np.float32(4), out=np.empty((), "f4")) == out == 0.25
    with pytest.raises(BroadcastError, match=r"out has shape \(1,\); the result has shape \(\)"):
        div(np.float32(1), np.float32(4), out=np.empty(1, "f4"))
    with pytest.raises(ZeroDivisionError, match=r"index \(\)"):
        div(np.int32(1), np.int32(0))


@pytest.mark.parametrize(
    ("dtype", "a", "b"),
    [
        *(("i1", (2**40, 1), (1, 2**40)), ("i1", (2**40, 1, 1), (1, 2**40, 0)), ("i1", (2**31, 1), (1, 2**32))),
        ("i1", (2**62, 1), (2,)),
        ("f8", (2**31, 1), (1, 2**31)),  # 2^62 elements can be counted; of 8 bytes each they cannot be addressed.
    ],
)
def test_a_result_that_no_memory_holds_is_refused(dtype: str, a: tuple[int, ...], b: tuple[int, ...]) -> None:
    one = np.ones((), dtype)
    with pytest.raises(BroadcastError) as refusal:
        div(np.broadcast_to(one, a), np.broadcast_to(one, b))
    assert "\n" not in str(refusal.value)
