"""The standard ONNX backend interface: what each of its functions takes, gives and refuses."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from typing import Any

import ml_dtypes
import numpy as np
import onnx.backend.base
import pytest
from onnx import ModelProto, TensorProto, helper, parser

import vinculum
from tests.models.built_models import one_line, text_model
from vinculum import backend
from vinculum.errors import AttributeValueError, BroadcastError, DivisionByZeroError, ElementTypeError, ModelError

A, B = np.array([6, 9], np.float32), np.array([2, 3], np.float32)
EDGES = {"a": np.array([-128, 5], np.int8), "b": np.array([-1, 0], np.int8)}
NODE = "[d] c = Div(a, b)"
BYTES = "int8[2] a, int8[2] b", "int8[2] c"


@pytest.fixture
def division() -> ModelProto:
    """Return a model that divides floats."""
    return text_model(NODE)


@pytest.fixture
def weighted() -> ModelProto:
    """Return a model that divides floats, and has a divisor of its own."""
    model = text_model(NODE, "float[2] b, float[2] a")
    model.graph.initializer.append(helper.make_tensor("b", TensorProto.FLOAT, [2], [3, 3]))
    return model


def test_the_interface(division: ModelProto) -> None:
    """It is an ``onnx.backend``: a class, a handle, and a module of functions, for the CPU alone."""
    assert issubclass(backend.VinculumBackend, onnx.backend.base.Backend)
    assert isinstance(backend.prepare(division), onnx.backend.base.BackendRep)
    assert vinculum.check(backend.prepare(division).model, runs=0).nodes == 1
    interface = {name for name in vars(onnx.backend.base.Backend) if not name.startswith("_")}
    assert interface == {"is_compatible", "prepare", "run_model", "run_node", "supports_device"}
    assert interface <= set(backend.__all__)
    devices = ["CPU", "CPU:0", "CPU:1", "CUDA", "cpu", ""]
    assert [backend.supports_device(device) for device in devices] == [True, True, False, False, False, False]


class TestPrepare:
    """A message in memory is read as `vinculum.load` reads a file, and stays as it is."""

    @pytest.mark.parametrize(
        ("model", "device", "kind", "parts"),
        [
            ("model.onnx", "CPU", ModelError, ("is a str;", "onnx.load")),
            (ModelProto(), "CPU", ModelError, ("no ONNX graph",)),
            (text_model(NODE, *BYTES, opset=13), "CPU", ElementTypeError, ("'d' (Div-13)", "does not take int8")),
            (
                text_model("[s] c = Scatter(a, b, b)", opset=10),
                "CPU",
                ModelError,
                ("'s' (Scatter)", "not implement it"),
            ),
            (text_model("c = d.Foo(a)"), "CPU", ModelError, ("(d.Foo)",)),
            (text_model(NODE), "CUDA", AttributeValueError, ("device is 'CUDA'", "'CPU'")),
        ],
    )
    def test_refused(self, model: Any, device: str, kind: type[Exception], parts: tuple[str, ...]) -> None:
        with one_line(kind, *parts):
            backend.prepare(model, device)
        assert not backend.is_compatible(model, device)
        assert backend.is_compatible(text_model(NODE))

    @pytest.mark.parametrize("function", [backend.prepare, backend.is_compatible])
    def test_another_option(self, division: ModelProto, function: Callable[..., Any]) -> None:
        with one_line(AttributeValueError, "no option 'zero_divisors'", "'zero_divisor', 'overflow'"):
            function(division, zero_divisors="zero")


class TestRun:
    """Inputs by name, by position, or the only one; outputs by position and by name."""

    @pytest.mark.parametrize("inputs", [[A, B], (A, B), {"b": B, "a": A}])
    def test_two(self, division: ModelProto, inputs: Any) -> None:
        outputs = backend.run_model(division, inputs)
        assert isinstance(outputs, tuple)
        assert len(outputs) == 1
        assert outputs[0] is outputs.c is outputs["c"]  # type: ignore[attr-defined, call-overload]  # a named tuple
        assert outputs[0].tolist() == [3, 3]

    @pytest.mark.parametrize(("inputs", "quotient"), [([A], [2, 3]), (A, [2, 3]), ([B, A], [3, 3]), ({"a": A}, [2, 3])])
    def test_an_input_that_the_model_has_a_value_for(
        self, weighted: ModelProto, inputs: Any, quotient: list[int]
    ) -> None:
        assert backend.run_model(weighted, inputs)[0].tolist() == quotient
        with one_line(ModelError, "takes 1 or 2"):
            backend.run_model(weighted, [A, B, A])

    @pytest.mark.parametrize(
        ("inputs", "options", "kind", "parts"),
        [
            ([A], {}, ModelError, ("1 values given by position", "takes 2 inputs: 'a', 'b'")),
            ([A, B, A], {}, ModelError, ("3 values given by position",)),
            ([A, B[:1]], {}, BroadcastError, ("input 'b' has shape (1,)",)),
            ([A, B], {"zero_divisor": "zero"}, AttributeValueError, ("no option 'zero_divisor'; allowed: none",)),
        ],
    )
    def test_refused(self, division: ModelProto, inputs: Any, options: Any, kind: type[Exception], parts: Any) -> None:
        with one_line(kind, *parts):
            backend.prepare(division).run(inputs, **options)

    def test_the_policies(self) -> None:
        """The policies of `vinculum.div`, with its defaults; a pickled model keeps them."""
        model = text_model(NODE, *BYTES)
        with pytest.raises(DivisionByZeroError) as caught:
            backend.run_model(model, EDGES)
        assert (caught.value.count, caught.value.first_index) == (1, (1,))
        for options, quotients in (
            ({"zero_divisor": "zero"}, [-128, 0]),
            ({"zero_divisor": "saturate"}, [-128, 127]),
            ({"zero_divisor": "saturate", "overflow": "saturate"}, [127, 127]),
        ):
            ready = backend.prepare(model, **options)
            for one in (ready, pickle.loads(pickle.dumps(ready))):
                assert one.run(EDGES)[0].tolist() == quotients

    def test_a_sequence(self) -> None:
        model = text_model("c = Identity(a)", "seq(float[]) a", "seq(float[]) c")
        (result,) = backend.run_model(model, {"a": [A, B]})
        assert [item.tolist() for item in result] == [A.tolist(), B.tolist()]
        assert not any(np.shares_memory(item, given) for item, given in zip(result, [A, B], strict=True))
        assert all(item.flags.writeable for item in result)


def run_node(text: str, inputs: Any, **options: Any) -> Any:
    """Return the outputs of a node in ONNX's text."""
    return backend.run_node(text_model(text).graph.node[0], inputs, **options)


