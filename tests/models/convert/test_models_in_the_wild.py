"""Models as exporters and old tools write them: each runs and is converted, with every bit compared."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import ModelProto, NodeProto, TensorProto, helper, numpy_helper

from vinculum.errors import ModelError
from vinculum.models import load
from vinculum.models.convert import convert_file

File = Callable[..., Path]
OneLine = Callable[..., AbstractContextManager[None]]
node = helper.make_node


def _compared(source: Path, opset: int) -> ModelProto:
    """Convert a model, demand that all sets of inputs were compared, and return it."""
    target = source.with_name("converted.onnx")
    verification = convert_file(source, target, opset=opset).verification
    assert verification is not None
    assert verification.compared == 112
    return onnx.load(target)


def _data(**arrays: object) -> list[TensorProto]:
    return [numpy_helper.from_array(np.asarray(array), name) for name, array in arrays.items()]


class TestQuantized:
    """QuantizeLinear and DequantizeLinear below operator set 19, which the reference evaluator does not know."""

    def test_runs_and_converts(self, onnx_file: File) -> None:
        nodes = [
            node("QuantizeLinear", ["x", "s", "z"], ["q"]),
            node("DequantizeLinear", ["q", "s", "z"], ["d"]),
            node("Div", ["d", "s"], ["y"]),
        ]
        floats = {name: (TensorProto.FLOAT, [4]) for name in "xy"}
        constants = _data(s=np.float32(0.5), z=np.uint8(3))
        source = onnx_file(nodes, {"x": floats["x"]}, {"y": floats["y"]}, opset=13, initializers=constants)
        x = np.array([-9, 0.25, 0.75, 1000], np.float32)  # Saturated, two ties to even, saturated.
        assert load(source).run({"x": x})["y"].tolist() == [-3, 0, 2, 252]
        _compared(source, 17)


class TestReshape:
    """PyTorch writes allowzero=1, which operator sets below 14 lack; without a 0 in the shape it changes nothing."""

    def _source(self, onnx_file: File, shape: list[int]) -> Path:
        nodes = [node("Reshape", ["x", "shape"], ["r"], "view", allowzero=1), node("Div", ["r", "r"], ["y"])]
        constants = _data(shape=np.array(shape, np.int64))
        sizes = (TensorProto.FLOAT, [2, 2]), (TensorProto.FLOAT, shape)
        return onnx_file(nodes, {"x": sizes[0]}, {"y": sizes[1]}, opset=18, initializers=constants)

    def test_dropped(self, onnx_file: File) -> None:
        model = _compared(self._source(onnx_file, [4]), 13)
        assert not model.graph.node[0].attribute

    def test_a_zero_is_refused(self, onnx_file: File, tmp_path: Path, one_line: OneLine) -> None:
        source = self._source(onnx_file, [0])
        with one_line(ModelError, "node 'view' (Reshape)", "allowzero"):
            convert_file(source, tmp_path / "new.onnx", opset=13, check=False)


class TestOldAndLoose:
    """Files that say less than the newest IR version asks for."""

    def test_ir_version_2(self, onnx_file: File, tmp_path: Path) -> None:
        floats = {name: (TensorProto.FLOAT, [3]) for name in "xy"}
        model = onnx.load(onnx_file([node("Div", ["x", "x"], ["y"])], {"x": floats["x"]}, {"y": floats["y"]}, opset=6))
        model.ir_version = 2
        del model.opset_import[:]
        (tmp_path / "old.onnx").write_bytes(model.SerializeToString())
        assert _compared(tmp_path / "old.onnx", 13).opset_import[0].version == 13

    @pytest.mark.parametrize("lacking", ["shape", "type"])
    def test_outputs_without(self, onnx_file: File, lacking: str) -> None:
        """ONNX Runtime takes them."""
        source = onnx_file(
            [node("Div", ["x", "x"], ["y"])], {"x": (TensorProto.INT64, [3])}, {"y": (TensorProto.INT64, None)}
        )
        if lacking == "type":
            model = onnx.load(source)
            model.graph.output[0].ClearField("type")
            source.write_bytes(model.SerializeToString())
        _compared(source, 13)

    def test_negative_zero_in_a_pad(self, onnx_file: File) -> None:
        nodes = [node("Pad", ["x"], ["p"], pads=[1, 0], value=-0.0), node("Div", ["one", "p"], ["y"])]
        inputs = {"x": (TensorProto.FLOAT, [3]), "one": (TensorProto.FLOAT, [1])}
        _compared(onnx_file(nodes, inputs, {"y": (TensorProto.FLOAT, [4])}, opset=10), 13)

    def test_graphs_for_training(self, onnx_file: File, tmp_path: Path, one_line: OneLine) -> None:
        floats = {name: (TensorProto.FLOAT, [3]) for name in "xy"}
        model = onnx.load(onnx_file([node("Div", ["x", "x"], ["y"])], {"x": floats["x"]}, {"y": floats["y"]}))
        model.training_info.add().algorithm.name = "step"
        (tmp_path / "training.onnx").write_bytes(model.SerializeToString())
        with one_line(ModelError, "training_info", "drop them first"):
            convert_file(tmp_path / "training.onnx", tmp_path / "new.onnx", opset=13)


class TestExternalData:
    """Data in other files stay in another file, and are not read to be converted."""

    def _source(self, folder: Path, nodes: list[NodeProto], element_type: int, weights: object) -> Path:
        array = np.asarray(weights)
        ends = [helper.make_tensor_value_info(name, element_type, array.shape) for name in "xy"]
        model = helper.make_model(
            helper.make_graph(nodes, "g", ends[:1], ends[1:], _data(w=array)),
            opset_imports=[helper.make_opsetid("", 17)],
            ir_version=8,
        )
        path = folder / "source.onnx"
        onnx.save_model(model, path, save_as_external_data=True, location="weights", size_threshold=0)
        return path

    def test_it_stays_external(self, tmp_path: Path) -> None:
        weights = np.arange(1, 4001, dtype=np.float32)
        source = self._source(tmp_path, [node("Div", ["x", "w"], ["y"])], TensorProto.FLOAT, weights)
        _compared(source, 13)
        stored = onnx.load(tmp_path / "converted.onnx", load_external_data=False).graph.initializer[0]
        entries = {entry.key: entry.value for entry in stored.external_data}
        assert entries == {"location": "converted.onnx.data", "offset": "0", "length": "16000"}
        assert (tmp_path / "converted.onnx.data").read_bytes() == weights.tobytes()

    def test_it_is_read_where_its_elements_matter(self, tmp_path: Path) -> None:
        """Div-6 has no int16: the constant divisor is cast, and known to hold no zero."""
        weights = np.arange(1, 4001, dtype=np.int16)
        source = self._source(tmp_path, [node("Div", ["x", "w"], ["y"])], TensorProto.INT16, weights)
        _compared(source, 7)

    def test_a_loaded_model_needs_no_file_any_more(self, tmp_path: Path) -> None:
        source = self._source(
            tmp_path, [node("Div", ["x", "w"], ["y"])], TensorProto.FLOAT, np.full(4000, 2.0, np.float32)
        )
        model = load(source)
        (tmp_path / "weights").unlink()
        assert model.run({"x": np.ones(4000, np.float32)})["y"].tolist() == [0.5] * 4000

    def test_data_that_shrink_meanwhile(self, tmp_path: Path, one_line: OneLine) -> None:
        from vinculum.models.onnx.file import write_model
        from vinculum.models.source import read_source

        source = self._source(tmp_path, [node("Div", ["x", "w"], ["y"])], TensorProto.FLOAT, np.ones(4000, np.float32))
        model = read_source(source).onnx
        assert model is not None
        (tmp_path / "weights").write_bytes(b"short")
        with one_line(ModelError, "weights", "became shorter while it was copied"):
            write_model(model, tmp_path / "copy.onnx")
