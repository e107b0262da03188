"""The pages on every version of Div and of Reciprocal: what each version's section adds to the one before it."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest

from tests.cases import case
from vinculum import ElementTypeError, Operator, div, reciprocal
from vinculum.spec.model import OperatorSpec
from vinculum.spec.onnx_div import DIV_1
from vinculum.spec.onnx_reciprocal import RECIPROCAL_1, RECIPROCAL_6, RECIPROCAL_13


class TestTypes:
    """Lines 45, 89, 133, 193 and 257 of Div, and lines 39, 79 and 125 of Reciprocal: the types that T allows."""

    @pytest.mark.clause("Div-14", "narrow-integers")
    def test_version_14_adds_the_narrow_integers(self) -> None:
        """Line 25: what operator set 14 changed; uint8 12/23 is 0."""
        for name in ("uint8", "int8", "uint16", "int16"):
            assert div(np.array([12, 101], name), np.array([23, 10], name), opset=14).tolist() == [0, 10]
            with pytest.raises(ElementTypeError, match=r"Div-14 is the first that does \(opset=14\)"):
                div(np.ones(1, name), np.ones(1, name), opset=13)

    @pytest.mark.clause("Div-13", "Div-14", "Reciprocal-13", "bfloat16")
    def test_version_13_adds_bfloat16(self) -> None:
        """Line 89 of Div and line 39 of Reciprocal list it first; 1/3 is 0x3EAB, rounded once."""
        for name, operands in (("Div", [1, 3]), ("Reciprocal", [3])):
            arrays = [np.full(1, value, ml_dtypes.bfloat16) for value in operands]
            for opset in (13, 14):
                assert Operator(name, opset=opset)(*arrays).view(np.uint16).tolist() == [0x3EAB]
            with pytest.raises(ElementTypeError, match=rf"{name}-13 is the first that does \(opset=13\)"):
                Operator(name, opset=12)(*arrays)


class TestBroadcasting:
    """Lines 23, 69 and 113 of Div: from version 7 on, the operands are broadcast as NumPy does it."""

    @pytest.mark.clause("Div-7", "Div-13", "Div-14", "multidirectional-broadcasting")
    @pytest.mark.parametrize("opset", [7, 13, 14])
    @pytest.mark.parametrize(
        ("a", "b"),
        [((2, 3), (2, 1)), ((3,), (2, 3)), ((2, 1, 4), (3, 1)), ((), (2, 2)), ((1, 0), (5, 1)), ((1,), (7,))],
    )
    def test_both_operands_stretch(self, a: tuple[int, ...], b: tuple[int, ...], opset: int) -> None:
        x = (20 + np.arange(np.prod(a, dtype=int))).reshape(a).astype("i4")
        y = (1 + np.arange(np.prod(b, dtype=int))).reshape(b).astype("i4")
        np.testing.assert_array_equal(div(x, y, opset=opset), x // y, strict=True)


class TestQuotients:
    """Integers are truncated in every version that has them; a reciprocal is 1/x, element by element."""

    @pytest.mark.clause("Div-6", "Div-7", "Div-13", "Div-14", "truncating-division")
    @pytest.mark.parametrize("opset", [6, 7, 13, 14])
    def test_truncating_division(self, opset: int) -> None:
        for name in ("int32", "int64"):
            a, b = np.array([-11, 11, -11, 11, 0, -1], name), np.array([3, -3, -3, 3, -7, 2], name)
            assert div(a, b, opset=opset).tolist() == [-3, -3, 3, 3, 0, 0]

    @pytest.mark.clause("Reciprocal-*", "element-by-element", "ieee-754")
    @pytest.mark.parametrize("row", [RECIPROCAL_1, RECIPROCAL_6, RECIPROCAL_13], ids=lambda row: row.title)
    @pytest.mark.parametrize("name", ["float16", "float32", "float64"])
    def test_one_over_each_element(self, row: OperatorSpec, name: str) -> None:
        """Lines 23, 63 and 103 of Reciprocal."""
        for shape in ((), (0,), (3, 0), (6,), (2, 3), (1, 6, 1)):
            with case(shape):
                x = (3 + np.arange(np.prod(shape, dtype=int))).reshape(shape).astype(name)
                quotients = reciprocal(x, opset=row.since_version)
                np.testing.assert_array_equal(quotients, np.array(1, name) / x, strict=True)


class TestVersion1:
    """Lines 197 to 259 of Div and lines 83 to 127 of Reciprocal: a hint, and no promise of shape inference."""

    @pytest.mark.clause("Div-1", "Reciprocal-1", "consumed-inputs-hint")
    @pytest.mark.parametrize("hint", [[0, 0], (1, 0), [], [5]])
    def test_consumed_inputs_changes_nothing(self, hint: list[int]) -> None:
        """Line 235 of Div, line 107 of Reciprocal."""
        one, three = np.ones(1, "f4"), np.full(1, 3, "f4")
        assert div(one, three, opset=1, consumed_inputs=hint) == one / three
        assert reciprocal(three, opset=1, consumed_inputs=hint) == one / three

    @pytest.mark.clause("Div-1", "Reciprocal-1", "shape-inference-not-promised")
    def test_inference_is_ours(self) -> None:
        """Line 211 of Div and line 97 of Reciprocal promise none; ours gives A's or X's shape and type."""
        assert [row.shape_inference for row in (DIV_1, RECIPROCAL_1)] == [False, False]
        divided = Operator("Div", opset=1, broadcast=1).infer(["float", "float"], [("N", 3), (3,)])
        inverted = Operator("Reciprocal", opset=1).infer(["double"], [("N", None, 3)])
        assert [(str(kind), shape) for kind, shape in (divided, inverted)] == [
            ("float", ("N", 3)),
            ("double", ("N", None, 3)),
        ]
