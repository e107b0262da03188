"""Bad input: one line that says what was given and what is allowed, exit code 2, and nothing written or changed."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import onnx
import pytest
from onnx import ModelProto, TensorProto

from tests.acceptance.conftest import Refused
from tests.cases import case
from tests.copies import copied
from tests.models.built_models import text_model, written

X = "x=x.npy"
RUN_ONNX = ("run", "model.onnx", "--input", X, "--output", "out")


@pytest.fixture
def layer_norm(tmp_path: Path, examples: Path) -> Path:
    """Return the path of a copy of the example, its input ``x.npy`` beside it."""
    for name in ("model.onnx", "x.npy"):
        copied(examples / "layer_norm" / name, tmp_path)
    return tmp_path / "model.onnx"


def save_division(folder: Path, attributes: str, opset: int) -> None:
    """Write a model of one Div of two inputs `a` and `b` of shape (N, 3)."""
    tensors = "float[N, 3] a, float[N, 3] b", "float[N, 3] q"
    written(text_model(f"[ratio] q = Div <{attributes}> (a, b)", *tensors, opset=opset, ir_version=8), folder)


def edit(path: Path, change: Callable[[ModelProto], object]) -> None:
    model = onnx.load(path, load_external_data=False)
    change(model)
    path.write_bytes(model.SerializeToString())


def opset(version: int) -> Callable[[ModelProto], object]:
    """Return a change of the operator set that a model imports."""
    return lambda model: model.opset_import[0].__setattr__("version", version)


def initializer(*dims: int) -> Callable[[ModelProto], object]:
    """Return a change of what a model says of the shape of its first initializer."""
    return lambda model: model.graph.initializer[0].dims.__setitem__(slice(None), dims)


class TestArrays:
    """A wrong type or shape, a missing or surplus input, a file that is truncated, malformed, or not what it seems."""

    def test_a_tensor_proto(self, refused: Refused, layer_norm: Path, examples: Path) -> None:
        tensor = TensorProto(data_type=TensorProto.FLOAT, dims=[3, 4, 16], data_location=TensorProto.EXTERNAL)
        tensor.external_data.add(key="location", value="../x.bin")
        layer_norm.with_name("x.pb").write_bytes(tensor.SerializeToString())
        assert "without '..'" in refused("run", "model.onnx", "--input", "x=x.pb", "--output", "out")
        layer_norm.with_name("x.pb").write_bytes((examples / "div_6_axis" / "A.pb").read_bytes()[:-4])
        assert refused("run", "model.onnx", "--input", "x=x.pb").startswith("input 'x' from 'x.pb'")


class TestOnnxFiles:
    """A wrong attribute, version or operator set, and tensors that lie; damaged files are in tests/models."""

    def test_a_changed_model(self, refused: Refused, layer_norm: Path) -> None:
        whole = layer_norm.read_bytes()
        for change, words in (
            (opset(0), "operator set 0"),
            (lambda model: model.graph.node[0].__setattr__("op_type", "Nonsense"), "Nonsense"),
            (initializer(2**62, 2**62), f"shape ({2**62}, {2**62})"),
            (initializer(2**62, 4), f"shape ({2**62}, 4)"),
            (initializer(-1, 4), "shape (-1, 4)"),
        ):
            with case(words):
                layer_norm.write_bytes(whole)
                edit(layer_norm, change)
                assert words in refused(*RUN_ONNX)

    def test_shapes(self, refused: Refused, layer_norm: Path) -> None:
        save_division(layer_norm.parent, "broadcast = 1", 6)
        edit(layer_norm, lambda model: model.graph.input[1].type.tensor_type.shape.dim[1].__setattr__("dim_value", 1))
        line = refused("run", "model.onnx", "--seed", 0, "--dim", "N=2", "--output", "out")
        assert line.startswith("node 'ratio' (Div-6)")
        edit(
            layer_norm,
            lambda m: [d.__setattr__("dim_value", 2**40) for d in m.graph.input[0].type.tensor_type.shape.dim],
        )
        assert "its size in bytes exceeds 2**63 - 1" in refused("run", layer_norm, "--seed", 0, "--output", "out")

    def test_a_name_with_control_characters_is_harmless(self, refused: Refused, tmp_path: Path) -> None:
        """Nor is Div-14 given an axis."""
        save_division(tmp_path, "axis = 1", 14)
        edit(tmp_path / "model.onnx", lambda m: m.graph.node[0].__setattr__("name", "\x1b[2J\r\n\x07[red]\u202e"))
        line = refused("run", "model.onnx", "--seed", 0, "--output", "out")
        assert "\\x1b[2J\\r\\n\\x07[red]\\u202e" in line
        assert "axis" in line
