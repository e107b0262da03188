"""Operators of old operator sets keep their old meaning."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from onnx import TensorProto, helper

from vinculum.errors import BroadcastError, ModelError
from vinculum.models import load

OneLine = Callable[..., AbstractContextManager[None]]
File = Callable[..., Path]
RNG = np.random.default_rng(0)


def _run(onnx_file: File, node: Any, opset: int, **arrays: Any) -> Any:
    inputs = {name: (TensorProto.FLOAT, array.shape) for name, array in arrays.items()}
    return load(onnx_file([node], inputs, {"c": (TensorProto.FLOAT, None)}, opset=opset)).run(arrays)["c"]


class TestLimitedBroadcasting:
    """Before operator set 7, B alone is broadcast, from `axis`, and only on request."""

    @pytest.mark.parametrize("operator", ["Add", "Pow", "Greater"])
    @pytest.mark.parametrize(
        ("shape", "axis", "aligned"),
        [
            ((), None, ()),
            ((1, 1), None, ()),
            ((5,), None, (5,)),
            ((4, 5), None, (4, 5)),
            ((3, 4), 1, (3, 4, 1)),
            ((2,), 0, (2, 1, 1, 1)),
            ((2, 1), 0, (2, 1, 1, 1)),  # What the documents do not allow, and exporters wrote.
            ((4, 1), None, (4, 1)),
        ],
    )
    def test_the_six_shapes(
        self, onnx_file: File, operator: str, shape: tuple[int, ...], axis: int | None, aligned: tuple[int, ...]
    ) -> None:
        a, b = RNG.random((2, 3, 4, 5), np.float32), RNG.random(shape, np.float32)
        attributes: dict[str, Any] = {"broadcast": 1} if axis is None else {"broadcast": 1, "axis": axis}
        legacy = _run(onnx_file, helper.make_node(operator, ["a", "b"], ["c"], **attributes), 6, a=a, b=b)
        newer = _run(onnx_file, helper.make_node(operator, ["a", "b"], ["c"]), 7, a=a, b=b.reshape(aligned))
        assert legacy.shape == (2, 3, 4, 5)
        assert legacy.tobytes() == newer.tobytes()

    @pytest.mark.parametrize(
        ("attributes", "shape"),
        [({}, (5,)), ({"broadcast": 1}, (3, 1)), ({"broadcast": 1, "axis": 1}, (4, 5)), ({"broadcast": 1}, (1,) * 5)],
    )
    def test_what_does_not_fit(
        self, onnx_file: File, one_line: OneLine, attributes: dict[str, Any], shape: tuple[int, ...]
    ) -> None:
        node = helper.make_node("Add", ["a", "b"], ["c"], "n", **attributes)
        with one_line(BroadcastError, "node 'n' (Add)", str(shape)):
            _run(onnx_file, node, 6, a=np.ones((2, 3, 4, 5), np.float32), b=np.ones(shape, np.float32))


class TestConsumedInputs:
    """In operator sets 1 to 5 the hint may stand at any node."""

    @pytest.mark.parametrize("operator", ["Elu", "Relu", "Tanh"])
    def test_ignored(self, onnx_file: File, operator: str) -> None:
        node = helper.make_node(operator, ["x"], ["c"], consumed_inputs=[0])
        newer = helper.make_node(operator, ["x"], ["c"])
        x = RNG.random((2, 3), np.float32) - np.float32(0.5)
        assert _run(onnx_file, node, 5, x=x).tolist() == _run(onnx_file, newer, 6, x=x).tolist()


class TestFlattening:
    """Before operator set 13, Softmax normalises over all dimensions from `axis` on."""

    @pytest.mark.parametrize(("axis", "first"), [(None, 1), (0, 0), (2, 2), (-1, 2)])
    def test_softmax(self, onnx_file: File, axis: int | None, first: int) -> None:
        x = RNG.random((2, 3, 4), np.float32)
        attributes: dict[str, Any] = {} if axis is None else {"axis": axis}
        result = _run(onnx_file, helper.make_node("Softmax", ["x"], ["c"], **attributes), 11, x=x)
        exponentials = np.exp(x)
        expected = exponentials / exponentials.sum(tuple(range(first, 3)), keepdims=True)
        np.testing.assert_allclose(result, expected, rtol=1e-6)

    def test_an_axis_outside(self, onnx_file: File, one_line: OneLine) -> None:
        with one_line(ModelError, "node 'n' (Softmax)", "axis 7"):
            _run(onnx_file, helper.make_node("Softmax", ["x"], ["c"], "n", axis=7), 11, x=np.ones(3, np.float32))


class TestScan:
    """Scan-8 had batches; the evaluator does not know it."""

    def test_refused(self, onnx_file: File, one_line: OneLine) -> None:
        value = helper.make_tensor_value_info("x", TensorProto.FLOAT, [1])
        result = helper.make_tensor_value_info("y", TensorProto.FLOAT, [1])
        body = helper.make_graph([helper.make_node("Neg", ["x"], ["y"])], "b", [value], [result])
        node = helper.make_node("Scan", ["", "a"], ["c"], "n", body=body, num_scan_inputs=1)
        with one_line(ModelError, "node 'n' (Scan)", "from operator set 9 on"):
            _run(onnx_file, node, 8, a=np.ones((1, 2, 1), np.float32))


class TestOldAttributes:
    """What later versions have an attribute or another default for."""

    def test_average_pool_leaves_the_padding_out(self, onnx_file: File) -> None:
        attributes: dict[str, Any] = {"kernel_shape": [3], "pads": [1, 1]}
        x = RNG.random((1, 1, 5), np.float32)
        legacy = _run(onnx_file, helper.make_node("AveragePool", ["x"], ["c"], **attributes), 6, x=x)
        assert legacy[0, 0, 0] == pytest.approx((x[0, 0, 0] + x[0, 0, 1]) / 2)
        newer = helper.make_node("AveragePool", ["x"], ["c"], count_include_pad=0, **attributes)
        assert legacy.tobytes() == _run(onnx_file, newer, 7, x=x).tobytes()

    def test_selu(self, onnx_file: File) -> None:
        x = RNG.standard_normal((2, 3), np.float32)
        legacy = _run(onnx_file, helper.make_node("Selu", ["x"], ["c"]), 5, x=x)
        same = helper.make_node("Selu", ["x"], ["c"], alpha=1.6732, gamma=1.0507)
        assert legacy.tobytes() == _run(onnx_file, same, 6, x=x).tobytes()
        assert legacy.tobytes() != _run(onnx_file, helper.make_node("Selu", ["x"], ["c"]), 6, x=x).tobytes()
        own = helper.make_node("Selu", ["x"], ["c"], alpha=2.0)
        assert legacy.tobytes() != _run(onnx_file, own, 5, x=x).tobytes()

    def test_prelu_has_a_slope_for_each_channel(self, onnx_file: File) -> None:
        x, slope = -RNG.random((3, 3, 3), np.float32), np.array([1, 2, 3], np.float32)
        legacy = _run(onnx_file, helper.make_node("PRelu", ["x", "slope"], ["c"]), 6, x=x, slope=slope)
        assert legacy.tobytes() == (x * slope.reshape(3, 1)).tobytes()


class TestBatchNormalization:
    """Before operator set 14 one output stands for inference, whatever the momentum."""

    SHAPES: tuple[list[int], ...] = ([2, 3, 4], [3], [3], [3], [3])

    def _arrays(self) -> dict[str, np.ndarray[Any, Any]]:
        rng = np.random.default_rng(0)
        return {name: rng.random(shape, np.float32) for name, shape in zip("xsbmv", self.SHAPES, strict=True)}

    @pytest.mark.parametrize("opset", [6, 9, 13, 14])
    @pytest.mark.parametrize("attributes", [{}, {"momentum": 0.5}, {"epsilon": 0.5}])
    def test_inference(self, onnx_file: File, opset: int, attributes: dict[str, Any]) -> None:
        arrays = self._arrays()
        node = helper.make_node("BatchNormalization", list("xsbmv"), ["c"], **attributes)
        s, b, m, v = (arrays[name][:, np.newaxis] for name in "sbmv")
        expected = s * (arrays["x"] - m) / np.sqrt(v + np.float32(attributes.get("epsilon", 1e-5))) + b
        np.testing.assert_allclose(_run(onnx_file, node, opset, **arrays), expected, rtol=1e-6)

    @pytest.mark.parametrize(
        ("outputs", "attributes", "words"), [(["c", "m2"], {}, "training"), (["c"], {"spatial": 0}, "spatial")]
    )
    def test_refused(
        self, onnx_file: File, one_line: OneLine, outputs: list[str], attributes: dict[str, Any], words: str
    ) -> None:
        node = helper.make_node("BatchNormalization", list("xsbmv"), outputs, "n", **attributes)
        with one_line(ModelError, "node 'n' (BatchNormalization)", words):
            _run(onnx_file, node, 8, **self._arrays())
