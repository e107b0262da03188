"""`Model.run(engine="onnxruntime")` with fake packages that divide wrongly or crash: this package does every division.

tests/runtimes runs `TestDivisions` and `TestValues` with the real package.
"""

from __future__ import annotations

from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from onnx import ModelProto, TensorProto, helper, numpy_helper

from tests import fake_runtime
from tests.fake_runtime import FakeRuntime, installed
from tests.models.built_models import one_line, text_model
from vinculum.errors import (
    AttributeValueError,
    DivisionByZeroError,
    ElementTypeError,
    IntegerOverflowError,
    MissingPackageError,
    ModelError,
)
from vinculum.models import DivisionRecord, Model, load
from vinculum.models.engines.onnxruntime import running, session
from vinculum.models.execution import RunContext
from vinculum.ops.policies import Policies

A, B = np.array([6, -9, 1], np.float32), np.array([2, 3, 7], np.float32)
ONES = np.array([1], np.int32)
INTS = "int32[n] a, int32[n] b"
WRONG = (fake_runtime.DiesOfIntegers, fake_runtime.Floors, fake_runtime.InvertsAndNarrows)


@pytest.fixture(autouse=True, params=WRONG, ids=lambda behaviour: behaviour.__name__)
def package(request: pytest.FixtureRequest) -> Iterator[None]:
    """Install a fake package whose own divisions are wrong."""
    with installed(onnxruntime=request.param):
        yield


@pytest.fixture
def integers() -> Model:
    """Return a model that divides the negative of a by b."""
    return load(text_model("s = Neg(a) q = Div(s, b)", INTS, "int32[n] q"))


def both(model: Model, inputs: Any, **options: Any) -> tuple[dict[str, NDArray[Any]], list[DivisionRecord]]:
    """Run a model in ONNX Runtime, and check that outputs and divisions equal those of the reference engine."""
    wanted_records: list[DivisionRecord] = []
    records: list[DivisionRecord] = []
    wanted = model.run(inputs, observer=wanted_records.append, **options)
    outputs = model.run(inputs, observer=records.append, engine="onnxruntime", **options)
    assert list(outputs) == list(wanted)
    for name, array in outputs.items():
        np.testing.assert_array_equal(array, wanted[name], strict=True)
        assert array.flags.writeable
        assert array.dtype == object or array.tobytes() == wanted[name].tobytes()
    divided = [
        sorted((r.division.label, r.divisor.tobytes(), r.quotient.tobytes()) for r in group)
        for group in (records, wanted_records)
    ]
    assert divided[0] == divided[1]
    return outputs, records


