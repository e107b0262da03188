"""What the evaluator itself gets wrong: casts, indices out of bounds, sizes that no memory holds, odd shapes."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest
from numpy.typing import NDArray
from onnx import TensorProto, helper

from tests.models.built_models import build, one_line, text_model
from vinculum.errors import ModelError
from vinculum.models import load
from vinculum.models.engines.reference.element_conversion import convert
from vinculum.models.engines.reference.repairs import check_result_size
from vinculum.models.execution import LimitError, limited
from vinculum.spec import element_types as t
from vinculum.spec.element_types import ElementType


def _cast(array: NDArray[Any], to: int | str, opset: int = 21, **attributes: Any) -> NDArray[Any]:
    source = helper.np_dtype_to_tensor_dtype(array.dtype)
    code = TensorProto.DataType.Value(to) if isinstance(to, str) else to
    node = helper.make_node("Cast", ["x"], ["y"], to=to, **attributes)
    shape = [None] * array.ndim
    return load(build([node], {"x": (source, shape)}, {"y": (code, shape)}, opset=opset)).run({"x": array})["y"]


class TestCast:
    """Rounded once, saturating where the standard is silent, ONNX's own in everything else."""

    @pytest.mark.parametrize("target", [t.INT8, t.INT4, t.UINT64, t.BFLOAT16, t.FLOAT16, t.FLOAT])
    def test_as_in_element_conversion(self, target: ElementType) -> None:
        # Just above the middle of 1 and the next bfloat16: rounded to binary32 first, it is the middle.
        floats = [1e30, -1e30, np.inf, -np.inf, np.nan, 3.99, -3.99, 1 + 2.0**-8 + 2.0**-40, 2.0**-1074]
        arrays = [np.array(floats), np.array([200, -129, 128], np.int16), np.array([True, False])]
        for array in arrays[target is t.INT4 :]:  # ONNX's own tests expect that floats lose their high bits there.
            assert _cast(array, target.onnx_code or 0).tobytes() == convert(array, target).tobytes()

    def test_boolean(self) -> None:
        array = np.array([0.0, -0.0, np.nan, 0.5], np.float32)
        assert _cast(array, TensorProto.BOOL).tolist() == [False, False, True, True]

    def test_named_types_before_operator_set_6(self) -> None:
        assert _cast(np.array([300.0, -1.5], np.float32), "INT8", opset=1).tolist() == [127, -1]

    @pytest.mark.parametrize(("target", "largest"), [(t.FLOAT8E4M3FN, 448.0), (t.FLOAT8E5M2, 57344.0)])
    def test_types_of_8_bits_saturate_unless_told_not_to(self, target: ElementType, largest: float) -> None:
        array, code = np.array([1e6, -np.inf], np.float32), target.onnx_code or 0
        assert _cast(array, code).astype(np.float32).tolist() == [largest, -largest]
        result = _cast(array, code, saturate=0)
        assert result.tobytes() == convert(array, target).tobytes()
        assert not np.isfinite(result.astype(np.float32)).any()

    def test_types_that_do_not_divide(self) -> None:
        narrow = _cast(np.array([1.0, 2.0], np.float32), TensorProto.FLOAT8E4M3FNUZ)
        assert narrow.dtype == np.dtype(ml_dtypes.float8_e4m3fnuz)
        for other in (narrow, np.array(["1.0", "2.0"], object)):
            assert _cast(other, TensorProto.FLOAT).tolist() == [1, 2]


def gathered(indices: Any, axis: int = 0) -> NDArray[Any]:
    """Return elements of the numbers from 0 to 199 in rows of 4."""
    nodes = f"[n] y = GatherElements <axis = {axis}> (x, i)"
    data = np.arange(200, dtype=np.float32).reshape(50, 4)
    return load(text_model(nodes, "float[] x, int64[] i", "float[] y")).run({"x": data, "i": np.array(indices, int)})[
        "y"
    ]


class TestGatherElements:
    """Each index counts along the axis, from its end if it is negative; those out of bounds are refused."""

    @pytest.mark.parametrize(
        ("indices", "axis", "found"),
        [
            ([[49, 0, -1, -50]], 0, [[196, 1, 198, 3]]),
            ([[3, 0], [-1, 1]], -1, [[3, 0], [7, 5]]),
            ([[3], [0]], 0, [[12], [0]]),
            (np.empty((0, 4)), 0, []),
        ],
    )
    def test_found(self, indices: Any, axis: int, found: list[Any]) -> None:
        assert gathered(indices, axis).tolist() == found

    @pytest.mark.parametrize(
        ("indices", "axis"),
        [
            *(([[i]], 0) for i in (2**63 - 1, -(2**63), 50, -51)),
            ([[0] * 5], 0),
            ([0], 0),
            (0, 0),
            ([[0]], 2),
            ([[0]], -3),
        ],
    )
    def test_refused(self, indices: Any, axis: int) -> None:
        with one_line(ModelError, "node 'n' (GatherElements) cannot be run: "):
            gathered(indices, axis)


