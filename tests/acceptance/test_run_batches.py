"""`vinculum run --batch`: the outputs of a whole run, from stored inputs and into stored outputs."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from tests.stored.stores import put, taken

Vinculum = Callable[..., subprocess.CompletedProcess[str]]
Refused = Callable[..., str]

pytestmark = pytest.mark.skipif(os.name == "nt", reason="stored arrays are divided on Linux and macOS")


@pytest.fixture
def folder(tmp_path: Path, examples: Path) -> Path:
    """Return a folder with a model and ten items of its input."""
    shutil.copy(examples / "layer_norm" / "model.onnx", tmp_path)
    np.save(tmp_path / "x.npy", np.random.default_rng(0).standard_normal((10, 4, 16), np.float32))
    return tmp_path


class TestOutputs:
    """Bit for bit those of `vinculum run` without batches."""

    def test_npy(self, vinculum: Vinculum, folder: Path) -> None:
        arguments = ("run", "model.onnx", "--input", "x=x.npy", "--output")
        assert vinculum(*arguments, "whole", folder=folder).returncode == 0
        done = vinculum(*arguments, "out", "--batch", 4, folder=folder)
        assert (done.returncode, done.stderr) == (0, "")
        lines = done.stdout.splitlines()
        assert lines[0] == "out/y.npy: float32, shape (10, 4, 16)"
        assert lines[1].startswith("10 items in 3 blocks, ")
        assert (folder / "out" / "y.npy").read_bytes() == (folder / "whole" / "y.npy").read_bytes()
        assert [path.name for path in (folder / "out").iterdir()] == ["y.npy"]

    @pytest.mark.parametrize(
        ("name", "kind", "file"),
        [
            ("zarr", "zarr", "y.zarr"),
            ("h5", "hdf5", "y.h5:/y"),
        ],
    )
    def test_others(self, vinculum: Vinculum, folder: Path, name: str, kind: str, file: str) -> None:
        x = np.load(folder / "x.npy")
        whole = vinculum("run", "model.onnx", "--input", "x=x.npy", "--output", "whole", folder=folder)
        assert whole.returncode == 0
        given = f"x={put(folder, 'given', x, kind)}"
        options = ("--output", "out", "--batch", 3, "--format", name, "--json")
        done = vinculum("run", "model.onnx", "--input", given, *options, folder=folder)
        assert done.returncode == 0, done.stderr
        report = json.loads(done.stdout)
        assert (report["items"], report["blocks"], report["outputs"]) == (10, 4, {"y": ["float32", [10, 4, 16]]})
        assert taken(str(folder / "out" / file)).tobytes() == np.load(folder / "whole" / "y.npy").tobytes()


class TestRefused:
    """One line, and nothing is left: no folder either."""

    RUN = ("run", "model.onnx", "--input", "x=x.npy")

    @pytest.mark.parametrize(
        ("options", "words"),
        [
            (("--output", "out", "--workers", "2"), "--format, --workers and --cluster need --batch N"),
            (("--output", "out", "--format", "zarr"), "--format, --workers and --cluster need --batch N"),
            (("--batch", "2"), "--batch needs a file for every input, and --output FOLDER"),
            (("--batch", "2", "--output", "out", "--seed", "0"), "--batch needs a file for every input"),
            (("--batch", "0", "--output", "out"), "--batch"),
            (("--batch", "2", "--output", "out", "--format", "csv"), "--format"),
            (("--batch", "2", "--output", "x.npy"), "'x.npy' is not a folder"),
        ],
    )
    def test_options(self, refused: Refused, folder: Path, options: tuple[str, ...], words: str) -> None:
        assert words in refused(*self.RUN, *options)

    @pytest.mark.parametrize(
        ("given", "words"),
        [
            ("x=none.npy", "none.npy cannot be read or written: No such file or directory"),
            ("x=x.txt", "does not name a stored array"),
            ("x=f8.npy", "input 'x' has element type double"),
            ("x=empty.npy", "the numbers of items differ or are 0 (x: 0)"),
            ("y=x.npy", "the model has no input 'y'"),
        ],
    )
    def test_inputs(self, refused: Refused, folder: Path, given: str, words: str) -> None:
        np.save(folder / "f8.npy", np.ones((3, 4, 16)))
        np.save(folder / "empty.npy", np.ones((0, 4, 16), "f4"))
        line = refused("run", "model.onnx", "--input", given, "--batch", "2", "--output", "out")
        assert words in line

    def test_outputs_that_are_there(self, vinculum: Vinculum, refused: Refused, folder: Path) -> None:
        assert vinculum(*self.RUN, "--batch", "5", "--output", "out", folder=folder).returncode == 0
        assert "y.npy' exists; delete it, or give another place" in refused(
            *self.RUN, "--batch", "5", "--output", "out"
        )
