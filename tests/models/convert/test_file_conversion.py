"""Conversion of files: models are compared before a file is written, and files are written completely or not at all."""

from __future__ import annotations

import sys
from errno import ENOSPC
from os import strerror
from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import ModelProto, numpy_helper

from tests.models.built_models import one_line, text_model, written
from vinculum.errors import AttributeValueError, DifferenceError, ModelError
from vinculum.models import load
from vinculum.models.convert import OnnxConversion, convert_file, convert_opset

MODULE = "vinculum.models.convert.file_conversion"


def _legacy(folder: Path) -> Path:
    nodes = "[ratio] C = Div <broadcast = 1, axis = 0> (A, B)"
    return written(text_model(nodes, "float[2,3] A, float[2] B", "float[2,3] C", opset=6), folder)


WEIGHTS = np.arange(1, 3001, dtype=np.float32)


def _large(folder: Path, *, in_a_node: bool = False) -> Path:
    """Return a model that divides by weights, in an initializer or a Constant."""
    model, weights = (
        text_model("y = Div(x, w)", "float[3000] x", "float[3000] y"),
        numpy_helper.from_array(WEIGHTS, "w"),
    )
    if in_a_node:
        model.graph.node.insert(0, onnx.helper.make_node("Constant", [], ["w"], value=weights))
    else:
        model.graph.initializer.append(weights)
    return written(model, folder)


def _files(folder: Path) -> set[str]:
    return {path.name for path in folder.rglob("*")}


