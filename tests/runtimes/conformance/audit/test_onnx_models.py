"""The audit of ONNX models on real runtimes: they run the models that it rewrites, and it judges their quotients."""

from __future__ import annotations

import platform
from collections.abc import Callable, Sequence
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

import vinculum
from tests.conformance.audit.models import BOTH, FLOAT, ROWS, Row, div, f32, ratio, told, verdict_on
from tests.models.built_models import build
from vinculum.conformance.audit.record import Audit
from vinculum.conformance.run.record import Kind
from vinculum.models.sampling.edge_values import paired
from vinculum.models.sampling.input_sets import edge_sets
from vinculum.models.values import ModelTensor
from vinculum.repair.hardening import harden
from vinculum.sandbox import End
from vinculum.spec import element_types
from vinculum.spec.element_types import by_onnx_code

Audited = Callable[..., Audit]

INT32 = TensorProto.INT32
MODEL = Path(__file__).parents[4] / "examples" / "layer_norm" / "model.onnx"


class TestModels:
    """The runtime's own reader accepts the model that the audit rewrites."""

    @pytest.mark.parametrize(
        ("row", "backend"),
        [pytest.param(row, backend, id=f"{row.what}, {backend}") for row in ROWS for backend in row.backends],
    )
    def test_what_is_told_of_every_division(self, audited: Audited, row: Row, backend: str) -> None:
        found = audited(row.model, backend, row.given)
        assert told(found) == row.expected
        assert (found.changed, found.plain.end, found.finds) == ((), End.RETURNED, False)

    def test_values_that_are_no_numbers(self, audited: Audited) -> None:
        words = TensorProto.STRING
        nodes = [div("a", "a", "q"), helper.make_node("Identity", ["t"], ["s"])]
        nodes.append(helper.make_node("SequenceConstruct", ["q", "a"], ["items"]))
        model = build(nodes, {"a": (FLOAT, (2,)), "t": (words, (1,))}, {"q": (FLOAT, (2,)), "s": (words, (1,))})
        model.graph.output.append(helper.make_tensor_sequence_value_info("items", FLOAT, None))
        found = audited(model, "onnxruntime", {"a": f32([1, 2]), "t": np.array(["x"], object)})
        assert (found.plain.end, found.changed, found.finds) == (End.RETURNED, (), False)

    @pytest.mark.parametrize("backend", BOTH)
    def test_data_in_another_file(self, audited: Audited, tmp_path: Path, backend: str) -> None:
        tensor = numpy_helper.from_array(f32([2, 4]), "b")
        (tmp_path / "data.bin").write_bytes(tensor.raw_data)
        tensor.ClearField("raw_data")
        tensor.data_location = TensorProto.EXTERNAL
        tensor.external_data.add(key="location", value="data.bin")
        model = build([div("a", "b", "c")], {"a": (FLOAT, (2,))}, {"c": (FLOAT, (2,))}, initializers=[tensor])
        found = audited(model, backend, {"a": f32([1, 2])})
        assert (verdict_on(found).kind, found.changed) == (Kind.EXACT, ())


class TestHardened:
    """The divisions inside guards are exact."""

    @pytest.mark.parametrize(
        ("backend", "runtime"),
        [("onnxruntime", "onnxruntime"), ("openvino", "openvino"), ("onnx-reference", "portable")],
    )
    def test_divisions(self, audited: Audited, backend: str, runtime: Any) -> None:
        hardening = harden(ratio(INT32, "N"), runtime)
        a, b = paired(by_onnx_code(INT32), 0, 500)
        found = audited(hardening.model, backend, {"a": a, "b": b})
        assert verdict_on(found).kind in (Kind.EXACT, Kind.UNSPECIFIED)
        assert (found.guarded, found.inner, found.finds) == (True, (), False)


@pytest.mark.skipif(platform.machine() != "x86_64", reason="other processors give MIN")
@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize(("shape", "dies"), [(("N",), True), ((1001,), True), ((5,), True), ((1000,), False)], ids=str)
def test_int32_after_packets_of_4(audited: Audited, seed: int, shape: Sequence[int | str], dies: bool) -> None:
    """MIN/-1 in the remainder after packets of 4 ends ONNX Runtime, whatever the seed."""
    size = shape[0] if isinstance(shape[0], int) else 3
    given = {"a": np.arange(size, dtype=np.int32), "b": np.full(size, 3, np.int32)}
    tensors = [ModelTensor(name, element_types.INT32, tuple(shape)) for name in "ab"]
    found = audited(
        ratio(TensorProto.INT32, *shape), "onnxruntime", given, edges=islice(edge_sets(tensors, {}, seed), 12)
    )
    assert found.finds == dies
    assert (found.edges.died is not None and found.edges.died.end is End.CRASHED) == dies
    assert found.nodes[0].sizes[-1] == (size if isinstance(shape[0], int) else 1001)
    assert not dies or any("divides -2147483648 / -1 at" in sentence for sentence in found.edges.suspects)


def test_a_file_and_a_model_in_memory() -> None:
    of_file, loaded, in_memory = (
        vinculum.audit(model, backend="onnx-reference", dims={"batch": 3}, sets=1)
        for model in (MODEL, vinculum.load(MODEL), onnx.load(MODEL))
    )
    assert (of_file.model, loaded.model, in_memory.model) == (str(MODEL), str(MODEL), "(in memory)")
    for found in (of_file, loaded, in_memory):
        (node,) = found.nodes
        assert node.verdict is not None
        assert (node.verdict.elements, node.shapes, found.edges.sets) == (192, ((3, 4, 16), (3, 4, 1)), 1)
        assert not found.finds
        assert "1 of 1 division exact where observed" in " ".join(str(found).split())


def test_inputs() -> None:
    found = vinculum.audit(MODEL, backend="onnxruntime", inputs={"x": np.ones((1, 4, 16), np.float32)}, sets=0)
    assert found.nodes[0].shapes == ((1, 4, 16), (1, 4, 1))
    with pytest.raises(vinculum.ElementTypeError, match="input 'x' is a list; pass"):
        vinculum.audit(MODEL, backend="onnxruntime", inputs={"x": [1.0]})
    with pytest.raises(vinculum.SpecLookupError, match="'numpy' cannot run models"):
        vinculum.audit(MODEL, backend="numpy")
