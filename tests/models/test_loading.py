"""Loading models from files, bytes and messages."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import TensorProto, numpy_helper

import vinculum
from tests.models.built_models import one_line, text_model, written
from vinculum.errors import MissingPackageError, ModelError
from vinculum.models import exported_program, load
from vinculum.models.source import read_source


@pytest.fixture
def model_file(tmp_path: Path) -> Path:
    """Return the path of a model that divides."""
    path = tmp_path / "model.onnx"
    path.write_bytes(text_model("c = Div(a, b)").SerializeToString())
    return path


class TestFormats:
    """The suffix decides, or the content where the suffix says nothing."""

    def test_each(self, model_file: Path) -> None:
        content = model_file.read_bytes()
        message = onnx.load_model_from_string(content)
        other_suffix = model_file.with_suffix(".pb")
        other_suffix.write_bytes(content)
        for model in (model_file, str(model_file), other_suffix, content, message):
            assert [tensor.name for tensor in load(model).inputs] == ["a", "b"]
        assert message == onnx.load_model_from_string(content)

    def test_others(self) -> None:
        allowed = "a path, or an onnx.ModelProto, which onnx.load returns, or a program of torch.export"
        with one_line(ModelError, f"the model is an int; give {allowed}"):
            load(5)  # type: ignore[arg-type]  # the subject of the test
        with one_line(ModelError, "not a readable ONNX file"):
            load(b"no model")


class TestLoaded:
    """Functions give the same results for a loaded model as for its source."""

    @pytest.mark.parametrize("form", ["path", "bytes", "message"])
    def test_every_function_takes_it(self, model_file: Path, form: str) -> None:
        content = model_file.read_bytes()
        forms: dict[str, Any] = {"path": model_file, "bytes": content, "message": onnx.load_model_from_string(content)}
        given = forms[form]
        model = load(given)
        inputs = {"a": np.array([1, 2], np.float32), "b": np.array([3, 0], np.float32)}
        assert load(model).source is model.source is given
        for of in (
            lambda one: [(finding.rule, finding.node) for finding in vinculum.check(one, runs=0).findings],
            lambda one: vinculum.convert(one, opset=7).model.SerializeToString(deterministic=True),
            lambda one: vinculum.harden(one, target="portable").model.SerializeToString(deterministic=True),
            lambda one: vinculum.trace(one, inputs).traces,
        ):
            assert of(model) == of(given)


class TestUnreadable:
    """Bad input: what is not a model file."""

    @pytest.mark.parametrize(
        ("name", "words"),
        [
            *((name, "cannot be read") for name in ("absent.onnx", "absent.xml", "nul\0byte.onnx")),
            ("", "is a directory"),
            ("pipe.onnx", "not a regular file"),
            *((name, f"{name}' is empty; give an ONNX file or") for name in ("model.onnx", "model.xml", "model")),
        ],
    )
    def test_no_file(self, tmp_path: Path, name: str, words: str) -> None:
        os.mkfifo(tmp_path / "pipe.onnx")
        for empty in ("model.onnx", "model.xml", "model"):
            (tmp_path / empty).touch()
        with one_line(ModelError, words):
            load(tmp_path / name)

    @pytest.mark.parametrize("content", [b"hello, world", b"\x00" * 64, b"\xff" * 64, b"\x08\x09", b"PK\x03\x04 zip"])
    @pytest.mark.parametrize("name", ["model.onnx", "model.xml", "model.bin"])
    def test_something_else(self, tmp_path: Path, name: str, content: bytes) -> None:
        (tmp_path / name).write_bytes(content)
        with one_line(MissingPackageError if name == "model.xml" else ModelError):  # OpenVINO reads IR.
            load(tmp_path / name)

    def test_a_program_of_pytorch_where_that_is_not_installed(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(exported_program, "find_spec", lambda _: None)
        path = tmp_path / "mean.pt2"
        path.write_bytes(b"anything")
        words = "its exporter needs torch and onnxscript; install: pip install torch onnxscript"
        with one_line(ModelError, repr(str(path)), words):
            vinculum.check(path)


@pytest.mark.parametrize(
    ("name", "data", "target", "beside", "words"),
    [
        ("model.onnx", "data", "model.onnx", "", "would replace the model"),
        ("model.onnx", "data", "data", "", "would replace the data"),
        ("model.onnx", "data", "link.onnx", "", "would replace the model"),
        ("model.onnx", "new.onnx.data", "new.onnx", ".data", "would replace the data"),
        ("model.onnx", "model.bin", "model.xml", "", "would replace the data"),
        ("model.bin", "data", "model.xml", "", "would replace the model"),
    ],
)
def test_results_spare_what_they_are_made_from(
    tmp_path: Path, name: str, data: str, target: str, beside: str, words: str
) -> None:
    """A result must not overwrite the model's file or its data, also if a link leads there."""
    model = text_model("c = Div(a, w)", "float[2] a")
    model.graph.initializer.append(numpy_helper.from_array(np.ones(2, np.float32), "w"))
    onnx.save_model(model, tmp_path / name, save_as_external_data=True, location=data, size_threshold=0)
    (tmp_path / "link.onnx").symlink_to(tmp_path / name)
    before = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    source = read_source(tmp_path / name)
    with one_line(ModelError, words, "give another -o"), source.writing(tmp_path / target) as staging:
        staging.with_name(f"{staging.name}{beside}").write_bytes(b"new")
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == before


def test_results_spare_the_data_of_a_default(tmp_path: Path) -> None:
    """The tensor may be the default of a function's attribute."""
    function = "F <k: tensor = float {0}> (x) => (y) { y = Constant <value: tensor = @k> () }"
    model = text_model("c = d.F(a)", "float[2] a", "float[2] c", function)
    tensor = model.functions[0].attribute_proto[0].t
    tensor.CopyFrom(TensorProto(data_type=TensorProto.FLOAT, dims=[2], data_location=TensorProto.EXTERNAL))
    tensor.external_data.add(key="location", value="new.onnx")
    (tmp_path / "new.onnx").write_bytes(np.ones(2, np.float32).tobytes())
    source = read_source(written(model, tmp_path))
    with one_line(ModelError, "would replace the data", "give another -o"), source.writing(tmp_path / "new.onnx"):
        pass
