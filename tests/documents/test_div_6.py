"""The page on Div-6: its six shapes and their illegal neighbours, and its attributes."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tests.cases import case
from vinculum import AttributeValueError, BroadcastError, div

Shape = tuple[int, ...]

A = (2, 3, 4, 5)
# line of the document, shape of B, axis, and the shape that stands for B under multidirectional broadcasting
LEGAL = [
    pytest.param((), None, (1, 1, 1, 1), id="line 7: a scalar"),
    pytest.param((1, 1), None, (1, 1, 1, 1), id="line 8: one element"),
    pytest.param((5,), None, (1, 1, 1, 5), id="line 9: the last dimension"),
    pytest.param((4, 5), None, (1, 1, 4, 5), id="line 10: the last two"),
    pytest.param((3, 4), 1, (1, 3, 4, 1), id="line 11: two from axis 1"),
    pytest.param((2,), 0, (2, 1, 1, 1), id="line 12: one from axis 0"),
]
ILLEGAL = [
    # Line 7 and 8: one element, but of a higher rank than A.
    ((1, 1, 1, 1, 1), None),
    # Line 8: two elements instead of one, so the 1 beside the 2 is no longer of one element.
    ((1, 2), None), ((2, 1), None),
    # Line 9: another size, another place, and a 1 that would have to stretch.
    ((4,), None), ((6,), None), ((0,), None), ((5,), 0), ((5,), 2), ((5,), 4), ((1, 5), None), ((5, 1), None),
    # Line 10: exchanged, one size off, a 1 on either side, a longer suffix whose head differs.
    ((5, 4), None), ((4, 6), None), ((3, 5), None), ((4, 1), None), ((2, 4, 5), None), ((1, 4, 5), None),
    ((2, 2, 3, 4, 5), None), ((4, 5), 1), ((4, 5), 3),
    # Line 11: every other axis and none, exchanged, one size off, a 1 on either side, a gap in the run.
    ((3, 4), None), ((3, 4), 0), ((3, 4), 2), ((3, 4), 3), ((3, 4), 4), ((4, 3), 1), ((3, 3), 1), ((3, 1), 1),
    ((1, 4), 1), ((3, 5), 1),
    # Line 12: every other axis and none, another size, beyond the end.
    ((2,), None), ((2,), 1), ((2,), 2), ((2,), 3), ((2,), 4), ((2,), 10**9), ((3,), 0), ((2, 1), 0),
    # Line 13: A's own shape from another axis than the first.
    (A, 1), (A, 4),
]  # fmt: skip

versions = pytest.mark.parametrize(("opset", "dtype"), [(1, "float32"), (5, "float64"), (6, "int64"), (6, "float16")])


def operands(b: Shape, dtype: str) -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]:
    """Return dividends of the document's shape and divisors from 3 on, so that no two places give the same."""
    dividends = 7 * np.arange(np.prod(A)).reshape(A)
    return dividends.astype(dtype), (3 + np.arange(np.prod(b, dtype=int))).reshape(b).astype(dtype)


