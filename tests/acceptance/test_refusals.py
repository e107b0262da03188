"""Refusals, each command with the line that it prints: the page ``refusals.txt``.

The exit code is 2 unless the command ends with another in a comment. Nothing else is printed, nothing written and no
file changed. ``...`` stands for words of other packages.
"""

from __future__ import annotations

import os
import re
import shlex
from itertools import groupby
from pathlib import Path
from unittest.mock import Mock

import h5py
import numpy as np
import pytest
import zarr
from onnx import TensorProto

from tests.acceptance.conftest import Refused
from tests.acceptance.documents import difference
from tests.analysis import hazardous
from tests.cases import case
from tests.fake_runtime import FakeRuntime, installed
from tests.models.built_models import text_model
from tests.reporting.conformance.reports import report
from vinculum.conformance.expect import as_toml
from vinculum.conformance.run import suite
from vinculum.conformance.run.file import as_json

PAGE = Path(__file__).with_name("refusals.txt").read_text("utf-8")
EACH = re.findall(r"^\$ vinculum (.*?)(?: # exit (\d))?\n(.*)$", PAGE, re.MULTILINE)
COMMANDS = {name: [*each] for name, each in groupby(sorted(EACH), lambda one: one[0].split()[0])}


@pytest.fixture
def workplace(tmp_path: Path, examples: Path) -> None:
    """Write the files that the commands name: models, arrays, and files that are neither."""
    (tmp_path / "examples").symlink_to(examples)
    tensors = "float[N, 3] a, float[N, 1] b", "float[N, 3] q"
    models = {
        "mean": hazardous.masked_mean(),
        "guarded": hazardous.guarded_mean(),
        "shifted": hazardous.shifted(0.25),
        "ratio": text_model("[ratio] c = Div(a, b)", "int64[N] a, int64[N] b", "int64[N] c"),
        "surplus": text_model("y = Relu <surplus = 1> (x)", "float[2] x", "float[2] y", opset=14),
        "nonsense": text_model("y = Nonsense (x)", "float[2] x", "float[2] y"),
        "nobody": text_model("y = Abs (nobody)", "float[2] x", "float[2] y"),
        "set-0": text_model("y = Abs (x)", "float[2] x", "float[2] y"),
        "stretched": text_model("[ratio] q = Div <broadcast = 1> (a, b)", *tensors, opset=6, ir_version=8),
        "axis": text_model("[ratio] q = Div <axis = 1> (a, b)", *tensors, opset=14),
        "huge": text_model("y = Abs (x)", f"float[{2**40}, {2**40}] x", "float[N, M] y"),
    }
    models["set-0"].opset_import[0].version = 0
    models["axis"].graph.node[0].name = "\x1b[2J\r\n\x07[red]\u202e"
    for name, dims in {"lying": (2**62, 2**62), "lying-4": (2**62, 4), "negative": (-1, 4)}.items():
        models[name] = text_model("y = Add (x, w)", "float[2] x", "float[2] y", constants="float[2] w = {1, 2}")
        models[name].graph.initializer[0].dims[:] = dims
    for name, model in models.items():
        (tmp_path / f"{name}.onnx").write_bytes(model.SerializeToString())
    arrays = {
        "a": np.array([[-7, 8, 9], [10, -11, 12]], np.int32),
        "b": np.array([2, -3, 4], np.int32),
        "float": np.ones(3, np.float32),
        "least": np.array([[-(2**31), 7, 7]], np.int32),
        "divisors": np.array([-1, 0, 2], np.int32),
        "zeros": np.array([0, 1, 0], np.int32),
        "zero-matrix": np.array([[1, 0, 1], [1, 1, 1]], np.int32),
        "four": np.ones(4, np.int32),
        "bool": np.ones(3, np.bool),
        "raw": np.ones(3, np.uint16).view("V2"),
        "uint16": np.ones(3, np.uint16),
        "x": np.ones((2, 4), np.float32),
        "mask": np.zeros((2, 4), np.float32),
        "wide": np.ones((2, 5), np.float32),
    }
    for name, array in arrays.items():
        np.save(tmp_path / f"{name}.npy", array)
    (tmp_path / "mean.npy").symlink_to(tmp_path / "x.npy")
    np.savez(tmp_path / "two.npz", first=np.zeros(1), second=np.zeros(1))
    zarr.create_group(tmp_path / "group.zarr").create_array("x", shape=(2,), dtype="i4")
    with h5py.File(tmp_path / "a.h5", "w") as file:
        file["in/x"] = arrays["a"]
        file["text"] = "words"
        file["nothing"] = h5py.Empty("f4")
    for folder in ("folder.npy", "hollow.zarr", "taken/mean.npy"):
        (tmp_path / folder).mkdir(parents=True)
    outside = TensorProto(data_type=TensorProto.FLOAT, dims=[2, 4], data_location=TensorProto.EXTERNAL)
    outside.external_data.add(key="location", value="../x.bin")
    contents = {
        "outside.pb": outside.SerializeToString(),
        "cut.pb": (examples / "div_6_axis" / "A.pb").read_bytes()[:-4],
        "cut.npy": (tmp_path / "b.npy").read_bytes()[:-1],
        "text.npy": b"no array",
        "empty.npy": b"",
        "none.npz": b"PK\x03\x04 and no more",
        "broken.h5": b"no HDF5",
        "empty.json": b"{}",
        "run.json": as_json([report()]).encode(),
        "vinculum.toml": as_toml(report("vinculum")).encode(),
        "twin.toml": as_toml(report("vinculum")).encode(),
        "known.toml": b'backend = "torch"\nlevel = "default"\n',
        "no-reason.toml": b'[[suppress]]\nnode = "mean"\nexpires = 2030-01-01\n',
    }
    for name, content in contents.items():
        (tmp_path / name).write_bytes(content)


@pytest.mark.usefixtures("workplace")
@pytest.mark.parametrize("command", COMMANDS)
def test_each(refused: Refused, command: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(suite, "survey", Mock(side_effect=AssertionError("a refused command runs no case")))
    if command == "divide" and os.name == "nt":
        pytest.skip("stored arrays are divided on Linux and macOS")
    for words, code, line in COMMANDS[command]:
        with case(words), installed(onnxruntime=FakeRuntime):
            problem = difference(line, refused(*shlex.split(words), code=int(code or 2)))
            assert problem is None, problem


def test_the_whole_page_is_read() -> None:
    assert 2 * len(EACH) == len(PAGE.splitlines())
