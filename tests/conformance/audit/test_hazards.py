"""What the operands of a division are like: counted as they meet, with the first index."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest
from numpy.typing import NDArray

from vinculum.conformance.audit.recomputation import hazards, smallest_divisor
from vinculum.conformance.cases.expectations import without_quotient
from vinculum.spec.element_types import ELEMENT_TYPES, ElementType
from vinculum.tensors.storage import dtype_of

Index = tuple[int, ...]


def met(a: NDArray[Any], b: NDArray[Any], q: NDArray[Any]) -> list[tuple[str, int, Index]]:
    return [(hazard.what, hazard.count, hazard.first) for hazard in hazards(a, b, q)]


class TestShapes:
    """Whatever the shape, also of no element, and of one."""

    @pytest.mark.parametrize("shape", [(0,), (0, 3), ()])
    def test_empty_and_rank_0(self, shape: Index) -> None:
        x = np.ones(shape, np.float32)
        assert met(x, x, x) == []
        assert smallest_divisor(x) == (None if 0 in shape else "1.0")


class TestFloats:
    """IEEE 754's own distinctions: zero, subnormal, overflow, underflow, NaN out of numbers."""

    @pytest.mark.parametrize(
        ("a", "b", "what"),
        [
            (1.0, -0.0, ["divisor zero"]),
            (0.0, 0.0, ["divisor zero", "quotient NaN, no operand"]),
            (np.inf, np.inf, ["quotient NaN, no operand"]),
            (np.nan, 1.0, []),
            (1.0, 1e-40, ["divisor subnormal", "quotient overflows"]),
            (1e-40, 1e-40, ["divisor subnormal"]),
            (1e38, 0.1, ["quotient overflows"]),
            (np.inf, 0.5, []),
            (1e-38, 1e20, ["quotient underflows to zero"]),
            (1e-38, 4.0, ["quotient subnormal"]),
            (0.0, 4.0, []),
            (1.0, np.inf, []),
        ],
    )
    def test_each(self, a: float, b: float, what: list[str]) -> None:
        operands = np.array([a], np.float32), np.array([b], np.float32)
        with np.errstate(all="ignore"):
            quotient = operands[0] / operands[1]
        assert [hazard.what for hazard in hazards(*operands, quotient)] == what

    def test_without_infinities(self) -> None:
        dtype = ml_dtypes.float8_e4m3fn
        a, b, q = (np.array([value], dtype) for value in (448.0, 0.5, np.nan))
        assert [hazard.what for hazard in hazards(a, b, q)] == ["quotient overflows", "quotient NaN, no operand"]

    def test_nothing_is_unspecified(self) -> None:
        zero = np.zeros(2, np.float32)
        assert without_quotient(zero, zero) is None

    @pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64, ml_dtypes.bfloat16])
    def test_smallest_divisor(self, dtype: Any) -> None:
        assert smallest_divisor(np.array([np.nan, np.inf, 0, 3, -0.5, 2], dtype)) == "-0.5"
        assert smallest_divisor(np.array([np.nan, 0], dtype)) is None


class TestIntegers:
    """x/0 and MIN/-1, which the documents leave unspecified, are both found."""

    @pytest.mark.parametrize("element_type", [t for t in ELEMENT_TYPES if t.is_integer and t.minimum], ids=str)
    def test_signed(self, element_type: ElementType) -> None:
        low, dtype = element_type.minimum, dtype_of(element_type)
        a, b = np.array([low, low, 1, low], dtype), np.array([1, -1, 0, -1], dtype)
        assert met(a, b, a) == [("divisor zero", 1, (2,)), ("MIN/-1", 2, (1,))]
        mask = without_quotient(a, b)
        assert mask is not None
        assert mask.tolist() == [False, True, True, True]
        assert smallest_divisor(np.array([0, low, -3, 4], dtype)) == "-3"
        assert smallest_divisor(np.array([0, low], dtype)) == str(low)

    @pytest.mark.parametrize("element_type", [t for t in ELEMENT_TYPES if t.is_integer and not t.minimum], ids=str)
    def test_unsigned(self, element_type: ElementType) -> None:
        largest, dtype = element_type.maximum, dtype_of(element_type)
        a, b = np.array([0, 1], dtype), np.array([largest, 0], dtype)
        assert met(a, b, a) == [("divisor zero", 1, (1,))]
        assert without_quotient(a, b[:1]) is None
        assert smallest_divisor(np.array([0, largest, largest - 1], dtype)) == str(largest - 1)
