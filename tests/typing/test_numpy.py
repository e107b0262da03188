"""What type checkers must accept and refuse of NumPy's arrays and of models, and that it is what happens.

`make types` reads this file with mypy, `make runtimes` with pyright too. A line that must be refused says so by ``type:
ignore``, which is itself an error where nothing is to be ignored.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any, assert_type

import numpy as np
import onnx
import pytest
from numpy.typing import NDArray

import vinculum
from vinculum import Operator, div, divide, divmod, floor_divide, reciprocal, remainder, sonnx

INT32: NDArray[np.int32] = np.array([7, -7], np.int32)
INT64: NDArray[np.int64] = np.array([2, 2], np.int64)
UINT8: NDArray[np.uint8] = np.array([7, 9], np.uint8)
FLOAT32: NDArray[np.float32] = np.array([1, 2], np.float32)
FLOAT64: NDArray[np.float64] = np.array([1, 2], np.float64)
TEXT: NDArray[np.str_] = np.array(["7"])
ANY: NDArray[Any] = INT32
MASK: NDArray[np.bool] = np.array([True, False])


def has(quotients: object, dtype: type[np.generic]) -> None:
    """Check that an array has the element type that checkers give it."""
    assert isinstance(quotients, np.ndarray)
    assert quotients.dtype == dtype


def refused(call: Callable[[], object], error: type[Exception] = vinculum.ElementTypeError) -> None:
    """Check that what checkers refuse is an error."""
    with pytest.raises(error):
        call()


class TestAccepted:
    """The element type is kept."""

    def test_div(self) -> None:
        has(assert_type(div(INT32, INT32), NDArray[np.int32]), np.int32)
        has(assert_type(div(UINT8, UINT8, opset=14, zero_divisor="zero"), NDArray[np.uint8]), np.uint8)
        has(assert_type(div(FLOAT32, FLOAT32), NDArray[np.float32]), np.float32)
        has(assert_type(div(a=FLOAT64, b=FLOAT64), NDArray[np.float64]), np.float64)
        has(assert_type(div(np.int32(7), np.int32(2)), NDArray[np.int32]), np.int32)
        has(assert_type(div(np.float64(7), FLOAT64), NDArray[np.float64]), np.float64)
        has(assert_type(div(ANY, ANY), NDArray[Any]), np.int32)

    def test_a_python_number_beside_an_array(self) -> None:
        has(assert_type(div(INT32, 2), NDArray[np.int32]), np.int32)
        has(assert_type(div(7, INT32), NDArray[np.int32]), np.int32)
        has(assert_type(div(FLOAT32, 2), NDArray[np.float32]), np.float32)
        has(assert_type(div(0.5, FLOAT32), NDArray[np.float32]), np.float32)
        has(assert_type(div(ANY, 2), NDArray[Any]), np.int32)

    def test_out_and_where(self) -> None:
        out = np.zeros(2, np.int32)
        has(assert_type(div(INT32, INT32, out=out), NDArray[np.int32]), np.int32)
        has(assert_type(div(INT32, 2, out=out, where=MASK), NDArray[np.int32]), np.int32)
        has(assert_type(reciprocal(FLOAT32, out=FLOAT32.copy(), where=MASK), NDArray[np.float32]), np.float32)

    def test_the_others(self) -> None:
        has(assert_type(divide(INT32, 2, m_pythondiv=False), NDArray[np.int32]), np.int32)
        has(assert_type(reciprocal(FLOAT32), NDArray[np.float32]), np.float32)
        has(assert_type(floor_divide(FLOAT64, 2.0), NDArray[np.float64]), np.float64)
        has(assert_type(remainder(7, INT64, zero_divisor="zero"), NDArray[np.int64]), np.int64)
        for result in assert_type(divmod(UINT8, 2), tuple[NDArray[np.uint8], NDArray[np.uint8]]):
            has(result, np.uint8)

    def test_sonnx(self) -> None:
        reals: NDArray[np.object_] = np.array([Fraction(1, 3)])
        has(assert_type(sonnx.div(FLOAT32, FLOAT32), NDArray[np.float32]), np.float32)
        has(assert_type(sonnx.div(reals, reals), NDArray[np.object_]), np.object_)

    def test_an_operator(self) -> None:
        out = np.zeros(2, np.int32)
        has(assert_type(Operator("Div")(INT32, INT32, out), NDArray[np.int32]), np.int32)
        has(assert_type(Operator("Div")(FLOAT32, 2.5), NDArray[np.float32]), np.float32)
        has(assert_type(Operator("Reciprocal")(FLOAT64), NDArray[np.float64]), np.float64)


def test_a_converted_model_is_one_of_its_format() -> None:
    model = Path(__file__).parents[2] / "examples" / "openvino_rounding" / "div.onnx"
    assert isinstance(assert_type(vinculum.convert(model, opset=13).model, onnx.ModelProto), onnx.ModelProto)


class TestRefused:
    """By checkers, and in one line."""

    def test_mixed_types(self) -> None:
        refused(lambda: div(INT32, INT64))  # type: ignore[type-var]
        refused(lambda: div(INT32, FLOAT32))  # type: ignore[type-var]
        refused(lambda: divide(FLOAT32, FLOAT64))  # type: ignore[type-var]
        refused(lambda: floor_divide(np.int32(7), INT64))  # type: ignore[type-var]
        refused(lambda: remainder(INT64, UINT8))  # type: ignore[type-var]
        refused(lambda: sonnx.div(INT32, INT64), vinculum.ConstraintError)  # type: ignore[type-var]
        refused(lambda: Operator("Div")(INT32, FLOAT32))  # type: ignore[type-var]
        refused(lambda: div(INT32, INT32, out=FLOAT32))  # type: ignore[type-var]

    def test_lists_strings_and_numbers_alone(self) -> None:
        refused(lambda: div([7], [2]))  # type: ignore[call-overload]
        refused(lambda: div(INT32, [2]))  # type: ignore[call-overload]
        refused(lambda: div("7", "2"))  # type: ignore[call-overload]
        refused(lambda: div(TEXT, TEXT))  # type: ignore[type-var]
        refused(lambda: div(7, 2))  # type: ignore[call-overload]
        refused(lambda: divmod(7.0, 2))  # type: ignore[call-overload]
        refused(lambda: reciprocal(2.0))  # type: ignore[call-overload]
        refused(lambda: Operator("Div")([7], [2]))  # type: ignore[call-overload]

    def test_numbers_that_the_type_does_not_hold(self) -> None:
        refused(lambda: div(INT32, 2.5))  # type: ignore[type-var]
        refused(lambda: sonnx.div(INT32, 2), vinculum.ConstraintError)  # type: ignore[call-overload]

    def test_an_element_type_that_the_operator_does_not_take(self) -> None:
        refused(lambda: reciprocal(INT32))  # type: ignore[type-var]
        refused(lambda: div(MASK, MASK))  # type: ignore[type-var]

    def test_options(self) -> None:
        refused(lambda: div(INT32, 2, zero_divisor="nought"), vinculum.AttributeValueError)  # type: ignore[call-overload]
        refused(lambda: divide(INT32, 2, opset=14), TypeError)  # type: ignore[call-overload]
        refused(lambda: div(INT32, INT32, INT32), TypeError)  # type: ignore[call-overload]
        refused(lambda: div(INT32, None))  # type: ignore[call-overload]