class TestDifferences:
    """A conversion that changes a bit writes nothing; unverified it is written."""

    def test_nothing_is_written(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        def wrong(model: ModelProto, opset: int) -> OnnxConversion:
            conversion = convert_opset(model, opset)
            division = conversion.model.graph.node[-1]
            division.input[0], division.input[1] = division.input[1], division.input[0]
            return conversion

        # The package has a function of the same name as the module.
        monkeypatch.setattr(sys.modules[MODULE], "convert_opset", wrong)
        source = _legacy(tmp_path)
        before = _files(tmp_path)
        with one_line(DifferenceError, "output 'C'"):
            convert_file(source, tmp_path / "new.onnx", opset=13)
        assert _files(tmp_path) == before
        assert convert_file(source, tmp_path / "new.onnx", opset=13, check=False).verification is None
        assert _files(tmp_path) == before | {"new.onnx"}

    def test_an_old_file_survives_a_failure(self, tmp_path: Path) -> None:
        source = written(text_model("[gelu] C = Gelu(A)", "float[2] A", "float[2] C", opset=20), tmp_path)
        (tmp_path / "new.onnx").write_bytes(b"what was there")
        with one_line(ModelError, "(Gelu)"):
            convert_file(source, tmp_path / "new.onnx", opset=13)
        assert (tmp_path / "new.onnx").read_bytes() == b"what was there"
        assert _files(tmp_path) == {"model.onnx", "new.onnx"}


@pytest.mark.parametrize(
    ("opset", "shape", "nodes"),
    [(4, "n, 4", "the nodes of the converted model"), (6, "n, 4", "its nodes"), (6, "3", "its nodes")],
)
def test_a_wrong_declaration_of_the_original(tmp_path: Path, opset: int, shape: str, nodes: str) -> None:
    """ONNX infers no shape for Reshape-1, so only the converted model contradicts the declaration."""
    node = "Reshape <shape = [3, 2]> (t)" if opset < 5 else "Transpose(t)"
    outputs = f"float[] t, float[{shape}] y"
    source = written(text_model(f"t = Neg(x) y = {node}", "float[2,3] x", outputs, opset=opset), tmp_path)
    declared = f"({shape})" if "," in shape else f"({shape},)"
    stated = f"declares output 'y' with shape {declared}, and {nodes} give (3, 2); correct the declaration"
    with one_line(ModelError, f"model {str(source)!r} {stated}"):
        convert_file(source, tmp_path / "new.onnx", opset=13)


BRANCHES = "<then_branch = t () => (float[3] r) { r = Neg(x) }, else_branch = e () => (float[2] s) { s = Neg(x) }>"


@pytest.mark.parametrize(
    ("nodes", "what"),
    [
        ("r = Neg(x) y = Neg(r)", "value 'r'"),
        (f"y = If(k) {BRANCHES}", "output 'r' in If:then_branch"),
        ("y = d.F(x, k)", "output 'r' in F/If:then_branch"),
    ],
)
def test_a_wrong_declaration_inside(tmp_path: Path, nodes: str, what: str) -> None:
    """The value may be an inner one, or in a subgraph or a function."""
    function = f"F (x, k) => (y) {{ y = If(k) {BRANCHES} }}"
    model = text_model(nodes, "float[2] x, bool k", "float[2] y", function)
    if "value" in what:
        model.graph.value_info.append(onnx.helper.make_tensor_value_info("r", onnx.TensorProto.FLOAT, [3]))
    stated = f"declares {what} with shape (3,), and its nodes give (2,); correct the declaration"
    with one_line(ModelError, f"{str(written(model, tmp_path))!r} {stated}"):
        convert_file(tmp_path / "model.onnx", tmp_path / "new.onnx", opset=13)


class TestUnwritable:
    """The error names the requested file, not the temporary folder."""

    def test_a_full_disk(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        def full(model: ModelProto, path: Path) -> None:
            raise OSError(ENOSPC, strerror(ENOSPC))

        monkeypatch.setattr(sys.modules[MODULE], "write_model", full)
        source = _legacy(tmp_path)
        before = _files(tmp_path)
        with pytest.raises(OSError, match="No space") as caught:
            convert_file(source, tmp_path / "new.onnx", opset=13)
        assert caught.value.filename == str(tmp_path / "new.onnx")
        assert _files(tmp_path) == before

    @pytest.mark.parametrize("name", ["new", "new.pb"])
    def test_other_suffixes(self, tmp_path: Path, name: str) -> None:
        with one_line(ModelError, repr(str(tmp_path / name)), "has to end in .onnx, or in .xml for OpenVINO IR"):
            convert_file(_legacy(tmp_path), tmp_path / name, opset=13)

    @pytest.mark.skipif(sys.platform != "linux", reason="other systems have no such file names")
    def test_names_that_are_not_utf_8(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        """Such names are allowed, unless the model has to contain the name of its data file."""
        source = _legacy(tmp_path).rename(tmp_path / "a\udcff.onnx")
        convert_file(source, tmp_path / "b\udcff.onnx", opset=13)
        assert load(tmp_path / "b\udcff.onnx").divisions[0].operator == "Div-13"
        before = _files(tmp_path)
        large = _large(tmp_path)
        monkeypatch.setattr("vinculum.models.onnx.file._LARGEST_MESSAGE", 0)
        with one_line(ModelError, "not UTF-8", "give another name"):
            convert_file(large, tmp_path / "c\udcff.onnx", opset=13)
        assert _files(tmp_path) == before | {large.name}


def test_optional_inputs_the_value_stays(tmp_path: Path) -> None:
    """Before IR version 4 an initializer is an input too."""
    model = text_model("y = Div(x, w)", "float[2,3] x, float[3] w", "float[2,3] y", ir_version=3, opset=7)
    model.graph.initializer.append(numpy_helper.from_array(np.array([1, 2, 3], np.float32), "w"))
    conversion = convert_file(written(model, tmp_path), tmp_path / "new.onnx", opset=13)
    assert conversion.verification is not None
    assert [tensor.name for tensor in load(tmp_path / "new.onnx").inputs][:1] == ["x"]


@pytest.mark.parametrize("in_a_node", [False, True])
def test_what_one_message_cannot_hold(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, in_a_node: bool) -> None:
    """Tensors that exceed the limit of a message are written to a data file."""
    source = _large(tmp_path, in_a_node=in_a_node)
    monkeypatch.setattr("vinculum.models.onnx.file._LARGEST_MESSAGE", 1000)
    target = tmp_path / "new" / "large.onnx"
    target.parent.mkdir()
    convert_file(source, target, opset=21)
    assert _files(target.parent) == {"large.onnx", "large.onnx.data"}
    assert target.stat().st_size < 1000
    assert load(target).run({"x": WEIGHTS})["y"].tolist() == [1] * WEIGHTS.size


def test_the_ir_version_holds_functions(tmp_path: Path) -> None:
    function = '<opset_import: ["": 7], domain: "d"> F (x) => (y) { y = Neg(x) }'
    source = written(text_model("c = d.F(a)", "float[2] a", "float[2] c", function, opset=7), tmp_path)
    with one_line(AttributeValueError, "cannot have IR version 7; allowed: 8, which its operator sets need, to "):
        convert_file(source, tmp_path / "new.onnx", opset=9, ir_version=7)