class TestReshape:
    """Sizes from 0 on, and -1 once; NumPy would take any negative size for -1."""

    def reshaped(self, data: NDArray[Any], shape: list[int]) -> tuple[int, ...]:
        """Return the shape of data that a model reshapes."""
        model = load(text_model("[n] y = Reshape(x, shape)", "float[] x, int64[?] shape", "float[] y"))
        return model.run({"x": data, "shape": np.array(shape, np.int64)})["y"].shape

    @pytest.mark.parametrize("shape", [[-2], [-1, -1], [2, -(2**63)]])
    def test_refused(self, shape: list[int]) -> None:
        with one_line(ModelError, "node 'n' (Reshape) cannot be run: its shape operand holds", "-1 once"):
            self.reshaped(np.ones((2, 3), np.float32), shape)

    @pytest.mark.parametrize(("shape", "expected"), [([-1], (6,)), ([3, -1], (3, 2)), ([0, 3, 1], (2, 3, 1))])
    def test_allowed(self, shape: list[int], expected: tuple[int, ...]) -> None:
        assert self.reshaped(np.ones((2, 3), np.float32), shape) == expected
        assert self.reshaped(np.ones(1, np.float32), []) == ()


def _node(operator: str, inputs: str, **attributes: Any) -> Any:
    return helper.make_node(
        operator, ["" if name == "-" else name for name in inputs.split()], ["c"], "n", **attributes
    )


ONES, WIDE = np.ones((2, 2)), np.array(2**50)
X = np.ones((2, 3), np.int16)


class TestSizes:
    """No small operand makes a tensor larger than the machine's memory."""

    @pytest.mark.parametrize(
        ("node", "operands"),
        [
            (_node("ConstantOfShape", "a"), [np.array([2**40, 2**40])]),
            (_node("OneHot", "a b d"), [np.empty(0, np.int64), WIDE, np.array([0, 1], np.int8)]),
            *((_node(f"{window}Window", "a"), [WIDE]) for window in ("Hann", "Blackman", "Hamming")),
        ],
    )
    def test_refused_before_it_is_allocated(self, node: Any, operands: list[Any]) -> None:
        codes = [helper.np_dtype_to_tensor_dtype(array.dtype) for array in operands]
        given = [name for name in node.input if name]
        declared = {name: (code, None) for name, code in zip(given, codes, strict=True)}
        model = load(build([node], declared, {"c": (TensorProto.FLOAT, None)}))
        with one_line(ModelError, "node 'n'", "its result would take"):
            model.run(dict(zip(given, operands, strict=True)))

    @pytest.mark.parametrize(
        ("node", "operands", "size"),
        [
            (_node("ConstantOfShape", "a"), [np.array([2, 3])], 4 * 6),
            (_node("ConstantOfShape", "a", value=helper.make_tensor("v", 3, [1], [0])), [np.array([2, 3])], 6),
            (_node("Expand", "a b"), [X, np.array([5, 2, 3])], 2 * 30),
            (_node("Tile", "a b"), [X, np.array([2, 7])], 2 * 84),
            (_node("Range", "a b d"), [np.array(x, np.int16) for x in (3, 17, 4)], 2 * 4),
            (_node("Pad", "a b"), [X, np.array([1, 0, 2, 4])], 2 * 5 * 7),
            (_node("Pad", "a", pads=[1, 0, 2, 4]), [X], 2 * 5 * 7),
            (_node("Pad", "a b d e"), [X, np.array([1, 4]), np.array(0, np.int16), np.array([-1])], 2 * 2 * 8),
            (_node("OneHot", "a b d"), [np.arange(3), np.array(5), np.zeros(2, np.int32)], 4 * 15),
            (_node("HannWindow", "a"), [np.array(5)], 8 * 5),
            (_node("Upsample", "a b"), [X, np.array([2, 3], np.float32)], 2 * 4 * 9),
            (_node("Resize", "a - b"), [X, None, np.array([2, 3], np.float32)], 2 * 4 * 9),
            (_node("Resize", "a - - b"), [X, None, None, np.array([5, 7])], 2 * 35),
            (_node("Resize", "a - - b", axes=[1]), [X, None, None, np.array([7])], 2 * 14),
            # What looks large, and is not.
            (_node("ConstantOfShape", "a"), [np.array([], np.int64)], 4),
            (_node("Tile", "a b"), [np.ones(2), np.array([0])], 0),
            (_node("Range", "a b d"), [np.array(5.0), np.array(1.0), np.array(0.5)], 0),
            (_node("Range", "a b d"), [np.array(5), np.array(1), np.array(0)], 0),
            (_node("Range", "a b d"), [np.array(5.0), np.array(np.inf), np.array(1.0)], 0),
            (_node("Pad", "a b"), [ONES, np.array([-(2**50), 0, 0, 0])], 8 * 4),
            (_node("OneHot", "a b d"), [np.array([1]), np.array([-(2**50)]), np.array([0, 1])], 0),
            (_node("Resize", "a b d"), [np.ones((1, 2)), None, np.array([np.nan, 1], np.float32)], 0),
        ],
    )
    def test_to_the_byte(self, node: Any, operands: list[Any], size: int) -> None:
        with limited(60.0, size):
            check_result_size(node, operands)
        with limited(60.0, size - 1), pytest.raises(LimitError, match=f" {size} bytes"):
            check_result_size(node, operands)

    def test_operators_of_others(self) -> None:
        check_result_size(_node("ConstantOfShape", "a", domain="custom"), [np.array([2**30, 2**30])])
