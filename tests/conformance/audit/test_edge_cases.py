"""Sets of edge cases are run besides the inputs, and what they show is told apart."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from itertools import islice
from typing import Any

import numpy as np
from onnx import TensorProto, helper

from tests.conformance.audit.models import ratio, verdict_on
from tests.fake_runtime import DiesOfIntegers, FakeRuntime, IsOddWithIntegers, MultipliesByReciprocal
from tests.models.built_models import text_model
from vinculum.conformance.audit.record import Audit
from vinculum.conformance.run.verdict import Kind
from vinculum.models.sampling.input_sets import input_sets
from vinculum.models.values import ModelTensor
from vinculum.sandbox import End
from vinculum.spec.element_types import ElementType, by_onnx_code

Audited = Callable[..., Audit]

INT32, INT64 = TensorProto.INT32, TensorProto.INT64
SIZE = 64
SETS = 8


def small(code: int) -> dict[str, Any]:
    dtype = helper.tensor_dtype_to_np_dtype(code)
    return {"a": np.arange(1, SIZE + 1, dtype=dtype), "b": np.full(SIZE, 3, dtype)}


def edges(element_type: ElementType, names: str = "ab") -> Iterator[Mapping[str, Any]]:
    return islice(input_sets([ModelTensor(name, element_type, (SIZE,)) for name in names], 0), 1, SETS + 1)


class TestEdgeCases:
    """What small numbers do not show, the ends of the type and the neighbours of powers of 2 do."""

    def test_what_only_large_numbers_show(self, audited: Audited) -> None:
        model = ratio(INT32, SIZE)
        found = audited(model, IsOddWithIntegers, small(INT32))
        assert not found.finds
        found = audited(model, IsOddWithIntegers, small(INT32), edges=edges(by_onnx_code(INT32)))
        (node,) = found.nodes
        assert node.verdict is not None
        assert node.edges is not None
        assert (node.verdict.kind, node.edges.kind) == (Kind.EXACT, Kind.WRONG_VALUE)
        assert node.edges.differing > 20
        assert SETS * SIZE * 0.8 < node.edges.elements < SETS * SIZE  # Those by 0 are open.
        assert (found.edges.sets, found.edges.compared, found.finds) == (SETS, SETS, True)

    def test_what_kills_is_told_and_the_rest_compared(self, audited: Audited) -> None:
        """It dies of integers divided by 0 and of MIN/-1: then without them."""
        found = audited(ratio(INT64, SIZE), DiesOfIntegers, small(INT64), edges=edges(by_onnx_code(INT64)))
        (node,) = found.nodes
        assert node.edges is not None
        assert (node.edges.kind, found.edges.compared, found.edges.skipped) == (Kind.EXACT, SETS, None)
        assert node.edges.elements == SETS * SIZE
        assert found.edges.died is not None
        assert (found.edges.died.end, found.edges.died.words) == (End.CRASHED, "SIGFPE")
        assert "node 'ratio' (Div-14)" in found.edges.suspects[0]
        assert "MIN/-1" in found.edges.suspects[0]
        assert found.finds

    def test_a_refusal_is_no_finding(self, audited: Audited) -> None:
        """Edge values are no places of anything: the model does not take them, and nothing is compared there."""
        declared = f"int64[{SIZE}]"
        model = text_model("g = Gather(a, i) c = Div(g, g)", f"{declared} a, {declared} i", f"{declared} c")
        given = {"a": np.full(SIZE, 7), "i": np.zeros(SIZE, np.int64)}
        sets = [{"a": np.full(SIZE, 7), "i": np.full(SIZE, 2**40)}, given]
        found = audited(model, FakeRuntime, given, edges=sets)
        (node,) = found.nodes
        assert node.edges is not None
        assert (node.edges.elements, found.edges.sets, found.edges.compared) == (SIZE, 2, 1)
        assert found.edges.skipped is not None
        assert "is out of bounds" in found.edges.skipped.words
        assert not found.finds

    def test_what_cannot_be_drawn(self, audited: Audited) -> None:
        huge = input_sets([ModelTensor("a", by_onnx_code(INT64), (2**28,))], 0)
        found = audited(ratio(INT32, SIZE), "vinculum", small(INT32), edges=huge)
        assert (found.edges.sets, found.finds) == (0, False)

    def test_several_runs_are_one_verdict(self, audited: Audited) -> None:
        ones, odd = np.ones(3, np.float32), np.array([41, 47, 55], np.float32)
        sets = [{"a": ones, "b": ones}, {"a": odd, "b": odd}, {"a": odd, "b": odd}]
        (node,) = audited(ratio(TensorProto.FLOAT, 3), MultipliesByReciprocal, sets[0], edges=sets).nodes
        assert node.edges is not None
        assert (node.edges.kind, node.edges.elements, node.edges.differing) == (Kind.ULPS, 9, 6)
        assert (node.edges.ulps, node.edges.largest) == ({0: 6}, 1)
        assert node.alone is not None
        assert node.alone.kind is Kind.ULPS


class TestBackends:
    """Every backend that runs ONNX models can be audited."""

    def test_another_s_backend(self, audited: Audited) -> None:
        """It takes its inputs in the model's order, and checks that each output has a type."""
        model = text_model("s = Add(a, b) c = Div(s, b)", "float[N] a, float[N] b", "float[N] c")
        backend = "tests.conformance.planted.onnx_backend:Backend[divider=multiplies by the reciprocal]"
        found = audited(model, backend, {"b": np.array([41, 1], np.float32), "a": np.zeros(2, np.float32)})
        assert (found.plain.end, found.plain.words) == (End.RETURNED, "")
        verdict = verdict_on(found)
        assert (verdict.kind, verdict.differing) == (Kind.ULPS, 1)
