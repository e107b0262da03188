"""Models with large external data are converted and hardened in little memory."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper

from tests.processes import run
from vinculum.models import load

MIB = 1 << 20
PEAK = """
import resource, sys
from vinculum.cli.main import main
import vinculum.models.convert, vinculum.repair
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
sys.argv = ["vinculum", *sys.argv[1:]]
try:
    main()
except SystemExit as end:
    assert not end.code, end.code
print("KiB", resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)
"""


def _model(folder: Path, size: int) -> Path:
    """Return a model whose external data have so many bytes, in a sparse file."""
    with (folder / "weights").open("wb") as file:
        file.truncate(size)
        file.seek(size - 4)
        file.write(np.float32(2).tobytes())
    ends = [
        helper.make_tensor_value_info(*end) for end in (("x", TensorProto.FLOAT, [1]), ("y", TensorProto.FLOAT, [1]))
    ]
    nodes = [helper.make_node("Gather", ["w", "last"], ["d"]), helper.make_node("Div", ["x", "d"], ["y"])]
    graph = helper.make_graph(nodes, "g", ends[:1], ends[1:])
    graph.initializer.add(name="last", data_type=TensorProto.INT64, dims=[1], int64_data=[-1])
    tensor = graph.initializer.add(name="w", data_type=TensorProto.FLOAT, dims=[size // 4])
    tensor.data_location = TensorProto.EXTERNAL
    for key, value in (("location", "weights"), ("length", str(size))):
        tensor.external_data.add(key=key, value=value)
    path = folder / "model.onnx"
    path.write_bytes(
        helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8).SerializeToString()
    )
    return path


def _peak(*arguments: str) -> int:
    """Return the peak memory of a command above that of its imports, in bytes."""
    done = run([sys.executable, "-c", PEAK, *arguments])
    assert done.returncode == 0, done.stderr
    return int(done.stdout.rpartition("KiB ")[2]) << 10


@pytest.mark.skipif(sys.platform != "linux", reason="other systems count memory in other units")
@pytest.mark.parametrize(
    "mebibytes", [256, pytest.param(2200, marks=pytest.mark.exhaustive)], ids=["large", "larger than a message"]
)
@pytest.mark.parametrize("command", ["convert --opset 17 --no-verify", "harden --for onnxruntime"])
def test_memory_does_not_grow_with_the_model(tmp_path: Path, mebibytes: int, command: str) -> None:
    """Data that the command does not need are not read."""
    source, target = _model(tmp_path, mebibytes * MIB), tmp_path / "new" / "model.onnx"
    target.parent.mkdir()
    name, *options = command.split()
    assert _peak(name, str(source), *options, "-o", str(target)) < 150 * MIB
    data = target.with_name("model.onnx.data")
    assert data.stat().st_size == mebibytes * MIB
    stored = onnx.load(target, load_external_data=False).graph.initializer
    assert [len(tensor.external_data) for tensor in stored] == [0, 3]
    if mebibytes < 1000:
        assert load(target).run({"x": np.ones(1, np.float32)})["y"].tolist() == [0.5]
    (source.parent / "weights").unlink()
    data.unlink()