BRANCH = "() => (float[2] t) { t = Div(a, b) }"
IF = f"c = If(k) <then_branch = t {BRANCH}, else_branch = e {BRANCH}>"


class TestNodes:
    """Any node, in any operator set; inputs by name or by position, with and without omitted and repeated ones."""

    @pytest.mark.parametrize("opset", [1, 5, 6, 7, 12, 13, 14, 22, None])
    def test_at_every_operator_set(self, opset: int | None) -> None:
        options: dict[str, Any] = {} if opset is None else {"opset_version": opset}
        assert run_node(NODE, [A, B], **options)[0].tolist() == [3, 3]
        assert run_node("c = Reciprocal(b)", B, **options)[0].tolist() == (np.float32(1) / B).tolist()

    def test_the_node_is_not_modified(self) -> None:
        for text, inputs in (("c = Clip(a, b)", [A, None]), (NODE, [A, np.ones(2, np.float32)])):
            node = parser.parse_node(text)
            assert backend.run_node(node, inputs)[0].tolist() == A.tolist()
            assert node == parser.parse_node(text)

    @pytest.mark.parametrize(
        ("node", "inputs", "expected"),
        [
            *(("c = Clip(a, , b)", inputs, [2, 2]) for inputs in ([A, B[0]], [A, None, B[0]], {"a": A, "b": B[0]})),
            *(("c = Div(a, a)", inputs, [1, 1]) for inputs in (A, [A], [A, A], {"a": A})),
            (IF, {"k": np.array(True), "a": A, "b": B}, [3, 3]),
            ("y = SequenceLength(x)", [[A, A[:1]]], 2),
            ("y = SequenceLength(x)", [[]], 0),
            ("y = OptionalHasElement(x)", [None], False),
            ("y = OptionalHasElement(x)", [A], True),
            ("y = StringSplit(x)", [np.array(["a b"])], [["a", "b"]]),
            ("y = Neg(x)", [A.astype(ml_dtypes.bfloat16)], [-6, -9]),
            ("y = ai.onnx.ml.Binarizer <threshold = 7.0> (x)", A, [0, 1]),
            (" , i = TopK(a, k)", [A, np.array([1])], [1]),
        ],
    )
    def test_inputs_of_every_kind(self, node: str, inputs: Any, expected: object) -> None:
        (output, *_) = run_node(node, inputs)
        assert output.tolist() == expected

    @pytest.mark.parametrize(
        ("node", "inputs", "opset", "kind", "parts"),
        [
            (NODE, [A, B[:1]], 6, BroadcastError, ("node 'd' (Div-6)", "must be equal")),
            (NODE, [A.astype(np.int8)] * 2, 13, ElementTypeError, ("node 'd' (Div-13)", "Div-14 is the first")),
            ("c = Div <axis = 0> (a, b)", [A, B], 7, AttributeValueError, ("Div-7", "axis")),
            *(
                (NODE, [A, B], o, ModelError, (f"opset_version is {o!r}; allowed: 1 to",))
                for o in (0, "6", True, 2**70)
            ),
            (NODE, [A], None, ModelError, ("node 'd' (Div)", "2 inputs; 1 values")),
            (NODE, [A, B, B], None, ModelError, ("2 inputs; 3 values",)),
            *((NODE, x, None, ModelError, ("node 'd' (Div-14) has 1 inputs",)) for x in ([A, None], {"a": A})),
            (NODE, [A, 2.0], None, ElementTypeError, ("input 'b' is a float",)),
            (
                NODE,
                [A, np.array(["2000-01-01"] * 2, "M8[D]")],
                None,
                ElementTypeError,
                ("'b' has NumPy type datetime64",),
            ),
            (NODE, {"a": A, 1: B}, None, ModelError, ("'d'", "inputs are given by name; 1 is not a string")),
            ("c = Sum(a, a, b)", [A, B, B], None, ModelError, ("input 'a'", "cannot take")),
        ],
    )
    def test_refused(self, node: str, inputs: Any, opset: Any, kind: type[Exception], parts: Any) -> None:
        with one_line(kind, *parts):
            run_node(node, inputs, opset_version=opset)

    def test_what_is_no_node(self) -> None:
        node: Any = "Div"
        with one_line(ModelError, "is a str, not an onnx.NodeProto"):
            backend.run_node(node, [A, B])
