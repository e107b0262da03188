"""Operations: the shape that their quotient has, and one pair of operands in all the shapes of many."""

from __future__ import annotations

import ml_dtypes
import numpy as np

from tests.conformance.asking import operation
from vinculum.conformance.cases.operation import quotient_shape, reduced
from vinculum.spec.onnx_div import DIV_6, DIV_14
from vinculum.spec.onnx_reciprocal import RECIPROCAL_13
from vinculum.spec.openvino_divide import DIVIDE_1

A = np.arange(24, dtype=np.float32).reshape(2, 3, 4)


class TestQuotientShape:
    """The joined shape where it is known."""

    def test_by_each_rule(self) -> None:
        assert quotient_shape(operation(DIV_14, A[:, :1], A[0])) == (2, 3, 4)
        assert quotient_shape(operation(DIV_6, A, A[0, :, 0], broadcast=1, axis=1)) == (2, 3, 4)
        assert quotient_shape(operation(DIVIDE_1, A, A[0, :, :1], auto_broadcast="pdpd", axis=1)) == (2, 3, 4)
        assert quotient_shape(operation(RECIPROCAL_13, A)) == (2, 3, 4)

    def test_none_where_the_operation_is_not_legal(self) -> None:
        assert quotient_shape(operation(DIV_14, A, A[:, :2])) is None
        assert quotient_shape(operation(DIV_14, A, A, axis=1)) is None
        assert quotient_shape(operation(DIVIDE_1, A, A, auto_broadcast="sideways")) is None


class TestReduced:
    """Every pair of operands is that of the quotient chosen; shapes, types and placement stay."""

    def test_multidirectional(self) -> None:
        one = reduced(operation(DIV_14, A[:, :1], A[1], constant=(False, True)), (1, 2, 3))
        assert [operand.shape for operand in one.operands] == [(2, 1, 4), (3, 4)]
        assert set(one.operands[0].flat) == {A[1, 0, 3]}
        assert set(one.operands[1].flat) == {A[1, 2, 3]}
        assert one.constant == (False, True)

    def test_from_an_axis(self) -> None:
        for spec, attributes in (
            (DIV_6, {"broadcast": 1, "axis": 1}),
            (DIVIDE_1, {"auto_broadcast": "pdpd", "axis": 1}),
        ):
            one = reduced(operation(spec, A, A[1, :, 0], **attributes), (1, 2, 3))
            assert set(one.operands[0].flat) == {A[1, 2, 3]}
            assert set(one.operands[1].flat) == {A[1, 2, 0]}

    def test_one_operand_of_a_type_that_numpy_lacks(self) -> None:
        x = np.array([1, np.nan, 3]).astype(ml_dtypes.bfloat16)
        one = reduced(operation(RECIPROCAL_13, x), (1,))
        assert one.operands[0].dtype == x.dtype
        assert one.operands[0].tobytes() == x[1:2].tobytes() * 3

    def test_of_a_scalar(self) -> None:
        one = reduced(operation(DIV_14, A[0, 0], np.array(3, np.float32)), (2,))
        assert one.operands[1].shape == ()
        assert one.operands[1] == 3
