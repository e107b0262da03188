"""Divisions of integers that an exporter has written in floats: found, told, and divided as integers on request."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from onnx import ModelProto, NodeProto, TensorProto, checker, helper, numpy_helper

from tests.fake_runtime import RefusesFaults
from tests.repair.fakes import TOLERATED, outcomes
from vinculum.repair import Hardening, Runtime, harden

N = helper.make_node
I32, I64, U64, I16, FLOAT = (
    *(TensorProto.INT32, TensorProto.INT64, TensorProto.UINT64, TensorProto.INT16),
    TensorProto.FLOAT,
)
Build = Callable[..., ModelProto]
A = np.array([16777217, -16777217, 2**62 + 3, -7, 7, 5, -(2**63)])
B = np.array([1, 1, 3, 2, -2, 0, -1])
TRUNCATED = [16777217, -16777217, (2**62 + 3) // 3, -3, -3, 0, -(2**63)]
FLOORED = [16777217, -16777217, (2**62 + 3) // 3, -4, -4, 0, -(2**63)]

CASTS = (N("Cast", ["a"], ["x"], to=FLOAT), N("Cast", ["b"], ["y"], to=FLOAT))
RATIO = N("Div", ["x", "y"], ["q"], "ratio")
PLAIN = [*CASTS, RATIO, N("Cast", ["q"], ["c"], "back", to=I64)]
FLOOR = [*CASTS, RATIO, N("Floor", ["q"], ["f"]), N("Cast", ["f"], ["c"], "back", to=I64)]
SIGNED_FLOOR = [
    *(*CASTS, RATIO, N("Abs", ["q"], ["m"]), N("Floor", ["m"], ["f"]), N("Sign", ["q"], ["s"])),
    *(N("Mul", ["f", "s"], ["t"]), N("Cast", ["t"], ["c"], "back", to=I64)),
]
FORMS = [(PLAIN, TRUNCATED), (SIGNED_FLOOR, TRUNCATED), (FLOOR, FLOORED)]


def model_of(onnx_model: Build, nodes: list[NodeProto], a: int = I64, b: int = I64, c: int = I64) -> ModelProto:
    """Return a model of a, b and c."""
    return onnx_model(nodes, {"a": (a, ("n",)), "b": (b, ("n",))}, {"c": (c, ("n",))})


def notes(hardening: Hardening) -> list[str | None]:
    """Return what is noted of each division."""
    return [decision.note for decision in hardening.decisions]


def operators(model: ModelProto) -> list[str]:
    """Return the operators in a graph."""
    return [node.op_type for node in model.graph.node]


class TestFound:
    """Without the option they are named, and left as they are."""

    @pytest.mark.parametrize(("nodes", "expected"), FORMS)
    def test_forms(self, onnx_model: Build, nodes: list[NodeProto], expected: list[int]) -> None:
        model = model_of(onnx_model, nodes)
        hardening = harden(model, "onnxruntime")
        (note,) = notes(hardening)
        assert note == (
            "the exporter wrote a division of int64 in floats, which is wrong above 2^24; fix it with --fix-exported"
        )
        assert hardening.model == model

    def test_beside_what_else_is_noted(self, onnx_model: Build) -> None:
        (note,) = notes(harden(model_of(onnx_model, FORMS[0][0]), "portable"))
        assert note is not None
        assert note.startswith("on OpenVINO its quotients are not all correctly rounded; the exporter wrote")

    @pytest.mark.parametrize(
        ("nodes", "a", "b"),
        [
            (PLAIN, I16, I16),  # Floats hold each, and its quotients are right.
            (PLAIN, FLOAT, I64),
            (PLAIN, U64, I64),  # No type holds both.
            ([CASTS[0], N("Relu", ["b"], ["y"]), RATIO, PLAIN[-1]], I64, FLOAT),
            ([*CASTS, RATIO, N("Ceil", ["q"], ["f"]), N("Cast", ["f"], ["c"], to=I64)], I64, I64),
            ([*CASTS, N("Mul", ["x", "y"], ["q"]), PLAIN[-1]], I64, I64),
        ],
    )
    def test_others_are_none(self, onnx_model: Build, nodes: list[NodeProto], a: int, b: int) -> None:
        model = model_of(onnx_model, nodes, a, b)
        assert not any(notes(harden(model, "onnxruntime")))
        assert harden(model, "onnxruntime", fix_exported=True).model == model


class TestMended:
    """On request they are divisions of integers, guarded as any."""

    @pytest.mark.parametrize(("nodes", "expected"), FORMS)
    @pytest.mark.parametrize("runtime", ["onnxruntime", "portable"])
    def test_forms(self, onnx_model: Build, nodes: list[NodeProto], expected: list[int], runtime: Runtime) -> None:
        model = model_of(onnx_model, nodes)
        model.graph.node[2].doc_string = "model.py, line 7"
        hardening = harden(model, runtime, fix_exported=True)
        (decision,) = hardening.decisions
        assert (decision.name, decision.rewritten) == ("ratio", True)
        assert decision.why.startswith("the exporter wrote a division of int64 in floats, which is wrong above 2^24; ")
        assert not {"Floor", "Abs", "Sign"} & set(operators(hardening.model))
        assert [n.doc_string for n in hardening.model.graph.node if n.output[0] == "c"] == ["model.py, line 7"]
        for behaviour in TOLERATED[runtime]:
            (outcome,) = outcomes(behaviour, [(hardening.model, {"a": A, "b": B})])
            assert outcome[0].tolist() == expected

    def test_a_constant_divisor_needs_no_guard(self, onnx_model: Build) -> None:
        model = model_of(onnx_model, [CASTS[0], *SIGNED_FLOOR[2:]])
        model.graph.initializer.append(numpy_helper.from_array(np.array(3, np.float32), "y"))
        hardening = harden(model, "onnxruntime", fix_exported=True)
        assert operators(hardening.model) == ["Div"]
        assert [(d.what, d.rewritten) for d in hardening.decisions] == [("divided as integers", True)]
        (outcome,) = outcomes(RefusesFaults, [(hardening.model, {"a": A, "b": B})])
        assert outcome[0].tolist() == [int(abs(a) // 3 * (-1 if a < 0 else 1)) for a in A.tolist()]

    @pytest.mark.parametrize("constant", [0.5, np.nan, np.inf, 2.0**40])
    def test_a_constant_that_is_no_such_integer(self, onnx_model: Build, constant: float) -> None:
        model = model_of(onnx_model, [CASTS[0], RATIO, PLAIN[-1]], I32)
        model.graph.initializer.append(numpy_helper.from_array(np.array(constant, np.float32), "y"))
        assert harden(model, "onnxruntime", fix_exported=True).model == model

    def test_types_that_differ(self, onnx_model: Build) -> None:
        nodes = [*PLAIN[:-1], N("Cast", ["q"], ["c"], "back", to=I32)]
        model = model_of(onnx_model, nodes, I32, I64, I32)
        hardening = harden(model, "onnxruntime", fix_exported=True)
        assert operators(hardening.model) == ["Cast", "Div_int64", "Cast"]
        inputs = {"a": np.array([16777217], np.int32), "b": np.array([1])}
        (outcome,) = outcomes(RefusesFaults, [(hardening.model, inputs)])
        assert outcome[0].tolist() == [16777217]

    def test_what_others_use_stays(self, onnx_model: Build) -> None:
        model = model_of(onnx_model, [*PLAIN, N("Neg", ["q"], ["z"])])
        model.graph.output.append(helper.make_tensor_value_info("z", FLOAT, ("n",)))
        hardening = harden(model, "onnxruntime", fix_exported=True)
        checker.check_model(hardening.model, full_check=True)
        assert operators(hardening.model) == ["Cast", "Cast", "Div", "Div_int64", "Neg"]
        used = [node.name for node in hardening.model.graph.node if node.name]
        assert len(set(used)) == len(used)

    def test_two_of_one_division(self, onnx_model: Build) -> None:
        nodes = [*FLOOR, *SIGNED_FLOOR[3:]]
        for node, name in zip(nodes[3:5], ("g", "d"), strict=True):
            copied = NodeProto()
            copied.CopyFrom(node)
            copied.output[0] = name
            nodes[nodes.index(node)] = copied
        nodes[4].input[0] = "g"
        model = model_of(onnx_model, nodes)
        model.graph.output.append(helper.make_tensor_value_info("d", I64, ("n",)))
        hardening = harden(model, "onnxruntime", fix_exported=True)
        assert operators(hardening.model) == ["FloorDiv_int64", "Div_int64"]
        (outcome,) = outcomes(RefusesFaults, [(hardening.model, {"a": A, "b": B})])
        assert [output.tolist() for output in outcome] == [TRUNCATED, FLOORED]

    def test_in_a_branch(self, onnx_model: Build) -> None:
        branch = helper.make_graph(FLOOR, "branch", [], [helper.make_tensor_value_info("c", I64, ("n",))])
        choice = N("If", ["yes"], ["c"], then_branch=branch, else_branch=branch)
        model = model_of(onnx_model, [choice])
        model.graph.input.append(helper.make_tensor_value_info("yes", TensorProto.BOOL, ()))
        hardening = harden(model, "onnxruntime", fix_exported=True)
        (outcome,) = outcomes(RefusesFaults, [(hardening.model, {"a": A, "b": B, "yes": np.array(True)})])
        assert outcome[0].tolist() == FLOORED
