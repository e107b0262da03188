"""`Model.run(engine="onnxruntime")` on packages that divide wrongly or die of it: every division is still ours."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from onnx import TensorProto, helper, numpy_helper

from tests import fake_runtime
from tests.fake_runtime import FakeRuntime, installed
from tests.models.built_models import graph, node
from vinculum.errors import AttributeValueError, DivisionByZeroError, ElementTypeError, IntegerOverflowError, ModelError
from vinculum.models import DivisionRecord, Model, load
from vinculum.models.engines.onnxruntime import session
from vinculum.models.execution import RunContext
from vinculum.ops.policies import Policies

File = Callable[..., Path]
OneLine = Callable[..., AbstractContextManager[None]]
FLOATS, INTS = (TensorProto.FLOAT, [None]), (TensorProto.INT32, [None])
ANY: Any = (TensorProto.FLOAT, None)
TRUTH: Any = (TensorProto.BOOL, [])
A, B = np.array([6, -9, 1], np.float32), np.array([2, 3, 7], np.float32)
WRONG = (fake_runtime.DiesOfIntegers, fake_runtime.Floors, fake_runtime.InvertsAndNarrows)


@pytest.fixture(autouse=True, params=WRONG, ids=lambda behaviour: behaviour.__name__)
def package(request: pytest.FixtureRequest) -> Iterator[None]:
    """Install a package that no division may be left to."""
    with installed(onnxruntime=request.param):
        yield


@pytest.fixture
def integers(onnx_file: File) -> Model:
    """Return a model that divides the negative of a by b."""
    return load(onnx_file([node("s = Neg(a)"), node("q = Div(s, b)")], {"a": INTS, "b": INTS}, {"q": INTS}))


def both(model: Model, inputs: Any, **options: Any) -> list[DivisionRecord]:
    """Demand what the reference engine gives, of outputs and of divisions."""
    wanted_records: list[DivisionRecord] = []
    records: list[DivisionRecord] = []
    wanted = model.run(inputs, observer=wanted_records.append, **options)
    outputs = model.run(inputs, observer=records.append, engine="onnxruntime", **options)
    assert {name: (x.dtype, x.tolist()) for name, x in outputs.items()} == {
        name: (x.dtype, x.tolist()) for name, x in wanted.items()
    }
    divided = [
        sorted((r.division.label, r.divisor.tobytes(), r.quotient.tobytes()) for r in group)
        for group in (records, wanted_records)
    ]
    assert divided[0] == divided[1]
    return records


class TestDivisions:
    """Under every policy, observed and named; what divides in branches, loops and functions too."""

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

    def test_one_whose_quotient_nobody_uses(self, onnx_file: File) -> None:
        nodes = [node("s = Neg(a)"), node("unused = Div(s, b)"), node("y = Abs(a)")]
        model = load(onnx_file(nodes, {"a": INTS, "b": INTS}, {"y": INTS}))
        ones = np.array([1], np.int32)
        assert len(both(model, {"a": ones, "b": ones})) == 1
        with pytest.raises(DivisionByZeroError):
            model.run({"a": ones, "b": 0 * ones}, engine="onnxruntime")

    def test_an_observer_may_stop_the_run(self, integers: Model) -> None:
        def stop(record: DivisionRecord) -> None:
            raise LookupError("enough")

        ones = np.array([1], np.int32)
        with pytest.raises(LookupError, match=r"^enough$"):
            integers.run({"a": ones, "b": ones}, observer=stop, engine="onnxruntime")

    @pytest.mark.parametrize("choice", [True, False])
    def test_in_branches_and_loops(self, onnx_file: File, choice: bool) -> None:
        divide = graph(node("m = Neg(s)"), node("t = Div(m, w)"), outputs=["t"])
        other = graph(node("t = Mul(s, w)"), outputs=["t"])
        body = graph(node("z = Div(x, w)"), node("on = Identity(go)"), inputs=["i", "go", "x"], outputs=["on", "z"])
        nodes = [
            node("s = Abs(a)"),
            node("c = If(k)", then_branch=divide, else_branch=other),
            node("l = Loop(n, , c)", body=body),
            node("y = Neg(l)"),
        ]
        constants = [numpy_helper.from_array(B, "w"), numpy_helper.from_array(np.array(3), "n")]
        model = load(onnx_file(nodes, {"a": FLOATS, "k": TRUTH}, {"y": FLOATS}, initializers=constants))
        records = both(model, {"a": A, "k": np.array(choice)})
        assert [r.division.path for r in records] == ["If:then_branch"][:choice] + ["Loop:body"] * 3

    def test_in_functions(self, onnx_file: File) -> None:
        """Of an older operator set, whose values are called as those around."""
        opset = helper.make_opsetid("", 13)
        function = helper.make_function(
            "d", "F", ["p", "w"], ["q"], [node("t = Neg(p)"), node("q = Div(t, w)")], [opset]
        )
        weights = [numpy_helper.from_array(value, name) for name, value in (("t", A), ("t__1", B), ("q", B))]
        then = graph(node("u = d.F(t__1, a)"), outputs=["u"])
        nodes = [
            node("r = d.F(a, t)"),
            node("v = If(k)", then_branch=then, else_branch=then),
            node("w = Add(r, v)"),
            node("y = Add(w, q)"),
        ]
        inputs = {"a": FLOATS, "k": TRUTH}
        options = {"functions": [function], "domains": ["d"], "initializers": weights}
        model = load(onnx_file(nodes, inputs, {"y": FLOATS}, **options))
        assert len(both(model, {"a": B, "k": np.array(True)})) == 2


class TestValues:
    """What goes from part to part: constants, strings, sequences, scalars, values of any name."""

    def test_constants_and_names(self, onnx_file: File) -> None:
        nodes = [
            node("c = Constant()", value=numpy_helper.from_array(np.arange(1, 5001, dtype=np.float32))),
            node("x/y:0 = Mul(c, large)"),
            helper.make_node("Div", ["x/y:0", "a"], ["'q'"], "same"),
            helper.make_node("Sub", ["'q'", "large"], ["%y\n"], "same"),
        ]
        large = numpy_helper.from_array(np.arange(5000, 0, -1, dtype=np.float32), "large")
        model = load(onnx_file(nodes, {"a": ANY}, {"%y\n": ANY}, initializers=[large]))
        for a in (np.array(3, np.float32), np.full((2, 1), 7, np.float32), np.empty((0, 1), np.float32)):
            both(model, {"a": a})

    def test_strings_and_sequences(self, onnx_file: File) -> None:
        strings = (TensorProto.STRING, [None])
        nodes = [
            node("t = Identity(s)"),
            node("q = Reciprocal(a)"),
            node("u = SequenceConstruct(q, a)"),
            node("r = Reciprocal(q)"),
            node("v = SequenceInsert(u, r)"),
            node("y = ConcatFromSequence(v)", axis=0),
        ]
        model = load(onnx_file(nodes, {"s": strings, "a": FLOATS}, {"t": strings, "y": FLOATS}))
        both(model, {"s": np.array(["ä", "b"], object), "a": A})

    def test_a_sequence_as_output(self, onnx_file: File) -> None:
        model = load(onnx_file([node("s = SequenceConstruct(a, b)")], {"a": FLOATS, "b": FLOATS}, {"s": FLOATS}))
        (items,) = model.evaluate({"a": A, "b": B}, RunContext(Policies()), "onnxruntime").values()
        assert isinstance(items, list)
        assert [item.tolist() for item in items] == [A.tolist(), B.tolist()]


class TestRefusals:
    """What cannot be run: one line that names the node or the value, the reason, and the way on."""

    @pytest.mark.parametrize(
        ("nodes", "parts"),
        [
            ([node("y = d.Foo(a)")], ("node 'y' (d.Foo)", "the reference engine cannot run it either: it does not")),
            (
                [node("s = Neg(a)"), node("y = Transpose(s)", perm=[0, 1])],
                ("the model", "; run the model with the reference engine"),
            ),
        ],
    )
    def test_nodes(self, onnx_file: File, one_line: OneLine, nodes: list[Any], parts: tuple[str, ...]) -> None:
        path = onnx_file(nodes, {"a": FLOATS}, {"y": ANY}, domains=["d"])
        with one_line(ModelError, *parts, "cannot be run by ONNX Runtime: "):
            load(path).run({"a": A}, engine="onnxruntime")

    @pytest.mark.parametrize(("code", "name"), [(TensorProto.COMPLEX64, "complex64"), (TensorProto.INT4, "int4")])
    def test_types_that_it_does_not_return(self, onnx_file: File, one_line: OneLine, code: int, name: str) -> None:
        tensor = (code, [None])
        model = load(onnx_file([node("y = Identity(a)")], {"a": tensor}, {"y": tensor}, opset=21, ir_version=10))
        with one_line(ModelError, "value 'a'", name, "the reference engine"):
            model.run({"a": np.ones(3, helper.tensor_dtype_to_np_dtype(code))}, engine="onnxruntime")

    def test_other_engines_and_types(self, integers: Model, one_line: OneLine) -> None:
        engine: Any = "tensorrt"
        with one_line(AttributeValueError, "engine is 'tensorrt'; allowed: 'reference', 'onnxruntime', 'openvino'"):
            integers.run({}, engine=engine)
        with one_line(ElementTypeError, "input 'a' has element type double"):
            integers.run({"a": np.ones(2), "b": np.ones(2)}, engine="onnxruntime")

    def test_without_the_package(self, integers: Model, one_line: OneLine) -> None:
        ones = np.array([1], np.int32)
        with installed(), one_line(ModelError, "needs the package onnxruntime", "pip install onnxruntime"):
            integers.run({"a": ones, "b": ones}, engine="onnxruntime")
        with installed(onnxruntime=FakeRuntime):
            assert integers.run({"a": ones, "b": ones}, engine="onnxruntime")["q"].tolist() == [-1]

    @pytest.mark.parametrize(
        ("said", "told"),
        [
            ("[ONNXRuntimeError] : 1 : FAIL : no kernel for 'x'.", "no kernel for 'x'"),
            ("Non-zero status code returned while running Div node. Status Message: a/b.cc:1 bad\n shape", "bad shape"),
        ],
    )
    def test_the_reason_is_one_line(self, said: str, told: str) -> None:
        assert session.reason_of(RuntimeError(said)).endswith(told)