class TestLegalShapes:
    """Lines 6 to 13: what broadcast=1 allows for A of shape (2, 3, 4, 5), in Div-6 as in Div-1."""

    @pytest.mark.clause(
        "Div-1", "Div-6", "one-element-divisor", "broadcast-suffix", "broadcast-axis", "output-of-dividend-shape"
    )
    @versions
    @pytest.mark.parametrize(("b", "axis", "meaning"), LEGAL)
    def test_divides(self, b: Shape, axis: int | None, meaning: Shape, opset: int, dtype: str) -> None:
        dividends, divisors = operands(b, dtype)
        quotients = div(dividends, divisors, opset=opset, broadcast=1, axis=axis)
        assert quotients.shape == A
        exact = dividends // divisors.reshape(meaning) if dtype == "int64" else dividends / divisors.reshape(meaning)
        np.testing.assert_array_equal(quotients, exact, strict=True)

    @pytest.mark.clause("Div-1", "Div-6", "one-element-divisor")
    @pytest.mark.parametrize("opset", [1, 6])
    @pytest.mark.parametrize("b", [(), (1,), (1, 1), (1, 1, 1), (1, 1, 1, 1)])
    def test_one_element_of_every_rank_up_to_that_of_a(self, b: Shape, opset: int) -> None:
        """Line 5: a scalar tensor, and any tensor of one element whose rank is not above A's."""
        dividends, divisors = operands(b, "float32")
        np.testing.assert_array_equal(div(dividends, divisors, opset=opset, broadcast=1), dividends / np.float32(3))

    @pytest.mark.clause("Div-6", "broadcast-suffix", "broadcast-axis")
    @pytest.mark.parametrize("start", range(5))
    @pytest.mark.parametrize("stop", range(5))
    def test_every_run_of_a_from_its_own_axis(self, start: int, stop: int) -> None:
        """Line 5: a contiguous subset of the first tensor's shape; the longest is A's own, the shortest is empty."""
        run = A[start:stop]
        dividends, divisors = operands(run, "float32")
        quotients = div(dividends, divisors, opset=6, broadcast=1, axis=start)
        meaning = (1,) * start + run + (1,) * (4 - start - len(run))
        np.testing.assert_array_equal(quotients, dividends / divisors.reshape(meaning))

    def test_shapes_need_not_differ(self) -> None:
        """Line 13: broadcast=1 enables broadcasting, it does not demand it."""
        dividends, divisors = operands(A, "float32")
        for axis in (None, 0):
            np.testing.assert_array_equal(
                div(dividends, divisors, opset=6, broadcast=1, axis=axis), dividends / divisors
            )


class TestIllegalNeighbours:
    """Lines 5 to 13: whatever lies beside a legal shape is refused, in one line that names both shapes."""

    @pytest.mark.clause(
        "Div-1", "Div-6", "no-one-dim-expansion", "broadcast-axis", "broadcast-suffix", "one-element-divisor"
    )
    @versions
    def test_refused(self, opset: int, dtype: str) -> None:
        for b, axis in ILLEGAL:
            with case(b, f"{axis=}"):
                dividends, divisors = operands(b, dtype)
                with pytest.raises(BroadcastError) as refusal:
                    div(dividends, divisors, opset=opset, broadcast=1, axis=axis)
                line = str(refusal.value)
                assert str(A) in line
                assert str(b) in line
                assert "\n" not in line

    @pytest.mark.clause("Div-1", "Div-6", "equal-shapes-by-default")
    @versions
    @pytest.mark.parametrize("broadcast", [None, 0])
    @pytest.mark.parametrize(("b", "axis", "meaning"), LEGAL)
    def test_every_legal_shape_is_illegal_without_broadcast(
        self, b: Shape, axis: int | None, meaning: Shape, broadcast: int | None, opset: int, dtype: str
    ) -> None:
        """Lines 13 and 17: broadcasting has to be asked for; disabled, B is of the same size."""
        dividends, divisors = operands(b, dtype)
        with pytest.raises(BroadcastError, match="must be equal"):
            div(dividends, divisors, opset=opset, broadcast=broadcast, axis=axis)

    @pytest.mark.clause("Div-6", "no-one-dim-expansion")
    @pytest.mark.parametrize("axis", [None, 0])
    def test_a_does_not_stretch_either(self, axis: int | None) -> None:
        """Line 19: the result has the dimensions of A, so a 1 in A meets only a 1 in B."""
        with pytest.raises(BroadcastError):
            div(np.ones((1, 3), "f4"), np.ones((2, 3), "f4"), opset=6, broadcast=1, axis=axis)

    @pytest.mark.clause("Div-1", "Div-6", "negative-axis-undefined")
    @pytest.mark.parametrize("opset", [1, 6])
    @pytest.mark.parametrize("broadcast", [None, 0, 1])
    @pytest.mark.parametrize(("b", "axis"), [((5,), -1), ((3, 4), -3), ((), -1), ((2,), -4), (A, -4)])
    def test_negative_axis(self, b: Shape, axis: int, broadcast: int | None, opset: int) -> None:
        """Line 5 says where the run begins, and nothing of counting from the end: refused even where it is idle."""
        dividends, divisors = operands(b, "float32")
        with pytest.raises(AttributeValueError, match=rf"axis.* {axis}\b.*negative"):
            div(dividends, divisors, opset=opset, broadcast=broadcast, axis=axis)
