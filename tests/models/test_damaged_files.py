"""Damaged files: only our own errors come out, each on one line."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest
from onnx import TensorProto, helper, numpy_helper

from vinculum.errors import VinculumError
from vinculum.models import load

PLACES = 40
FLOATS = (TensorProto.FLOAT, [2])
A = np.array([6, 9], np.float32)


def _onnx(onnx_file: Callable[..., Path], folder: Path) -> Path:
    """Return a model with a function, a subgraph, a constant, raw, typed and external initializers."""
    (folder / "data.bin").write_bytes(A.tobytes())
    external = numpy_helper.from_array(A, "external")
    external.ClearField("raw_data")
    external.data_location = TensorProto.EXTERNAL
    external.external_data.add(key="location", value="data.bin")
    typed = helper.make_tensor("typed", TensorProto.FLOAT, [2], [2, 3])
    result = [helper.make_tensor_value_info("t", *FLOATS)]
    branch = helper.make_graph([helper.make_node("Div", ["a", "typed"], ["t"], "inner")], "g", [], result)
    body = [helper.make_node("Div", ["x", "y"], ["z"], axis=0, broadcast=1)]
    function = helper.make_function("d", "F", ["x", "y"], ["z"], body, [helper.make_opsetid("", 6)])
    nodes = [
        helper.make_node("If", ["yes"], ["i"], then_branch=branch, else_branch=branch),
        helper.make_node("Constant", [], ["k"], value=typed),
        helper.make_node("F", ["i", "k"], ["f"], domain="d"),
        helper.make_node("Div", ["f", "external"], ["c"], "outer"),
    ]
    yes = numpy_helper.from_array(np.array(True), "yes")
    initializers = [yes, typed, external]
    return onnx_file(
        nodes, {"a": FLOATS}, {"c": FLOATS}, initializers=initializers, functions=[function], domains=["d"]
    )


@pytest.fixture
def good(onnx_file: Callable[..., Path], tmp_path: Path) -> Path:
    """Return a model file that is whole."""
    return _onnx(onnx_file, tmp_path)


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
