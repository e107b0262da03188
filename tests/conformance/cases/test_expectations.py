"""What the specification expects, computed by hand."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from vinculum.conformance.cases import expectations
from vinculum.conformance.cases.case import Expectation
from vinculum.conformance.cases.expectations import exact
from vinculum.spec.element_types import DOUBLE, FLOAT, FLOAT8E4M3FN, INT8, INT32, REAL, UINT8, ElementType
from vinculum.spec.model import OperatorSpec
from vinculum.spec.onnx_div import DIV_6, DIV_14
from vinculum.spec.onnx_reciprocal import RECIPROCAL_13
from vinculum.spec.openvino_divide import DIVIDE_1
from vinculum.spec.sonnx_div import DIV_FLOAT, DIV_INT, DIV_REAL

UNSPECIFIED_ROWS = [DIV_6, DIV_14, DIVIDE_1]


def array(dtype: str, numbers: Any) -> NDArray[Any]:
    """Return an array of a NumPy type."""
    return np.array(numbers, dtype)


def expectation(
    spec: OperatorSpec, t: ElementType, attributes: dict[str, bool], operands: tuple[NDArray[Any], ...]
) -> Expectation:
    """Return what a version expects of operands."""
    return expectations.expectation(spec, t, attributes, lambda rounding: exact(t, rounding, operands))


def quotient(expected: Expectation) -> NDArray[Any]:
    """Return the quotient of what is wholly decided."""
    assert expected.quotient is not None
    assert expected.unspecified is None
    return expected.quotient


class TestIntegers:
    """They are truncated or floored, and open where the standard leaves it unspecified."""

    def test_rounding(self) -> None:
        operands = array("int32", [-11, 11, 12]), array("int32", [3, -3, 3])
        assert quotient(expectation(DIV_14, INT32, {}, operands)).tolist() == [-3, -3, 4]
        assert quotient(expectation(DIVIDE_1, INT32, {}, operands)).tolist() == [-4, -4, 4]
        truncated = expectation(DIVIDE_1, INT32, {"m_pythondiv": False}, operands)
        assert quotient(truncated).tolist() == [-3, -3, 4]

    def test_the_documents_examples(self) -> None:
        assert quotient(expectation(DIV_14, UINT8, {}, (array("uint8", [12]), array("uint8", [23])))).tolist() == [0]
        assert quotient(expectation(DIV_INT, INT32, {}, (array("int32", [-35]), array("int32", [3])))).tolist() == [-11]

    @pytest.mark.parametrize("row", UNSPECIFIED_ROWS, ids=lambda row: row.title)
    def test_zero_divisors_are_open_and_their_neighbours_are_not(self, row: OperatorSpec) -> None:
        expected = expectation(row, INT32, {}, (array("int32", [7, 0, 7]), array("int32", [0, 0, 2])))
        assert expected.unspecified is not None
        assert expected.quotient is not None
        assert expected.unspecified.tolist() == [True, True, False]
        assert expected.quotient[2] == 3

    @pytest.mark.parametrize("row", UNSPECIFIED_ROWS, ids=lambda row: row.title)
    def test_the_smallest_by_minus_one_is_open(self, row: OperatorSpec) -> None:
        expected = expectation(row, INT8, {}, (array("int8", [-128, -128, 127]), array("int8", [-1, 1, -1])))
        assert expected.unspecified is not None
        assert expected.quotient is not None
        assert expected.unspecified.tolist() == [True, False, False]
        assert expected.quotient[1:].tolist() == [-128, -127]

    def test_sonnx_refuses_both(self) -> None:
        assert expectation(DIV_INT, INT8, {}, (array("int8", [7, 8]), array("int8", [0, 2]))).quotient is None
        assert expectation(DIV_INT, INT8, {}, (array("int8", [-128]), array("int8", [-1]))).quotient is None

    def test_nothing_is_open_in_an_empty_result(self) -> None:
        assert quotient(expectation(DIV_14, INT32, {}, (np.empty(0, np.int32), array("int32", [0])))).shape == (0,)


class TestFloats:
    """They follow IEEE 754 in every standard, by zero too."""

    @pytest.mark.parametrize("row", [DIV_14, DIVIDE_1, DIV_FLOAT], ids=lambda row: row.title)
    def test_zero_divisors(self, row: OperatorSpec) -> None:
        actual = quotient(expectation(row, FLOAT, {}, (array("float32", [1, -1, 0]), array("float32", [0, 0, 0]))))
        assert actual[:2].tolist() == [np.inf, -np.inf]
        assert np.isnan(actual[2])

    def test_a_type_without_infinity_gives_nan(self) -> None:
        one, zero = (np.array([n]).astype(FLOAT8E4M3FN.numpy) for n in (1.0, 0.0))
        assert np.isnan(quotient(expectation(DIVIDE_1, FLOAT8E4M3FN, {}, (one, zero)))).all()

    def test_zero_by_a_subnormal_is_zero(self) -> None:
        actual = quotient(
            expectation(DIV_14, FLOAT, {}, (array("float32", [0, -0.0]), array("float32", [1e-40, 1e-40])))
        )
        assert actual.tolist() == [0, 0]
        assert np.signbit(actual).tolist() == [False, True]

    def test_reciprocals(self) -> None:
        actual = quotient(expectation(RECIPROCAL_13, DOUBLE, {}, (np.array([4.0, -0.0]),)))
        assert actual.tolist() == [0.25, -np.inf]

    def test_scalars_are_repeated(self) -> None:
        actual = quotient(expectation(DIV_14, FLOAT, {}, (array("float32", [[1, 2], [3, 4]]), array("float32", 2))))
        assert actual.tolist() == [[0.5, 1], [1.5, 2]]


class TestReals:
    """They are exact, and a zero divisor is refused."""

    def test_the_quotient(self) -> None:
        operands = np.array([Fraction(1, 3)], object), np.array([Fraction(2, 5)], object)
        assert quotient(expectation(DIV_REAL, REAL, {}, operands)).tolist() == [Fraction(5, 6)]

    def test_zero(self) -> None:
        operands = np.array([Fraction(1), Fraction(1)], object), np.array([Fraction(2), Fraction(0)], object)
        assert expectation(DIV_REAL, REAL, {}, operands).quotient is None
