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


def _ir(ir_file: Callable[..., Path]) -> Path:
    """Return a model of all five layer types."""
    layers = (
        '<layer id="0" name="a" type="Parameter" version="opset1"><data shape="?" element_type="f32"/>'
        '<output><port id="0"><dim>-1</dim></port></output></layer>'
        '<layer id="1" name="w" type="Const" version="opset1"><data element_type="i4" shape="2" offset="0" size="1"/>'
        '<output><port id="0"><dim>2</dim></port></output></layer>'
        '<layer id="2" name="v" type="Convert" version="opset1"><data destination_type="f32"/>'
        '<input><port id="0"/></input><output><port id="1"/></output></layer>'
        '<layer id="3" name="d" type="Divide" version="opset1"><data auto_broadcast="numpy" m_pythondiv="true"/>'
        '<input><port id="0"/><port id="1"/></input><output><port id="2" names="c"/></output></layer>'
        '<layer id="4" name="r" type="Result" version="opset1"><input><port id="0"/></input></layer>'
    )
    ends = [("0", "0", "3", "0"), ("1", "0", "2", "0"), ("2", "1", "3", "1"), ("3", "2", "4", "0")]
    edges = "".join(f'<edge from-layer="{a}" from-port="{b}" to-layer="{c}" to-port="{d}"/>' for a, b, c, d in ends)
    return ir_file(layers, edges, b"\x32")


@pytest.fixture(params=["onnx", "ir"])
def good(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    """Return a model file that is whole."""
    if request.param == "onnx":
        return _onnx(request.getfixturevalue("onnx_file"), tmp_path)
    return _ir(request.getfixturevalue("ir_file"))


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
    """Bad input: a truncated or malformed ONNX or XML file."""

    def test_the_whole_file_runs(self, good: Path) -> None:
        divisor = np.array([2, 3], np.float32)
        expected = A / np.array([2, 3]) if good.suffix == ".xml" else A / divisor / divisor / A
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
