"""The audit on real runtimes: what it exposes they run, and what they divide exactly it calls exact."""

from __future__ import annotations

import platform
from collections.abc import Callable, Sequence
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from onnx import TensorProto, helper, numpy_helper

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


class TestModels:
    """Their own reader takes what the audit exposes."""

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
    """Guards are exact where they stand."""

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
    """ONNX Runtime dies of MIN/-1 where it falls into the remainder after packets: no seed hides that."""
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
