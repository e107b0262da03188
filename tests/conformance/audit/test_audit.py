"""Audits: every division of a model is found, observed and compared with the exact quotient."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from errno import ENOSPC
from itertools import islice
from typing import Any

import numpy as np
import pytest
from onnx import TensorProto, helper

import vinculum
from tests.conformance.audit.models import ALWAYS, FLOAT, INT64, ROWS, Row, f32, loop, ratio, told, verdict_on
from tests.fake_runtime import (
    DiesOfIntegers,
    DropsAxis,
    EverySecondSessionIsOff,
    FakeRuntime,
    IsOddWithIntegers,
    RaisesAtZero,
    Sleeps,
    installed,
)
from tests.models.built_models import text_model
from vinculum.conformance.audit.record import Audit
from vinculum.conformance.run.record import Kind
from vinculum.errors import ModelError
from vinculum.models.sampling.input_sets import input_sets
from vinculum.models.values import ModelTensor
from vinculum.repair.hardening import harden
from vinculum.sandbox import End
from vinculum.spec.element_types import ElementType, by_onnx_code

Audited = Callable[..., Audit]


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.what)
def test_what_is_told_of_every_division(audited: Audited, row: Row) -> None:
    """Each division is observed, or the reason why not is given; exact divisions pass, and no output changes."""
    found = audited(row.model, FakeRuntime, row.given)
    assert told(found) == row.expected
    assert (found.changed, found.plain.end, found.exposed.end, found.finds) == ((), End.RETURNED, End.RETURNED, False)


def test_what_is_told_besides(audited: Audited) -> None:
    """The record holds the shapes of the operands, the operator version and the hazards in the operands."""
    rows = {row.what: row for row in ROWS}

    def nodes(what: str) -> tuple[Any, ...]:
        return audited(rows[what].model, FakeRuntime, rows[what].given).nodes

    assert [one.shapes for one in nodes("every source of an operand")][1:3] == [((2, 2), (1,)), ((1,), (1,))]
    assert [one.division.operator for one in nodes("operator set 7")] == ["Div-7"]
    assert [one.division.operator for one in nodes("operator set 21")] == ["Div-14"]
    assert nodes("an input with a value of its own")[0].hazards[0].first == (1,)
    assert nodes("that input given")[0].hazards[0].first == (0,)
    assert audited(rows["Div-6 with an axis"].model, DropsAxis, rows["Div-6 with an axis"].given).finds


def test_what_cannot_be_stacked(audited: Audited) -> None:
    """Values that grow with each iteration cannot be stacked: the model runs without exposing them."""
    nodes = f"{loop('c', grows=True)} [outer] d = Div(a, a)"
    model = text_model(nodes, "int64 count, float[1] a", "float[] c, float[1] d", constants=ALWAYS)
    found = told(audited(model, FakeRuntime, {"count": np.array(3), "a": f32([2])}))
    why = "inside the body of a Loop; ONNX Runtime does not run the model with its divisions exposed: refused ("
    assert found.pop("Loop:body inner").startswith(why)
    assert found == {"outer": "exact 1"}


def test_a_runtime_that_does_not_repeat_itself(audited: Audited) -> None:
    """The audit reports that exposing the divisions changed an output."""
    model = ratio(FLOAT, 2)
    found = audited(model, EverySecondSessionIsOff, {"a": f32([3, 4]), "b": f32([2, 2])})
    (sentence,) = found.changed
    assert "output 'c' differs" in sentence


def test_a_full_disk(audited: Audited, monkeypatch: pytest.MonkeyPatch) -> None:

    def full(*_: object) -> None:
        raise OSError(ENOSPC, "No space left on device")

    monkeypatch.setattr("vinculum.conformance.audit.audit.write_model", full)
    model = ratio(FLOAT, 2)
    with pytest.raises(ModelError, match=r"exposed cannot be written: .*No space left"):
        audited(model, FakeRuntime, dict.fromkeys("ab", f32([1, 2])))


class TestZeroAndOverflow:
    """Integer x/0 and MIN/-1: the record says what the runtime did, or how it died and at which node."""

    def test_what_it_dies_of_is_named(self, audited: Audited) -> None:
        nodes = "[harmless] ones = Div(b, b) [fatal] c = Div(a, b) d = Add(c, ones)"
        model = text_model(nodes, "int64[2] a, int64[2] b", "int64[2] d")
        found = audited(model, DiesOfIntegers, {"a": np.array([4, -(2**63)]), "b": np.array([2, -1])})
        assert (found.exposed.end, found.exposed.words, found.finds) == (End.CRASHED, "SIGFPE", True)
        suspect, operands = found.suspects
        assert operands == "'fatal' divides -9223372036854775808 / -1 at (1,), in shape (2,)"
        assert "node 'fatal' (Div-14)" in suspect
        assert "MIN/-1" in suspect
        assert "(1,)" in suspect
        assert [node.verdict for node in found.nodes] == [None, None]

    def test_zero_divisors(self, audited: Audited) -> None:
        model = ratio(INT64, 3)
        given = {"a": np.array([4, 6, 8]), "b": np.array([2, 0, 0])}
        refused = audited(model, RaisesAtZero, given)
        assert (refused.exposed.end, refused.finds) == (End.REFUSED, True)
        assert "first at index (1,)" in refused.suspects[0]
        found = audited(model, FakeRuntime, given)
        assert verdict_on(found).kind is Kind.UNSPECIFIED
        assert [(h.what, h.count, h.first) for h in found.nodes[0].hazards] == [("divisor zero", 2, (1,))]

    def test_a_run_that_takes_too_long(self, audited: Audited) -> None:
        model = ratio(INT64, 1)
        found = audited(model, Sleeps, {"a": np.array([-(2**63)]), "b": np.array([3])}, seconds=1.0)
        assert (found.exposed.end, found.finds) == (End.HUNG, True)


INT32 = TensorProto.INT32
SIZE = 64
SETS = 8


def small(code: int) -> dict[str, Any]:
    dtype = helper.tensor_dtype_to_np_dtype(code)
    return {"a": np.arange(1, SIZE + 1, dtype=dtype), "b": np.full(SIZE, 3, dtype)}


def edges(element_type: ElementType, names: str = "ab") -> Iterator[Mapping[str, Any]]:
    return islice(input_sets([ModelTensor(name, element_type, (SIZE,)) for name in names], 0), 1, SETS + 1)


class TestEdgeCases:
    """Edge cases find wrong quotients that small numbers do not."""

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
        """After a crash the set is run again without 0 and -1 among the divisors."""
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
        """A set that the model refuses, here for an index out of bounds, is not compared."""
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


class TestBackends:
    """Every backend that runs ONNX models can be audited."""

    def test_another_s_backend(self, audited: Audited) -> None:
        """A plug-in gets the inputs in the model's order, and checks that each output has a type."""
        model = text_model("s = Add(a, b) c = Div(s, b)", "float[N] a, float[N] b", "float[N] c")
        backend = "tests.conformance.planted.onnx_backend:Backend[divider=multiplies by the reciprocal]"
        found = audited(model, backend, {"b": np.array([41, 1], np.float32), "a": np.zeros(2, np.float32)})
        assert (found.plain.end, found.plain.words) == (End.RETURNED, "")
        verdict = verdict_on(found)
        assert (verdict.kind, verdict.differing) == (Kind.ULPS, 1)

    def test_inputs_are_drawn_in_the_sizes_that_are_given(self, kept_processes: Any) -> None:
        with pytest.MonkeyPatch.context() as patched, installed(onnxruntime=FakeRuntime):
            patched.setattr("vinculum.conformance.audit.audit.Isolated", kept_processes)
            found = vinculum.audit(ratio(FLOAT, "n"), backend="onnxruntime", dims={"n": 3}, sets=2)
        (node,) = found.nodes
        assert node.shapes == ((3,), (3,))
        assert (found.model, found.edges.sets, found.finds) == ("(in memory)", 2, False)

    def test_an_input_with_a_value_in_the_model(self, audited: Audited) -> None:
        """Another value may be given, but not to OpenVINO, which treats the input as a constant."""
        model = text_model("c = Div(a, b)", "float[1] a, float[1] b = {2.0}", "float[1] c")
        one = np.ones(1, np.float32)
        with installed(onnxruntime=FakeRuntime, openvino=FakeRuntime):
            for given in ({"a": one}, {"a": one, "b": one}):
                assert audited(model, "onnxruntime", given).plain.end is End.RETURNED
            with pytest.raises(ModelError, match="input 'b' has a value in the model, which OpenVINO treats as a"):
                audited(model, "openvino", {"a": one, "b": one})


