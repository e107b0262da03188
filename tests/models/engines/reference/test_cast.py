"""Cast in our evaluator: rounded once, saturating where the standard is silent, ONNX's own in everything else."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from numpy.typing import NDArray
from onnx import TensorProto, helper

from vinculum.models import load
from vinculum.models.engines.reference.element_conversion import convert
from vinculum.spec.element_types import (
    BFLOAT16,
    FLOAT,
    FLOAT8E4M3FN,
    FLOAT8E5M2,
    FLOAT16,
    INT8,
    INT32,
    INT64,
    UINT8,
    UINT64,
    ElementType,
    by_numpy_name,
)


def _cast(
    onnx_file: Callable[..., Path], array: NDArray[Any], to: int | str, opset: int = 21, **attributes: Any
) -> NDArray[Any]:
    source = TensorProto.BOOL if array.dtype == bool else by_numpy_name(array.dtype.name).onnx_code
    code = TensorProto.DataType.Value(to) if isinstance(to, str) else to
    node = helper.make_node("Cast", ["x"], ["y"], to=to, **attributes)
    shape = [None] * array.ndim
    model = load(onnx_file([node], {"x": (source, shape)}, {"y": (code, shape)}, opset=opset))
    return model.run({"x": array})["y"]


class TestDefined:
    """What the standard leaves open is as in the layer Convert; what it settles, too."""

    @pytest.mark.parametrize("target", [INT8, UINT8, INT32, INT64, UINT64])
    def test_floats_beyond_an_integer_type_saturate(self, onnx_file: Callable[..., Path], target: ElementType) -> None:
        array = np.array([1e30, -1e30, np.inf, -np.inf, np.nan, 3.99, -3.99], np.float32)
        expected = [target.maximum, target.minimum] * 2 + [0, 3, max(-3, target.minimum)]
        assert _cast(onnx_file, array, target.onnx_code or 0).tolist() == expected

    def test_integers_keep_their_low_bits(self, onnx_file: Callable[..., Path]) -> None:
        array = np.array([200, -129, 128], np.int16)
        assert _cast(onnx_file, array, TensorProto.INT8).tolist() == [-56, 127, -128]
        assert _cast(onnx_file, array, TensorProto.INT4).tolist() == [-8, -1, 0]

    @pytest.mark.parametrize("target", [BFLOAT16, FLOAT16, FLOAT])
    def test_one_rounding(self, onnx_file: Callable[..., Path], target: ElementType) -> None:
        # Just above the middle of 1 and the next bfloat16: rounded to binary32 first, it is the middle.
        array = np.array([1 + 2.0**-8 + 2.0**-40, 1 + 2.0**-11 + 2.0**-40, 2.0**-1074], np.float64)
        result = _cast(onnx_file, array, target.onnx_code or 0)
        assert result.tobytes() == convert(array, target).tobytes()
        assert result[0] > 1

    def test_boolean(self, onnx_file: Callable[..., Path]) -> None:
        array = np.array([0.0, -0.0, np.nan, 0.5], np.float32)
        assert _cast(onnx_file, array, TensorProto.BOOL).tolist() == [False, False, True, True]
        assert _cast(onnx_file, np.array([True, False]), TensorProto.FLOAT).tolist() == [1.0, 0.0]

    def test_named_types_before_operator_set_6(self, onnx_file: Callable[..., Path]) -> None:
        array = np.array([300.0, -1.5], np.float32)
        assert _cast(onnx_file, array, "INT8", opset=1).tolist() == [127, -1]


class TestLeftToOnnx:
    """Saturating types of 8 bits, floats to 4 bits, strings and types that do not divide are the evaluator's."""

    @pytest.mark.parametrize(("target", "largest"), [(FLOAT8E4M3FN, 448.0), (FLOAT8E5M2, 57344.0)])
    def test_types_of_8_bits_saturate_unless_told_not_to(
        self, onnx_file: Callable[..., Path], target: ElementType, largest: float
    ) -> None:
        array, code = np.array([1e6, -np.inf], np.float32), target.onnx_code or 0
        assert _cast(onnx_file, array, code).astype(np.float32).tolist() == [largest, -largest]
        result = _cast(onnx_file, array, code, saturate=0)
        assert result.tobytes() == convert(array, target).tobytes()
        assert not np.isfinite(result.astype(np.float32)).any()

    def test_a_type_that_does_not_divide(self, onnx_file: Callable[..., Path]) -> None:
        code = TensorProto.FLOAT8E4M3FNUZ
        result = _cast(onnx_file, np.array([1.0, 1e6], np.float32), code)
        assert result.dtype == np.dtype(ml_dtypes.float8_e4m3fnuz)
