"""The broadcasting rules, compared with NumPy and with the documents."""

from __future__ import annotations

import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from vinculum.errors import AttributeValueError, BroadcastError
from vinculum.tensors.broadcasting import Alignment, Shape, equal, limited, multidirectional, pdpd

SIZES = st.sampled_from([0, 1, 1, 2, 2, 3])
SHAPES = st.lists(SIZES, max_size=4).map(tuple)


def padded(b: Shape, axis: int, rank: int) -> Shape | None:
    """Return B's shape padded with ones to that rank, beginning at `axis`; None if it does not fit."""
    after = rank - axis - len(b)
    return None if axis < 0 or after < 0 else (1,) * axis + b + (1,) * after


def check(alignment: Alignment, a: Shape, meaning: Shape) -> None:
    """Check that A is not repeated, and B only where its padded shape, `meaning`, has the size 1."""
    assert alignment.shape == a
    assert alignment.a == tuple(range(len(a)))
    repeated = [along is None for along in alignment.b]
    assert all(size == 1 for size, none in zip(meaning, repeated, strict=True) if none)
    assert all(size == own for size, own, none in zip(meaning, a, repeated, strict=True) if not none)


class TestMultidirectional:
    """Div-7 and later, Divide-1 with auto_broadcast numpy: NumPy's own rule."""

    @given(SHAPES, SHAPES)
    def test_agrees_with_numpy(self, a: Shape, b: Shape) -> None:
        """An operand runs along its own dimensions, each at most once, of the result's size; None repeats it."""
        try:
            joined = np.broadcast_shapes(a, b)
        except ValueError:
            with pytest.raises(BroadcastError, match="neither is 1") as refusal:
                multidirectional(a, b)
            assert str(a) in str(refusal.value)
            assert str(b) in str(refusal.value)
            return
        alignment = multidirectional(a, b)
        assert alignment.shape == joined
        for operand, along in ((a, alignment.a), (b, alignment.b)):
            assert len(along) == len(joined)
            used = [d for d in along if d is not None]
            assert used == sorted(set(used))
            assert all(operand[d] == size for d, size in zip(along, joined, strict=True) if d is not None)
            assert all(operand[d] == 1 for d in range(len(operand)) if d not in used)


class TestEqual:
    """Equal shapes: Divide-1 none, Div-1 and Div-6 without broadcast=1, SONNX [C1]."""

    @given(SHAPES, SHAPES)
    def test_nothing_is_repeated(self, a: Shape, b: Shape) -> None:
        alignment = equal(a, a)
        assert (alignment.shape, alignment.a, alignment.b) == (a, tuple(range(len(a))), tuple(range(len(a))))
        if a != b:
            with pytest.raises(BroadcastError, match="must be equal"):
                equal(a, b)


class TestLimited:
    """Div-1 and Div-6 with broadcast=1: one element, or a contiguous run of A's shape."""

    @given(SHAPES, SHAPES, st.none() | st.integers(0, 5))
    def test_the_words_of_the_document(self, a: Shape, b: Shape, axis: int | None) -> None:
        one_element = len(b) <= len(a) and all(size == 1 for size in b)
        start = len(a) - len(b) if axis is None else axis
        run = start >= 0 and len(b) <= len(a) and a[start : start + len(b)] == b
        if not (one_element or run):
            with pytest.raises(BroadcastError, match=r"A|a"):
                limited(a, b, axis)
            return
        check(limited(a, b, axis), a, (1,) * len(a) if one_element else padded(b, start, len(a)) or ())

    @pytest.mark.parametrize(
        ("a", "b", "axis", "words"),
        [
            ((2, 3, 4), (2,), 1, "B of shape (2,) is not A's dimensions from axis 1 (3,), A having shape (2, 3, 4)"),
            ((2,), (1, 2), 0, "B of shape (1, 2) has a higher rank than A of shape (2,)"),
            ((2, 3, 4), (2,), -1, "count from the front, 0 to 2"),
            ((2,), (2,), -1, "count from the front, 0 to 0"),
            ((2, 3), (2,), -2, "count from the front, 0 to 1"),
        ],
    )
    def test_what_is_refused_is_shown(self, a: Shape, b: Shape, axis: int, words: str) -> None:
        with pytest.raises((AttributeValueError, BroadcastError), match=re.escape(words)):
            limited(a, b, axis)


class TestPdpd:
    """Divide-1 with auto_broadcast pdpd: B's last ones are dropped, the rest goes onto A from an axis."""

    @given(SHAPES, SHAPES, st.integers(-1, 5))
    def test_the_words_of_our_reading(self, a: Shape, b: Shape, axis: int) -> None:
        start = len(a) - len(b) if axis == -1 else axis
        kept = b
        while kept and kept[-1] == 1:
            kept = kept[:-1]
        meaning = padded(kept, start, len(a)) if kept else (1,) * len(a)
        if meaning is None or any(size not in (1, own) for size, own in zip(meaning, a, strict=True)):
            with pytest.raises(BroadcastError, match="pdpd"):
                pdpd(a, b, axis)
            return
        check(pdpd(a, b, axis), a, meaning)

    def test_a_start_before_the_first_dimension(self) -> None:
        """Also if A has the divisor's sizes at that distance from its end."""
        with pytest.raises(BroadcastError, match=r"from axis -2 \(pdpd\): .* is \(3,\), which meets \(\)"):
            pdpd((2, 3, 4), (3, 1, 1, 1, 1))

    @pytest.mark.parametrize("axis", [-2, -3, -(10**6)])
    def test_other_negative_axes(self, axis: int) -> None:
        with pytest.raises(AttributeValueError, match=f"axis is {axis}; "):
            pdpd((2, 3), (3,), axis)
