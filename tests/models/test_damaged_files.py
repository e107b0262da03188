"""Damaged files: only our own errors come out, each on one line."""

from __future__ import annotations

from collections.abc import Callable, Iterator
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


def _truncated(content: bytes) -> Iterator[bytes]:
    for place in range(PLACES):
        yield content[: len(content) * place // PLACES]


def _flipped(content: bytes) -> Iterator[bytes]:
    rng = np.random.default_rng(0)
    for place in range(PLACES):
        start = len(content) * place // PLACES
        for byte in (0x00, 0xFF, int(rng.integers(256)), content[start] ^ 1):
            yield content[:start] + bytes([byte]) + content[start + 1 :]


def _spliced(content: bytes) -> Iterator[bytes]:
    for place in range(PLACES):
        start = len(content) * place // PLACES
        yield content[:start] + content[start + 1 :]
        yield content[:start] + b"\xff" + content[start:]
        yield content[:start] + content[start : start + 9] + content[start:]


def _refusal(path: Path) -> str | None:
    """Return the message of the error that loading or running a file raises, None if it runs."""
    try:
        model = load(path)
        model.run({tensor.name: A for tensor in model.inputs})
    except VinculumError as error:
        return str(error)
    return None


class TestDamaged:
    """Bad input: a truncated or malformed ONNX file."""

    def test_the_whole_file_runs(self, good: Path) -> None:
        divisor = np.array([2, 3], np.float32)
        expected = A / divisor / divisor / A
        assert _refusal(good) is None
        assert load(good).run({"a": A})["c"].tolist() == expected.tolist()

    @pytest.mark.parametrize("damage", [_truncated, _flipped, _spliced])
    def test_only_our_errors_come_out(self, good: Path, damage: Callable[[bytes], Iterator[bytes]]) -> None:
        refusals = []
        for content in damage(good.read_bytes()):
            good.write_bytes(content)
            refusals.append(_refusal(good))
        assert sum(refusal is not None for refusal in refusals) > PLACES // 2
        assert not any("\n" in refusal for refusal in refusals if refusal is not None)
