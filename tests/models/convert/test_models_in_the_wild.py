"""Models as exporters and old tools write them: each runs and is converted, with every bit compared."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from numpy.typing import NDArray
from onnx import ModelProto, numpy_helper

from tests.models.built_models import one_line, text_model
from vinculum.errors import ModelError
from vinculum.models import load
from vinculum.models.convert import convert_file, convert_opset
from vinculum.spec.element_types import by_numpy_name

ENDS = "float[3] x", "float[3] y"


def _compared(model: ModelProto | Path, opset: int, folder: Path) -> ModelProto:
    """Convert a model, demand that all sets of inputs were compared, and return it."""
    source = model if isinstance(model, Path) else folder / "source.onnx"
    if isinstance(model, ModelProto):
        source.write_bytes(model.SerializeToString())
    verification = convert_file(source, folder / "converted.onnx", opset=opset).verification
    assert verification is not None
    assert verification.compared == 112
    return onnx.load(folder / "converted.onnx")


def test_quantized_runs_and_converts(tmp_path: Path) -> None:
    """QuantizeLinear and DequantizeLinear below operator set 19, which the reference evaluator does not know."""
    nodes = "q = QuantizeLinear(x, s, z) d = DequantizeLinear(q, s, z) y = Div(d, s)"
    model = text_model(nodes, "float[4] x", "float[4] y", constants="float s = {0.5}, uint8 z = {3}", opset=13)
    x = np.array([-9, 0.25, 0.75, 1000], np.float32)  # Saturated, two ties to even, saturated.
    assert load(model).run({"x": x})["y"].tolist() == [-3, 0, 2, 252]
    _compared(model, 17, tmp_path)


class TestReshape:
    """PyTorch writes allowzero=1, which operator sets below 14 lack; without a 0 in the shape it changes nothing."""

    def _model(self, size: int) -> ModelProto:
        nodes = "[view] r = Reshape <allowzero = 1> (x, shape) y = Div(r, r)"
        constants = f"int64[1] shape = {{{size}}}"
        return text_model(nodes, "float[2,2] x", f"float[{size}] y", constants=constants, opset=18)

    def test_dropped(self, tmp_path: Path) -> None:
        assert not _compared(self._model(4), 13, tmp_path).graph.node[0].attribute

    def test_a_zero_is_refused(self) -> None:
        with one_line(ModelError, "node 'view' (Reshape)", "allowzero"):
            convert_opset(self._model(0), 13)


class TestOldAndLoose:
    """Files that say less than the newest IR version asks for."""

    def test_ir_version_2(self, tmp_path: Path) -> None:
        model = text_model("y = Div(x, x)", *ENDS, opset=6, ir_version=2)
        del model.opset_import[:]
        assert _compared(model, 13, tmp_path).opset_import[0].version == 13

    @pytest.mark.parametrize("lacking", ["shape", "type"])
    def test_outputs_without(self, lacking: str, tmp_path: Path) -> None:
        """ONNX Runtime takes them."""
        model = text_model("y = Div(x, x)", "int64[3] x", "int64[] y" if lacking == "shape" else "y")
        _compared(model, 13, tmp_path)

    def test_negative_zero_in_a_pad(self, tmp_path: Path) -> None:
        nodes = "p = Pad <pads = [1, 0], value = -0.0> (x) y = Div(one, p)"
        _compared(text_model(nodes, "float[3] x, float[1] one", "float[4] y", opset=10), 13, tmp_path)

    def test_graphs_for_training(self) -> None:
        model = text_model("y = Div(x, x)", *ENDS)
        model.training_info.add().algorithm.name = "step"
        with one_line(ModelError, "training_info", "drop them first"):
            convert_opset(model, 13)


class TestExternalData:
    """Data in other files stay in another file, and are not read to be converted."""

    def _source(self, folder: Path, weights: NDArray[Any]) -> Path:
        """Return the file of a model that divides by weights."""
        t = by_numpy_name(weights.dtype.name)
        model = text_model("y = Div(x, w)", f"{t}[{weights.size}] x", f"{t}[{weights.size}] y", ir_version=8)
        model.graph.initializer.append(numpy_helper.from_array(weights, "w"))
        path = folder / "source.onnx"
        onnx.save_model(model, path, save_as_external_data=True, location="weights", size_threshold=0)
        return path

    def test_it_stays_external(self, tmp_path: Path) -> None:
        weights = np.arange(1, 4001, dtype=np.float32)
        source = self._source(tmp_path, weights)
        _compared(source, 13, tmp_path)
        stored = onnx.load(tmp_path / "converted.onnx", load_external_data=False).graph.initializer[0]
        entries = {entry.key: entry.value for entry in stored.external_data}
        assert entries == {"location": "converted.onnx.data", "offset": "0", "length": "16000"}
        assert (tmp_path / "converted.onnx.data").read_bytes() == weights.tobytes()

    def test_it_is_read_where_its_elements_matter(self, tmp_path: Path) -> None:
        """Div-6 has no int16: the constant divisor is cast, and known to hold no zero."""
        weights = np.arange(1, 4001, dtype=np.int16)
        source = self._source(tmp_path, weights)
        _compared(source, 7, tmp_path)

    def test_a_loaded_model_needs_no_file_any_more(self, tmp_path: Path) -> None:
        source = self._source(tmp_path, np.full(4000, 2.0, np.float32))
        model = load(source)
        (tmp_path / "weights").unlink()
        assert model.run({"x": np.ones(4000, np.float32)})["y"].tolist() == [0.5] * 4000

    def test_data_that_shrink_meanwhile(self, tmp_path: Path) -> None:
        from vinculum.models.onnx.file import write_model
        from vinculum.models.source import read_source

        source = self._source(tmp_path, np.ones(4000, np.float32))
        model = read_source(source).onnx
        assert model is not None
        (tmp_path / "weights").write_bytes(b"short")
        with one_line(ModelError, "weights", "became shorter while it was copied"):
            write_model(model, tmp_path / "copy.onnx")
