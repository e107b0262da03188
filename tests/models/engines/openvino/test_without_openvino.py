"""Without the package openvino, an error says in one line what needs it."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from tests.models.built_models import one_line, text_model, written
from vinculum.errors import MissingPackageError, ModelError
from vinculum.models import load
from vinculum.models.convert import convert_file
from vinculum.openvino import exact_divisions

X = np.ones(2, np.float32)


@pytest.fixture
def source(tmp_path: Path) -> Path:
    """Return a model of two nodes."""
    return written(text_model("s = Abs(x) y = Div(s, x)", "float[2] x", "float[2] y"), tmp_path)


def test_the_engine(source: Path) -> None:
    with one_line(MissingPackageError, "the engine 'openvino' needs the package openvino", "pip install"):
        load(source).run({"x": X}, engine="openvino")


def test_a_conversion(source: Path) -> None:
    with one_line(MissingPackageError, "writing an IR needs the package openvino", "pip install"):
        convert_file(source, source.with_name("new.xml"))
    assert not source.with_name("new.xml").exists()


def test_exact_divisions_of_what_is_no_model() -> None:
    with one_line(ModelError, "the model is an int, not an openvino.Model; give the result of"):
        exact_divisions(5)


def test_an_ir(tmp_path: Path) -> None:
    for name, content in (("model.xml", b"<net"), ("model.ir", b"\xef\xbb\xbf\n<net>")):
        (tmp_path / name).write_bytes(content)
        with one_line(MissingPackageError, name, "an OpenVINO IR needs the package openvino", "pip install"):
            load(tmp_path / name)
