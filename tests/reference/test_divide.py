"""Division of arrays by the reference keeps their element types and shapes."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from tests.cases import case
from vinculum.errors import BroadcastError, ElementTypeError
from vinculum.reference import divide, elements, reciprocal
from vinculum.spec.element_types import (
    ELEMENT_TYPES,
    FLOAT,
    INT4,
    INT32,
    REAL,
    UINT4,
    ElementType,
)


def reals(*values: Fraction | int | str) -> np.ndarray[Any, Any]:
    """Return an object array of Fractions."""
    return np.array([Fraction(v) for v in values], dtype=object)


class TestElementTypes:
    """SONNX [C2], [GR2], [GR3] and ONNX's T: operands and quotient have one type; nothing is converted."""

    @pytest.mark.parametrize("element_type", ELEMENT_TYPES, ids=str)
    def test_every_shape_is_kept(self, element_type: ElementType) -> None:
        for shape in ((), (0,), (2, 0, 3), (1, 1)):
            with case(shape):
                ones = np.ones(shape, dtype=np.int8).astype(element_type.numpy)
                quotient = divide(ones, ones, element_type)
                assert quotient.shape == shape
                assert quotient.dtype == ones.dtype

    def test_a_real_may_be_any_exact_rational_but_no_float(self) -> None:
        mixed = np.array([1, np.int64(3), Fraction(1, 2)], dtype=object)
        assert divide(mixed, mixed, REAL).tolist() == [1, 1, 1]
        assert all(type(v) is Fraction for v in elements(mixed, REAL))
        with pytest.raises(ElementTypeError, match=r"^0\.5 is a float; a real is given exactly"):
            divide(np.array([0.5], dtype=object), reals(1), REAL)

    @pytest.mark.parametrize("dtype", [np.dtype("int32"), np.dtype("float64"), np.dtype("float32").newbyteorder()])
    def test_another_dtype_is_refused(self, dtype: np.dtype[Any]) -> None:
        good, bad = np.ones(2, dtype=np.float32), np.ones(2, dtype=dtype)
        for a, b in ((good, bad), (bad, good)):
            with pytest.raises(ElementTypeError, match=r"^the array's dtype is .*; float needs float32$"):
                divide(a, b, FLOAT)

    def test_the_upper_half_of_a_four_bit_element_is_ignored(self) -> None:
        dirty = np.array([0xF8, 0x17], dtype=np.uint8)
        assert elements(dirty.view(INT4.numpy), INT4) == [-8, 7]
        assert elements(dirty.view(UINT4.numpy), UINT4) == [8, 7]


class TestShapes:
    """SONNX [C1]: equal shapes; operands are read through whatever strides they have."""

    def test_unequal_shapes_are_refused(self) -> None:
        with pytest.raises(BroadcastError, match=r"^the shapes are \(2,\) and \(1,\); "):
            divide(np.ones(2, dtype=np.int32), np.ones(1, dtype=np.int32), INT32)

    def test_views_are_read_in_index_order(self) -> None:
        base = np.arange(1, 25, dtype=np.float32).reshape(4, 6)
        a, b = base[::-1, ::2], np.asfortranarray(base)[:, 1::2]
        assert np.array_equal(divide(a, b, FLOAT), a / b)
        stretched = np.broadcast_to(np.float32(2), (4, 3))
        assert np.array_equal(divide(a, stretched, FLOAT), a / 2)


class TestReciprocal:
    """ONNX Reciprocal: y = 1 / x, elementwise."""

    def test_floats_and_reals(self) -> None:
        assert reciprocal(np.array([4, -0.0, np.inf], np.float32), FLOAT).tolist() == [0.25, -np.inf, 0]
        assert reciprocal(reals("2/3", -4), REAL).tolist() == [Fraction(3, 2), Fraction(-1, 4)]

    def test_integers_are_refused(self) -> None:
        with pytest.raises(ElementTypeError, match=r"^Reciprocal of int32; allowed: floating-point types"):
            reciprocal(np.ones(1, dtype=np.int32), INT32)