class TestDivisions:
    """Divisions under every policy, with observers and errors, also in branches, loops and functions."""

    @pytest.mark.parametrize("zero_divisor", ["zero", "saturate"])
    @pytest.mark.parametrize("overflow", ["wrap", "saturate"])
    def test_the_policies(self, integers: Model, zero_divisor: str, overflow: str) -> None:
        inputs = {"a": np.array([-7, 7, -(2**31), 0], np.int32), "b": np.array([0, 2, -1, 0], np.int32)}
        both(integers, inputs, zero_divisor=zero_divisor, overflow=overflow)

    def test_their_errors_name_the_node(self, integers: Model) -> None:
        inputs = {"a": np.array([1, -(2**31)], np.int32), "b": np.array([0, -1], np.int32)}
        with pytest.raises(DivisionByZeroError, match=r"^node 'q' \(Div-14\): 1 of 2 ") as zero:
            integers.run(inputs, engine="onnxruntime")
        assert zero.value.first_index == (0,)
        with pytest.raises(IntegerOverflowError, match=r"^node 'q' \(Div-14\)"):
            integers.run(inputs, zero_divisor="zero", overflow="raise", engine="onnxruntime")

    def test_one_whose_quotient_nobody_uses(self) -> None:
        model = load(text_model("s = Neg(a) unused = Div(s, b) y = Abs(a)", INTS, "int32[n] y"))
        assert len(both(model, {"a": ONES, "b": ONES})[1]) == 1
        with pytest.raises(DivisionByZeroError):
            model.run({"a": ONES, "b": 0 * ONES}, engine="onnxruntime")

    def test_an_observer_may_stop_the_run(self, integers: Model) -> None:
        def stop(record: DivisionRecord) -> None:
            raise LookupError("enough")

        with pytest.raises(LookupError, match=r"^enough$"):
            integers.run({"a": ONES, "b": ONES}, observer=stop, engine="onnxruntime")

    @pytest.mark.parametrize("choice", [True, False])
    def test_in_branches_and_loops(self, choice: bool) -> None:
        then = "() => (float[] t) { m = Neg(s) t = Div(m, w) }"
        other = "() => (float[] t) { t = Mul(s, w) }"
        body = "(int64 i, bool go, float[] x) => (bool on, float[] z) { z = Div(x, w) on = Identity(go) }"
        nodes = f"""
            s = Abs(a)
            c = If(k) <then_branch = then {then}, else_branch = other {other}>
            l = Loop(n, , c) <body = body {body}>
            y = Neg(l)
        """
        constants = "float[3] w = {2, 3, 7}, int64 n = {3}"
        model = load(text_model(nodes, "float[n] a, bool k", "float[n] y", constants=constants))
        _, records = both(model, {"a": A, "k": np.array(choice)})
        assert [r.division.path for r in records] == ["If:then_branch"][:choice] + ["Loop:body"] * 3

    def test_quotients_of_float16_are_outputs(self) -> None:
        """Otherwise ONNX Runtime would compute them in float32, beside nodes that it lacks in float16."""
        nodes = "p = Div(a, b) q = Div(p, b) f = Cast <to = 1> (q) r = Div(f, f)"
        model = load(text_model(nodes, "float16[n] a, float16[n] b", "float16[n] q, float[n] r"))
        program: Any = model._program.in_engine("onnxruntime")
        assert [value.name for value in program._model(frozenset()).graph.output] == ["q", "r", "p"]

    def test_in_functions(self) -> None:
        """The function imports an older operator set, and its values have the names of outer values."""
        function = '<opset_import: ["": 13], domain: "d"> F (p, w) => (q) { t = Neg(p) q = Div(t, w) }'
        branch = "() => (float[] u) { u = d.F(t__1, a) }"
        nodes = (
            f"r = d.F(a, t) v = If(k) <then_branch = t1 {branch}, else_branch = e {branch}> w = Add(r, v) y = Add(w, q)"
        )
        constants = "float[3] t = {6, -9, 1}, float[3] t__1 = {2, 3, 7}, float[3] q = {2, 3, 7}"
        model = load(text_model(nodes, "float[n] a, bool k", "float[n] y", function, constants=constants))
        assert len(both(model, {"a": B, "k": np.array(True)})[1]) == 2


class TestValues:
    """Constants, strings, sequences, scalars, and values of any name."""

    def test_constants_and_names(self) -> None:
        proto = text_model("m = Mul(c, large) [same] n = Div(m, a) [same] o = Sub(n, large)", "float[] a", "float[] o")
        for name, values in (("c", np.arange(1, 5001)), ("large", np.arange(5000, 0, -1))):
            proto.graph.initializer.append(numpy_helper.from_array(values.astype(np.float32), name))
        renamed(proto, {"m": "x/y:0", "n": "'q'", "o": "%y\n"})
        model = load(proto)
        for a in (np.array(3, np.float32), np.full((2, 1), 7, np.float32), np.empty((0, 1), np.float32)):
            both(model, {"a": a})

    def test_strings_and_sequences(self) -> None:
        nodes = """
            t = Identity(s) q = Reciprocal(a) u = SequenceConstruct(q, a) r = Reciprocal(q)
            v = SequenceInsert(u, r) y = ConcatFromSequence <axis = 0> (v)
        """
        model = load(text_model(nodes, "string[n] s, float[m] a", "string[n] t, float[m] y"))
        both(model, {"s": np.array(["ä", "b"], object), "a": A})

    def test_a_sequence_as_output(self) -> None:
        model = load(text_model("s = SequenceConstruct(a, b)", "float[n] a, float[n] b", "seq(float[]) s"))
        (items,) = model.evaluate({"a": A, "b": B}, RunContext(Policies()), "onnxruntime").values()
        assert isinstance(items, list)
        assert [item.tolist() for item in items] == [A.tolist(), B.tolist()]

    @pytest.mark.parametrize(
        ("operator", "kind", "value", "output"),
        [("SequenceLength", "seq(float[n])", [], 0), ("OptionalHasElement", "optional(float[n])", None, False)],
    )
    def test_no_items_and_no_value(self, operator: str, kind: str, value: Any, output: object) -> None:
        model = load(text_model(f"y = {operator}(a)", f"{kind} a", "bool y" if value is None else "int64 y", opset=18))
        assert model.evaluate({"a": value}, RunContext(Policies()), "onnxruntime") == {"y": output}