X = np.random.default_rng(0).standard_normal((3, 8)).astype(np.float32)
NAMES = "then", "else"
WEIGHTS = "float[8] w = {1.0, 2.0, 0.5, 1.0, 2.0, 0.5, 3.0, 1.5}"


class TestExpanded:
    """With --expand the divisions of the bodies are audited under the names of the nodes."""

    @pytest.mark.parametrize("opset", [17, 18, 21, 23])
    def test_layer_norm(self, audited: Audited, opset: int) -> None:
        nodes = "[norm] z = LayerNormalization(x, w) [soft] y = Softmax(z)"
        model = text_model(nodes, "float[3, 8] x", "float[3, 8] y", constants=WEIGHTS, opset=opset)
        found = audited(model, FakeRuntime, {"x": X}, expand=True)
        assert [(node.division.name, node.verdict and node.verdict.kind) for node in found.nodes] == [
            ("norm/Div", Kind.EXACT),
            ("soft/Div", Kind.EXACT),
        ]
        assert (found.expanded, found.plain.end, found.exposed.end) == (2, End.RETURNED, End.RETURNED)
        assert {node.operator for node in found.inner} == {"ReduceMean"}
        assert all(node.name.startswith("norm/ReduceMean") for node in found.inner)

    def test_in_a_function_and_in_a_branch(self, audited: Audited) -> None:
        branches = (f"{n}_branch = {n} () => (float[] {n}) {{ [{n}] {n} = LayerNormalization(s, w) }}" for n in NAMES)
        nodes = f"s = d.Soft(x) y = If(flag) <{', '.join(branches)}>"
        soft = "Soft (p) => (q) { [soft] q = Softmax(p) }"
        model = text_model(nodes, "bool flag, float[3, 8] x", "float[3, 8] y", soft, constants=WEIGHTS)
        found = audited(model, FakeRuntime, {"x": X, "flag": np.array(True)}, expand=True)
        kinds = {(node.division.name, node.division.path): node.verdict and node.verdict.kind for node in found.nodes}
        assert kinds == {
            ("soft__1/Div", ""): Kind.EXACT,
            ("then/Div", "If:then_branch"): Kind.EXACT,
            ("else/Div", "If:else_branch"): None,
        }
        assert found.expanded == 3


