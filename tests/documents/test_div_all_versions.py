"""The page on every version of Div: what each version's section adds to the one before it."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest

from vinculum import ElementTypeError, Operator, div
from vinculum.spec.onnx_div import DIV_1

broadcasting = pytest.mark.parametrize("opset", [7, 13, 14])
with_integers = pytest.mark.parametrize("opset", [6, 7, 13, 14])


class TestTypes:
    """Lines 45, 89, 133, 193, 257: the types that T allows; lines 41, 85, 129, 189, 253: C has the operands' type."""

    @pytest.mark.clause("Div-14", "narrow-integers")
    def test_version_14_adds_the_narrow_integers(self) -> None:
        """Line 25: what operator set 14 changed; uint8 12/23 is 0."""
        for name in ("uint8", "int8", "uint16", "int16"):
            assert div(np.array([12, 101], name), np.array([23, 10], name), opset=14).tolist() == [0, 10]
            with pytest.raises(ElementTypeError, match=r"Div-14 is the first that does \(opset=14\)"):
                div(np.ones(1, name), np.ones(1, name), opset=13)

    @pytest.mark.clause("Div-13", "Div-14", "bfloat16")
    @pytest.mark.parametrize("opset", [13, 14])
    def test_version_13_adds_bfloat16(self, opset: int) -> None:
        """Line 89 lists it first; 1/3 is 0x3EAB, rounded once from the exact quotient."""
        quotient = div(np.ones(1, ml_dtypes.bfloat16), np.full(1, 3, ml_dtypes.bfloat16), opset=opset)
        assert quotient.view(np.uint16).tolist() == [0x3EAB]
        with pytest.raises(ElementTypeError, match=r"Div-13 is the first that does \(opset=13\)"):
            div(np.ones(1, ml_dtypes.bfloat16), np.ones(1, ml_dtypes.bfloat16), opset=12)


class TestBroadcasting:
    """Lines 23, 69 and 113: from version 7 on, the operands are broadcast as NumPy does it."""

    @pytest.mark.clause("Div-7", "Div-13", "Div-14", "multidirectional-broadcasting")
    @broadcasting
    @pytest.mark.parametrize(
        ("a", "b"),
        [((2, 3), (2, 1)), ((3,), (2, 3)), ((2, 1, 4), (3, 1)), ((), (2, 2)), ((1, 0), (5, 1)), ((1,), (7,))],
    )
    def test_both_operands_stretch(self, a: tuple[int, ...], b: tuple[int, ...], opset: int) -> None:
        x = (20 + np.arange(np.prod(a, dtype=int))).reshape(a).astype("i4")
        y = (1 + np.arange(np.prod(b, dtype=int))).reshape(b).astype("i4")
        np.testing.assert_array_equal(div(x, y, opset=opset), x // y, strict=True)


class TestIntegers:
    """Integer division truncates in every version that has integers, and the silences are the same in all of them."""

    @pytest.mark.clause("Div-6", "Div-7", "Div-13", "Div-14", "truncating-division")
    @with_integers
    def test_truncating_division(self, opset: int) -> None:
        for name in ("int32", "int64"):
            a, b = np.array([-11, 11, -11, 11, 0, -1], name), np.array([3, -3, -3, 3, -7, 2], name)
            assert div(a, b, opset=opset).tolist() == [-3, -3, 3, 3, 0, 0]


class TestVersion1:
    """Lines 197 to 259: floats only, broadcasting on request, a hint, and no promise of shape inference."""

    @pytest.mark.clause("Div-1", "consumed-inputs-hint")
    @pytest.mark.parametrize("hint", [[0, 0], (1, 0), [], [5]])
    def test_consumed_inputs_changes_nothing(self, hint: list[int]) -> None:
        """Line 235."""
        assert div(np.array([1], "float32"), np.array([3], "float32"), opset=1, consumed_inputs=hint) == np.float32(
            1
        ) / np.float32(3)

    @pytest.mark.clause("Div-1", "shape-inference-not-promised")
    def test_inference_is_ours(self) -> None:
        """Line 211: the document promises none; ours gives A's shape and type (line 253)."""
        assert not DIV_1.shape_inference
        element_type, shape = Operator("Div", opset=1, broadcast=1).infer(["float", "float"], [("N", 3), (3,)])
        assert (str(element_type), shape) == ("float", ("N", 3))