def renamed(proto: ModelProto, names: dict[str, str]) -> None:
    """Give values of a model other names."""
    for node in proto.graph.node:
        for group in (node.input, node.output):
            group[:] = [names.get(name, name) for name in group]
    for value in proto.graph.output:
        value.name = names.get(value.name, value.name)


class TestRefusals:
    """Models that cannot be run: the error is one line with the node or the value, the reason, and advice."""

    @pytest.mark.parametrize(
        ("nodes", "parts"),
        [
            ("y = d.Foo(a)", ("; try the reference engine",)),
            ("s = Neg(a) y = Transpose <perm = [0, 1]> (s)", ("the model", "; try the reference engine")),
        ],
    )
    def test_nodes(self, nodes: str, parts: tuple[str, ...]) -> None:
        with one_line(ModelError, *parts, "cannot be run by ONNX Runtime: "):
            load(text_model(nodes, "float[n] a", "float[] y")).run({"a": A}, engine="onnxruntime")

    @pytest.mark.parametrize("name", ["complex64", "int4"])
    def test_types_that_it_does_not_return(self, name: str) -> None:
        model = load(text_model("y = Identity(a)", f"{name}[n] a", f"{name}[n] y", opset=21))
        dtype = helper.tensor_dtype_to_np_dtype(TensorProto.DataType.Value(name.upper()))
        with one_line(ModelError, "value 'a'", name, "the reference engine"):
            model.run({"a": np.ones(3, dtype)}, engine="onnxruntime")

    def test_other_engines_and_types(self, integers: Model) -> None:
        engine: Any = "tensorrt"
        with one_line(AttributeValueError, "engine is 'tensorrt'; allowed: 'reference', 'onnxruntime', 'openvino'"):
            integers.run({}, engine=engine)
        with one_line(ElementTypeError, "input 'a' has element type double"):
            integers.run({"a": np.ones(2), "b": np.ones(2)}, engine="onnxruntime")

    def test_without_the_package(self, integers: Model) -> None:
        with installed(), one_line(MissingPackageError, "needs the package onnxruntime", "pip install onnxruntime"):
            integers.run({"a": ONES, "b": ONES}, engine="onnxruntime")
        with installed(onnxruntime=FakeRuntime):
            assert integers.run({"a": ONES, "b": ONES}, engine="onnxruntime")["q"].tolist() == [-1]

    @pytest.mark.parametrize(
        ("said", "told"),
        [
            ("[ONNXRuntimeError] : 1 : FAIL : no kernel for 'x'.", "no kernel for 'x'"),
            ("Non-zero status code returned while running Div node. Status Message: a/b.cc:1 bad\n shape", "bad shape"),
        ],
    )
    def test_the_reason_is_one_line(self, said: str, told: str) -> None:
        assert session.reason_of(RuntimeError(said)).endswith(told)


def test_those_of_numpy_s_own_types_of_numbers() -> None:
    for name, code in TensorProto.DataType.items():
        if name == "UNDEFINED":
            continue
        dtype = helper.tensor_dtype_to_np_dtype(code)
        own = dtype.isbuiltin == 1 and dtype.kind in "biuf"
        output = SimpleNamespace(type=f"tensor({name.lower()})")
        of_it = SimpleNamespace(get_outputs=lambda output=output: [output])
        assert (running.is_of_numbers(np.zeros(1, dtype)), running.gives_numbers(of_it)) == (own, own), name