class TestHardened:
    """A guard counts as one division; its estimates in floats do not."""

    @pytest.mark.parametrize("runtime", ["onnxruntime", "portable"])
    def test_a_guard_that_is_wrong_is_found(self, audited: Audited, runtime: Any) -> None:
        """The result of a guard is compared with the exact quotient."""
        model = harden(ratio(TensorProto.INT32, "N"), runtime).model
        holder = model.functions[0] if model.functions else model.graph
        for one in holder.node:
            one.op_type = {"Mul": "Add", "And": "Or"}.get(one.op_type, one.op_type)
        divisors = np.resize(np.array([3, -1], np.int32), 9)
        assert audited(model, FakeRuntime, {"a": np.arange(9, dtype=np.int32), "b": divisors}).finds

    @pytest.mark.parametrize("runtime", ["onnxruntime", "portable"])
    def test_a_guard_has_the_name_and_the_place_of_its_division(self, audited: Audited, runtime: Any) -> None:
        branch = "() => (int32[2] x) {{ [{0}] x = Div(a, a) }}"
        nodes = f"c = If(yes) <then_branch = t {branch.format('one')}, else_branch = e {branch.format('other')}>"
        model = harden(
            text_model(f"[main] d = Div(a, a) {nodes}", "bool yes, int32[2] a", "int32[2] c, int32[2] d"), runtime
        )
        found = audited(model.model, FakeRuntime, {"yes": np.array(True), "a": np.ones(2, np.int32)})
        names = {(node.division.path, node.division.name) for node in found.nodes}
        assert names == {("", "main"), ("If:then_branch", "one"), ("If:else_branch", "other")}

    def test_a_remainder_is_named(self, audited: Audited) -> None:
        hardening = harden(ratio(TensorProto.INT32, "N", operator="Mod"), "onnxruntime")
        given = {name: np.ones(2, np.int32) for name in "ab"}
        found = audited(hardening.model, FakeRuntime, given)
        assert [node.name for node in found.inner] == ["ratio"]
        assert not found.nodes
