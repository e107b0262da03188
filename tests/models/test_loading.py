"""One path in, one model out."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import onnx
import pytest

import vinculum
from tests.models.built_models import one_line, text_model
from vinculum.errors import ModelError
from vinculum.models import exported_program, load


@pytest.fixture
def model_file(tmp_path: Path) -> Path:
    """Return the path of a model that divides."""
    path = tmp_path / "model.onnx"
    path.write_bytes(text_model("c = Div(a, b)").SerializeToString())
    return path


class TestFormats:
    """The suffix decides, or the content where the suffix says nothing."""

    def test_onnx(self, model_file: Path) -> None:
        assert [tensor.name for tensor in load(model_file).inputs] == ["a", "b"]
        assert [tensor.name for tensor in load(str(model_file)).outputs] == ["c"]

    def test_other_suffixes(self, model_file: Path) -> None:
        renamed = model_file.rename(model_file.with_suffix(".pb"))
        assert load(renamed).inputs[0].name == "a"

    def test_bytes_and_messages(self, model_file: Path) -> None:
        content = model_file.read_bytes()
        message = onnx.load_model_from_string(content)
        for model in (content, message):
            assert [tensor.name for tensor in load(model).inputs] == ["a", "b"]
        assert message.SerializeToString() == onnx.load_model_from_string(content).SerializeToString()
        with pytest.raises(ModelError, match=r"the model is an int; give a path, or an onnx.ModelProto"):
            load(5)  # type: ignore[arg-type]  # the subject of the test
        with pytest.raises(ModelError) as broken:
            load(b"no model")
        assert "\n" not in str(broken.value)

    def test_the_public_name(self, model_file: Path) -> None:
        dividend, divisor = np.array([1, 2], np.float32), np.array([3, 4], np.float32)
        quotient = vinculum.load(model_file).run({"a": dividend, "b": divisor})["c"]
        assert quotient.tolist() == (dividend / divisor).tolist()


class TestUnreadable:
    """Bad input: what is not a model file."""

    @pytest.mark.parametrize("name", ["model.onnx", "model.xml", "model"])
    def test_empty(self, tmp_path: Path, name: str) -> None:
        (tmp_path / name).touch()
        with one_line(ModelError, name, "is empty"):
            load(tmp_path / name)

    @pytest.mark.parametrize("name", ["absent.onnx", "absent.xml", "nul\0byte.onnx"])
    def test_missing(self, tmp_path: Path, name: str) -> None:
        with one_line(ModelError, "cannot be read"):
            load(tmp_path / name)

    def test_a_directory(self, tmp_path: Path) -> None:
        with one_line(ModelError, "is a directory"):
            load(tmp_path)

    def test_a_pipe(self, tmp_path: Path) -> None:
        os.mkfifo(tmp_path / "pipe.onnx")
        with one_line(ModelError, "not a regular file"):
            load(tmp_path / "pipe.onnx")

    @pytest.mark.parametrize("content", [b"hello, world", b"\x00" * 64, b"\xff" * 64, b"\x08\x09", b"PK\x03\x04 zip"])
    @pytest.mark.parametrize("name", ["model.onnx", "model.xml", "model.bin"])
    def test_something_else(self, tmp_path: Path, name: str, content: bytes) -> None:
        (tmp_path / name).write_bytes(content)
        with one_line(ModelError):
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
