"""IR files that OpenVINO itself writes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import pytest

import vinculum
from vinculum.models import load
from vinculum.models.conversion import convert
from vinculum.spec.element_types import BFLOAT16, INT8

openvino = pytest.importorskip("openvino", reason="the extra 'openvino' is not installed")
opset = pytest.importorskip("openvino.opset13", reason="the extra 'openvino' is not installed")
RNG = np.random.default_rng(0)


def _saved(results: list[Any], parameters: list[Any], folder: Path) -> Path:
    path = folder / "model.xml"
    openvino.save_model(openvino.Model(results, parameters, "m"), path, compress_to_fp16=False)
    return path


def _divide(a: Any, b: Any, pythondiv: bool, auto_broadcast: str) -> Any:
    attributes = {"m_pythondiv": pythondiv, "auto_broadcast": auto_broadcast}
    node = openvino.utils.node_factory.NodeFactory("opset13").create("Divide", [a, b], attributes)
    node.output(0).set_names({"quotient"})
    return node


@pytest.mark.parametrize("pythondiv", [True, False])
@pytest.mark.parametrize("dtype", [np.int32, np.float32, np.uint8, np.int64, np.float64, np.float16])
class TestDivide:
    """Divide, both flags, with operands from Parameter and Const."""

    def test_like_our_own(self, tmp_path: Path, dtype: Any, pythondiv: bool) -> None:
        dividend = RNG.integers(0, 100, (5, 4)).astype(dtype) - np.asarray(50 * (dtype is not np.uint8), dtype)
        divisor = np.array([3, 7, 1, 9], dtype) * np.asarray(-1 if dtype is not np.uint8 else 1, dtype)
        a = opset.parameter([-1, 4], dtype, name="a")
        node = _divide(a, opset.constant(divisor), pythondiv, "numpy")
        model = load(_saved([node], [a], tmp_path))
        assert [tensor.shape for tensor in (*model.inputs, *model.outputs)] == [(None, 4), (None, 4)]
        output = model.run({"a": dividend})["quotient"]
        expected = vinculum.divide(dividend, divisor, m_pythondiv=pythondiv)
        assert output.dtype == dtype
        assert output.tobytes() == expected.tobytes()


class TestOtherLayers:
    """Convert, constants of four bits, dynamic shapes, and names."""

    def test_convert_before_and_after(self, tmp_path: Path) -> None:
        a = opset.parameter(openvino.PartialShape([openvino.Dimension(1, 8), -1]), np.float32, name="a")
        node = opset.convert(
            _divide(opset.convert(a, "bf16"), opset.constant(3, openvino.Type.bf16), True, "numpy"), "i8"
        )
        array = (RNG.random((3, 2), np.float32) - np.float32(0.5)) * np.float32(300)
        output = load(_saved([node], [a], tmp_path)).run({"a": array})
        quotient = vinculum.divide(convert(array, BFLOAT16), np.array(3).astype(ml_dtypes.bfloat16))
        (result,) = output.values()
        assert result.tolist() == convert(quotient, INT8).tolist()

    @pytest.mark.parametrize(("kind", "expected"), [("u4", [1, 2, 15]), ("i4", [1, 2, -1])])
    def test_constants_of_four_bits(self, tmp_path: Path, kind: str, expected: list[int]) -> None:
        packed = openvino.Tensor(np.array([0x21, 0x0F], np.uint8), openvino.Shape([3]), getattr(openvino.Type, kind))
        (output,) = load(_saved([opset.convert(opset.constant(packed), "i32")], [], tmp_path)).run({}).values()
        assert output.tolist() == expected

    def test_any_rank_and_awkward_names(self, tmp_path: Path) -> None:
        a = opset.parameter(openvino.PartialShape.dynamic(), np.int32, name="a,<&>")
        model = load(_saved([_divide(a, opset.constant(np.array(2, np.int32)), True, "numpy")], [a], tmp_path))
        assert model.inputs[0].name == "a,<&>"
        assert model.run({"a,<&>": np.array([[5]], np.int32)})["quotient"].tolist() == [[2]]

    def test_weights_compressed_to_16_bits(self, tmp_path: Path) -> None:
        a = opset.parameter([2], np.float32, name="a")
        node = _divide(a, opset.constant(np.array([3, 0.1], np.float32)), True, "numpy")
        path = tmp_path / "model.xml"
        openvino.save_model(openvino.Model([node], [a], "m"), path)
        output = load(path).run({"a": np.ones(2, np.float32)})["quotient"]
        divisor = np.array([3, 0.1], np.float16).astype(np.float32)
        assert output.tolist() == (np.float32(1) / divisor).tolist()
