"""IR files that OpenVINO itself writes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import openvino
import openvino.opset13 as opset
import pytest

import vinculum
from vinculum.models import load
from vinculum.models.openvino_ir.element_conversion import convert
from vinculum.spec.element_types import BFLOAT16, INT8

RNG = np.random.default_rng(0)


def _saved(results: list[Any], parameters: list[Any], folder: Path) -> Path:
    path = folder / "model.xml"
    openvino.save_model(openvino.Model(results, parameters, "m"), path, compress_to_fp16=False)
    return path


def _divide(a: Any, b: Any, pythondiv: bool, auto_broadcast: str, axis: int | None = None) -> Any:
    attributes = {"m_pythondiv": pythondiv, "auto_broadcast": auto_broadcast}
    if axis is not None:
        attributes["auto_broadcast.auto_broadcast_axis"] = axis
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


class TestBroadcastingModes:
    """All three kinds of auto_broadcast, of several types and of open dimensions, as OpenVINO writes them."""

    @pytest.mark.parametrize("dynamic", [True, False])
    @pytest.mark.parametrize("dtype", [np.int32, np.int8, np.uint16, np.float32, np.float64])
    @pytest.mark.parametrize(
        ("mode", "axis", "a", "b"),
        [
            ("none", None, (2, 3, 4), (2, 3, 4)),
            ("numpy", None, (2, 3, 4), (3, 1)),
            ("numpy", None, (3, 1), (2, 1, 4)),
            ("pdpd", -1, (2, 3, 4), (3, 4)),
            ("pdpd", 1, (2, 3, 4), (3, 4)),
            ("pdpd", 2, (2, 3, 4), (4,)),
            ("pdpd", 0, (2, 3, 4), (2, 3)),
            ("pdpd", 0, (2, 3, 4), (2, 1, 1)),
        ],
    )
    def test_divides_as_our_own(
        self,
        tmp_path: Path,
        mode: str,
        axis: int | None,
        a: tuple[int, ...],
        b: tuple[int, ...],
        dtype: Any,
        dynamic: bool,
    ) -> None:
        parameters = [
            opset.parameter([-1] * len(shape) if dynamic else shape, dtype, name=name)
            for name, shape in (("a", a), ("b", b))
        ]
        path = _saved([_divide(parameters[0], parameters[1], True, mode, axis)], parameters, tmp_path)
        inputs = {name: RNG.integers(1, 100, shape).astype(dtype) for name, shape in (("a", a), ("b", b))}
        if np.dtype(dtype).kind != "u":
            inputs["a"] = np.negative(inputs["a"])
        expected = vinculum.divide(*inputs.values(), auto_broadcast=mode, axis=-1 if axis is None else axis)
        assert f'auto_broadcast="{mode}"' in path.read_text()
        assert load(path).run(inputs)["quotient"].tobytes() == expected.tobytes()
