"""The page on OpenVINO Divide-1: its two examples, its attributes, its types, and what it leaves undefined."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest

from vinculum import AttributeValueError, BroadcastError, divide
from vinculum.spec.attributes import checked_attributes
from vinculum.spec.element_types import ELEMENT_TYPES, ElementType, Kind
from vinculum.spec.openvino_divide import DIVIDE_1
from vinculum.tensors.storage import dtype_of

Shape = tuple[int, ...]
A = (2, 3, 4, 5)


def counting(shape: Shape, start: int, dtype: str = "int32") -> np.ndarray[Any, Any]:
    """Return an array whose elements are start, start + 1 and so on."""
    return (start + np.arange(np.prod(shape, dtype=int))).reshape(shape).astype(dtype)


class TestExamples:
    """Lines 40 to 85, the two layers in XML."""

    @pytest.mark.clause("Divide-1", "auto-broadcast-none", "floor-division")
    def test_example_1(self) -> None:
        """Lines 41 to 60: auto_broadcast none, m_pythondiv true, two ports of 256 by 56."""
        a, b = counting((256, 56), -7000), counting((256, 56), 3)
        quotients = divide(a, b, auto_broadcast="none", m_pythondiv=True)
        assert quotients.shape == (256, 56)
        np.testing.assert_array_equal(quotients, np.floor_divide(a, b))

    @pytest.mark.clause("Divide-1", "auto-broadcast-numpy", "regular-division")
    def test_example_2(self) -> None:
        """Lines 61 to 85: auto_broadcast numpy, m_pythondiv false, (8, 1, 6, 1) by (7, 1, 5) into (8, 7, 6, 5)."""
        a, b = counting((8, 1, 6, 1), -24), counting((7, 1, 5), 2)
        quotients = divide(a, b, auto_broadcast="numpy", m_pythondiv=False)
        assert quotients.shape == (8, 7, 6, 5)
        np.testing.assert_array_equal(quotients, np.trunc(a / b))
        assert (quotients != np.floor_divide(a, b)).any()


class TestPythondiv:
    """Lines 15 to 22: floor division for integers if true, which is the default; no effect on floats."""

    @pytest.mark.clause("Divide-1", "floor-division", "regular-division")
    @pytest.mark.parametrize("name", ["int8", "int16", "int32", "int64"])
    def test_integers(self, name: str) -> None:
        """Lines 18, 19 and 21."""
        a, b = np.array([-11, 11, -11, 12, -1, 0], name), np.array([3, -3, -3, 3, 100, -5], name)
        assert divide(a, b).tolist() == divide(a, b, m_pythondiv=True).tolist() == [-4, -4, 3, 4, -1, 0]
        assert divide(a, b, m_pythondiv=False).tolist() == [-3, -3, 3, 4, 0, 0]

    @pytest.mark.clause("Divide-1", "floats-ignore-pythondiv")
    @pytest.mark.parametrize("element_type", [t for t in ELEMENT_TYPES if t.kind is Kind.FLOAT], ids=str)
    def test_floats(self, element_type: ElementType) -> None:
        """Line 16: the attribute is supported for integers only."""
        a, b = (np.array(v).astype(dtype_of(element_type)) for v in ([-7.0, 7, 1], [2.0, 2, 3]))
        floor, regular = divide(a, b, m_pythondiv=True), divide(a, b, m_pythondiv=False)
        assert floor.tobytes() == regular.tobytes()
        assert floor[:2].astype(float).tolist() == [-3.5, 3.5]

    @pytest.mark.clause("Divide-1", "pythondiv-spelling")
    @pytest.mark.parametrize("spelling", ["pythondiv", "m_pythondiv"])
    def test_both_spellings(self, spelling: str) -> None:
        """Line 15 writes pythondiv, the layers of lines 43 and 63 m_pythondiv: both are read as the latter."""
        assert checked_attributes(DIVIDE_1, {spelling: False}) == {"m_pythondiv": False}


class TestAutoBroadcast:
    """Lines 24 to 32: none, numpy (the default) and pdpd."""

    @pytest.mark.clause("Divide-1", "auto-broadcast-none")
    @pytest.mark.parametrize("b", [(), (1,), (5,), (1, 5), (4, 1), (5, 4), (1, 4, 5)])
    def test_none_demands_equal_shapes(self, b: Shape) -> None:
        """Line 27: all shapes must match."""
        with pytest.raises(BroadcastError, match=r"\(4, 5\).*must be equal"):
            divide(counting((4, 5), 1), counting(b, 1), auto_broadcast="none")

    @pytest.mark.clause("Divide-1", "auto-broadcast-numpy")
    def test_numpy_is_the_default(self) -> None:
        """Lines 28 and 31."""
        a, b = counting((2, 1), 20), counting((3,), 1)
        np.testing.assert_array_equal(divide(a, b), a // b)
        with pytest.raises(BroadcastError):
            divide(counting((2,), 1), counting((3,), 1))

    @pytest.mark.clause("Divide-1", "auto-broadcast-pdpd", "pdpd-axis")
    @pytest.mark.parametrize(
        ("b", "axis", "meaning"),
        [
            ((3, 4), 1, (1, 3, 4, 1)),
            ((3, 1), 1, (1, 3, 1, 1)),
            ((4, 5), -1, (1, 1, 4, 5)),
            ((4, 5), 2, (1, 1, 4, 5)),
            ((5,), -1, (1, 1, 1, 5)),
            ((5,), 3, (1, 1, 1, 5)),
            ((1, 3), 0, (1, 3, 1, 1)),
            ((2, 3, 4, 5), -1, (2, 3, 4, 5)),
            ((2, 3, 1, 1), 0, (2, 3, 1, 1)),
            ((1, 1, 1, 5), -1, (1, 1, 1, 5)),
            ((4, 1), -1, (1, 1, 4, 1)),
            ((3, 1, 1, 1, 1), 1, (1, 3, 1, 1)),
            ((), -1, (1, 1, 1, 1)),
            ((), 2, (1, 1, 1, 1)),
            ((1,), -1, (1, 1, 1, 1)),
            ((1, 1, 1), 1, (1, 1, 1, 1)),
        ],
    )
    def test_pdpd(self, b: Shape, axis: int, meaning: Shape) -> None:
        """Line 29, and the page on broadcasting that it points to, as our readings settle it."""
        dividends, divisors = counting(A, 500), counting(b, 2)
        quotients = divide(dividends, divisors, auto_broadcast="pdpd", axis=axis)
        np.testing.assert_array_equal(quotients, dividends // divisors.reshape(meaning), strict=True)

    @pytest.mark.clause("Divide-1", "auto-broadcast-pdpd", "pdpd-axis")
    @pytest.mark.parametrize(
        ("a", "b", "axis"),
        [
            ((8, 1, 6, 1), (7, 1, 5), 1),
            (A, (3, 4), -1),
            (A, (3, 4), 0),
            (A, (3, 4), 2),
            (A, (3, 1), -1),
            (A, A, 1),
            (A, (4, 5), 3),
            (A, (5,), 4),
            (A, (5,), 0),
            (A, (1, 3), -1),
            (A, (2, 2, 3, 4, 5), -1),
            (A, (1, 2, 3, 4, 5), -1),
            (A, (1, 2, 3, 4, 5), 0),
            ((1, 3), (2, 3), -1),
            ((3,), (3, 1), -1),
        ],
    )
    def test_pdpd_refuses(self, a: Shape, b: Shape, axis: int) -> None:
        """Line 29: b goes onto a and never a onto b; with axis -1 b's rank counts before its last ones are dropped."""
        with pytest.raises(BroadcastError) as refusal:
            divide(counting(a, 1), counting(b, 1), auto_broadcast="pdpd", axis=axis)
        assert str(a) in str(refusal.value)
        assert str(b) in str(refusal.value)

    @pytest.mark.clause("Divide-1", "pdpd-axis")
    @pytest.mark.parametrize("axis", [-2, -4, -(10**9)])
    @pytest.mark.parametrize("b", [A, (5,), ()])
    def test_other_negative_axes(self, b: Shape, axis: int) -> None:
        """The page has no axis; of ours -1 alone is negative."""
        with pytest.raises(AttributeValueError, match=rf"axis.* {axis}\b"):
            divide(counting(A, 1), counting(b, 1), auto_broadcast="pdpd", axis=axis)


@pytest.mark.clause("Divide-1", "f8e4m3-without-infinity")
def test_f8e4m3_has_no_infinity() -> None:
    """Its largest number is 448: what is beyond, and x/0, is NaN, its one special value; nothing is saturated."""
    a, b = (np.array(v).astype(ml_dtypes.float8_e4m3fn) for v in ([1, -1, 448, 448, -448], [0, 0, 0.5, 1, 0.5]))
    quotients = divide(a, b).astype(float)
    assert np.isnan(quotients[[0, 1, 2, 4]]).all()
    assert quotients[3] == 448
