"""The page on every version of Reciprocal."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest

from tests.cases import case
from vinculum import ElementTypeError, Operator, reciprocal
from vinculum.spec.model import OperatorSpec
from vinculum.spec.onnx_reciprocal import RECIPROCAL_1, RECIPROCAL_6, RECIPROCAL_13

EVERY = (RECIPROCAL_1, RECIPROCAL_6, RECIPROCAL_13)
every_version = pytest.mark.parametrize("row", EVERY, ids=lambda row: row.title)


class TestSummary:
    """Lines 23, 63 and 103: y = 1/x, element by element."""

    @pytest.mark.clause("Reciprocal-*", "element-by-element", "ieee-754")
    @every_version
    @pytest.mark.parametrize("name", ["float16", "float32", "float64"])
    def test_one_over_each_element(self, row: OperatorSpec, name: str) -> None:
        for shape in ((), (0,), (3, 0), (6,), (2, 3), (1, 6, 1)):
            with case(shape):
                x = (3 + np.arange(np.prod(shape, dtype=int))).reshape(shape).astype(name)
                np.testing.assert_array_equal(
                    reciprocal(x, opset=row.since_version), np.array(1, name) / x, strict=True
                )


class TestTypes:
    """Lines 39, 79 and 125: the types that T allows, and lines 29 to 35: X and Y share one."""

    @pytest.mark.clause("Reciprocal-13", "bfloat16")
    def test_version_13_adds_bfloat16(self) -> None:
        """Line 39; 1/3 is 0x3EAB."""
        x = np.full(1, 3, ml_dtypes.bfloat16)
        assert reciprocal(x).view(np.uint16).tolist() == [0x3EAB]
        with pytest.raises(ElementTypeError, match=r"Reciprocal-13 is the first that does \(opset=13\)"):
            reciprocal(x, opset=12)


class TestVersion1:
    """Lines 83 to 127: the hint, and no promise of shape inference."""

    @pytest.mark.clause("Reciprocal-1", "consumed-inputs-hint")
    def test_consumed_inputs_changes_nothing(self) -> None:
        """Line 107."""
        assert reciprocal(np.array([4], "float32"), opset=1, consumed_inputs=[0]).tolist() == [0.25]

    @pytest.mark.clause("Reciprocal-1", "shape-inference-not-promised")
    def test_inference_is_ours(self) -> None:
        """Line 97: the document promises none; ours gives X's shape and type."""
        assert not RECIPROCAL_1.shape_inference
        element_type, shape = Operator("Reciprocal", opset=1).infer(["double"], [("N", None, 3)])
        assert (str(element_type), shape) == ("double", ("N", None, 3))
