"""Damaged files: only our own errors come out, each on one line."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from onnx import TensorProto, numpy_helper

from tests.models.built_models import text_model
from vinculum.errors import VinculumError
from vinculum.models import load

PLACES = 40
A = np.array([6, 9], np.float32)


@pytest.fixture
def good(tmp_path: Path) -> Path:
    """Return a model with a function, a subgraph, a constant, raw, typed and external initializers."""
    (tmp_path / "data.bin").write_bytes(A.tobytes())
    external = TensorProto(name="external", data_type=1, dims=[2], data_location=TensorProto.EXTERNAL)
    external.external_data.add(key="location", value="data.bin")
    branch = "() => (float[2] t) { [inner] t = Div(a, typed) }"
    nodes = f"""i = If(yes) <then_branch = t {branch}, else_branch = e {branch}>
        k = Constant <value = float[2] {{2, 3}}> () f = d.F(i, k) [outer] c = Div(f, external)"""
    function = '<opset_import: ["": 6], domain: "d"> F (x, y) => (z) { z = Div <axis = 0, broadcast = 1> (x, y) }'
    model = text_model(nodes, "float[2] a", "float[2] c", function, constants="float[2] typed = {2, 3}")
    model.graph.initializer.extend([numpy_helper.from_array(np.array(True), "yes"), external])
    path = tmp_path / "model.onnx"
    path.write_bytes(model.SerializeToString())
    return path


def _damaged(content: bytes) -> Iterator[bytes]:
    """Yield the content with bytes cut off, changed, left out, inserted and repeated at many places."""
    for place in range(PLACES):
        start = len(content) * place // PLACES
        before, byte, after = content[:start], content[start], content[start + 1 :]
        yield before
        yield from (before + bytes([other]) + after for other in (0x00, 0xFF, byte ^ 0x01, byte ^ 0x55))
        yield before + after
        yield before + b"\xff" + content[start:]
        yield before + content[start : start + 9] + content[start:]


def _refusal(path: Path) -> str | None:
    """Return the message of the error that loading or running a file raises, None if it runs."""
    try:
        model = load(path)
        model.run({tensor.name: A for tensor in model.inputs})
    except VinculumError as error:
        return str(error)
    return None


def test_the_whole_file_runs(good: Path) -> None:
    divisor = np.array([2, 3], np.float32)
    assert _refusal(good) is None
    assert load(good).run({"a": A})["c"].tolist() == (A / divisor / divisor / A).tolist()


def test_damaged_files_raise_only_our_errors(good: Path) -> None:
    refusals = []
    for content in _damaged(good.read_bytes()):
        good.write_bytes(content)
        refusals.append(_refusal(good))
    assert sum(refusal is not None for refusal in refusals) > len(refusals) // 4
    assert not any("\n" in refusal for refusal in refusals if refusal is not None)
