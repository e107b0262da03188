"""Conversion to IR by OpenVINO: divisions keep their meaning, and both models are compared in OpenVINO."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from onnx import numpy_helper

from tests.models.built_models import one_line, text_model, written
from vinculum.errors import AttributeValueError
from vinculum.models import load
from vinculum.models.convert import convert_file, verification
from vinculum.models.model import Engine

FOLDER = Path(__file__).parents[4] / "examples"
INTS = "int64[n] a, int64[n] b"


@pytest.mark.parametrize(
    "name", ["attention", "layer_norm", "layer_norm_float16", "masked_mean", "rms_norm", "windows", "floor_divide"]
)
def test_examples_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    """The examples become IR, compared bit for bit."""
    monkeypatch.setattr(
        verification, "_SECONDS", 600.0
    )  # Waiting for OpenVINO counts, and is longer on a busy machine.
    source, target = FOLDER / name / "model.onnx", tmp_path / "new.xml"
    found = convert_file(source, target)
    assert found.target == "OpenVINO IR"
    assert found.verification is not None
    assert found.verification.compared > 100
    assert len(load(target).divisions) == len(load(source).divisions)


def test_divisions_truncation(tmp_path: Path) -> None:
    """Only Divides that were a Div of integers are changed, to truncate."""
    source = written(text_model("q = Div(a, b) y = Neg(q) m = Mod(a, b)", INTS, "int64[n] y, int64[n] m"), tmp_path)
    found = convert_file(source, tmp_path / "new.xml")
    assert [change.what for change in found.changes] == ['m_pythondiv="false"']
    given = {"a": np.array([-7, 7]), "b": np.array([2, -2])}
    assert load(tmp_path / "new.xml").run(given)["y"].tolist() == [3, 3]


def test_optional_inputs_the_value_stays(tmp_path: Path) -> None:
    """An initializer that is an input too."""
    model = text_model("y = Div(x, w)", "int64[3] x, int64[3] w", "int64[3] y", ir_version=3)
    model.graph.initializer.append(numpy_helper.from_array(np.array([1, 2, 3]), "w"))
    source = written(model, tmp_path)
    convert_file(source, tmp_path / "new.xml")
    assert load(tmp_path / "new.xml").run({"x": np.array([-7, -7, -7])})["y"].tolist() == [-7, -3, -2]


@pytest.mark.parametrize("engine", ["reference", "onnxruntime"])
def test_refused_a_comparison_in_another_engine(tmp_path: Path, engine: Engine) -> None:
    """The error is one line, and no file is written."""
    source = written(text_model("y = Abs(a)", "int64[n] a", "int64[n] y"), tmp_path)
    words = (f"engine is '{engine}'", "an IR is run by OpenVINO", "omit --engine")
    with one_line(AttributeValueError, *words):
        convert_file(source, tmp_path / "new.xml", engine=engine)
    assert not (tmp_path / "new.xml").exists()
    convert_file(source, tmp_path / "new.xml", engine=engine, check=False)
    convert_file(source, tmp_path / "other.xml", engine="openvino")
