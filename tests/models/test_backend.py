"""The standard ONNX backend interface: what each of its functions takes, gives and refuses."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import onnx.backend.base
import pytest
from onnx import ModelProto, TensorProto, helper, parser

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


@pytest.fixture
def bytes_division() -> ModelProto:
    """Return a model that divides 8-bit integers."""
    return text_model(NODE, *BYTES)


class TestInterface:
    """It is an ``onnx.backend``: a class, a handle, and a module of functions."""

    def test_the_classes(self, division: ModelProto) -> None:
        assert issubclass(backend.VinculumBackend, onnx.backend.base.Backend)
        assert isinstance(backend.prepare(division), onnx.backend.base.BackendRep)

    def test_every_function_of_the_interface_is_there(self) -> None:
        interface = {name for name in vars(onnx.backend.base.Backend) if not name.startswith("_")}
        assert interface == {"is_compatible", "prepare", "run_model", "run_node", "supports_device"}
        assert interface <= set(backend.__all__)

    def test_the_cpu_alone(self) -> None:
        devices = ["CPU", "CPU:0", "CPU:1", "CUDA", "cpu", ""]
        assert [backend.supports_device(device) for device in devices] == [True, True, False, False, False, False]


class TestPrepare:
    """A message in memory is read as `vinculum.load` reads a file, and stays as it is."""

    def test_the_message_is_not_modified(self, weighted: ModelProto) -> None:
        before = weighted.SerializeToString(deterministic=True)
        backend.prepare(weighted)
        assert weighted.SerializeToString(deterministic=True) == before

    def test_external_data_of_the_working_directory(
        self, weighted: ModelProto, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        onnx.save_model(weighted, str(tmp_path / "m"), save_as_external_data=True, location="w", size_threshold=0)
        split = onnx.load(str(tmp_path / "m"), load_external_data=False)
        monkeypatch.chdir(tmp_path)
        assert backend.prepare(split).run([A])[0].tolist() == [2, 3]

    @pytest.mark.parametrize(
        ("given", "kind", "parts"),
        [("model.onnx", ModelError, ("is a str;", "onnx.load")), (ModelProto(), ModelError, ("no ONNX graph",))],
    )
    def test_what_is_no_model(self, given: Any, kind: type[Exception], parts: tuple[str, ...]) -> None:
        with one_line(kind, *parts):
            backend.prepare(given)

    def test_an_illegal_division(self) -> None:
        with one_line(ElementTypeError, "node 'd' (Div-13)", "does not take int8", "Div-14"):
            backend.prepare(text_model(NODE, *BYTES, opset=13))

    def test_an_operator_that_nobody_implements(self) -> None:
        with one_line(ModelError, "node 's' (Scatter) cannot be run", "does not implement it"):
            backend.prepare(text_model("[s] c = Scatter(a, b, b)", opset=10))

    def test_another_device(self, division: ModelProto) -> None:
        with one_line(AttributeValueError, "device is 'CUDA'", "'CPU'"):
            backend.prepare(division, "CUDA")

    @pytest.mark.parametrize("function", [backend.prepare, backend.is_compatible])
    def test_another_option(self, division: ModelProto, function: Callable[..., Any]) -> None:
        with one_line(AttributeValueError, "no option 'zero_divisors'", "'zero_divisor', 'overflow'"):
            function(division, zero_divisors="zero")

    def test_the_tolerances_of_the_test_runner_pass(self, division: ModelProto) -> None:
        assert backend.run_model(division, [A, B], rtol=1e-3, atol=0)[0].tolist() == [3, 3]


class TestCompatible:
    """`is_compatible` says whether `prepare` takes the model."""

    def test_yes(self, division: ModelProto) -> None:
        assert backend.is_compatible(division)

    def test_no(self, division: ModelProto) -> None:
        assert not backend.is_compatible(division, "CUDA")
        assert not backend.is_compatible(text_model("c = d.Foo(a)"))


class TestRun:
    """Inputs by name, by place, or the only one; outputs by place and by name."""

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

    @pytest.mark.parametrize(
        ("inputs", "kind", "parts"),
        [
            ([A], ModelError, ("1 values given by position", "takes 2 inputs: 'a', 'b'")),
            ([A, B, A], ModelError, ("3 values given by position",)),
            ([A, B[:1]], BroadcastError, ("input 'b' has shape (1,)",)),
        ],
    )
    def test_refused(self, division: ModelProto, inputs: Any, kind: type[Exception], parts: tuple[str, ...]) -> None:
        with one_line(kind, *parts):
            backend.run_model(division, inputs)

    def test_after_pickling(self, bytes_division: ModelProto) -> None:
        ready = pickle.loads(pickle.dumps(backend.prepare(bytes_division, zero_divisor="saturate")))
        assert ready.run(EDGES).c.tolist() == [-128, 127]

    def test_both_counts_are_told(self, weighted: ModelProto) -> None:
        with one_line(ModelError, "takes 1 or 2"):
            backend.run_model(weighted, [A, B, A])

    def test_options_belong_to_prepare(self, division: ModelProto) -> None:
        with one_line(AttributeValueError, "no option 'zero_divisor'; allowed: none"):
            backend.prepare(division).run([A, B], zero_divisor="zero")


class TestPolicies:
    """Integers follow `zero_divisor` and `overflow`, with the defaults of `vinculum.div`."""

    def test_the_defaults(self, bytes_division: ModelProto) -> None:
        with pytest.raises(DivisionByZeroError) as caught:
            backend.run_model(bytes_division, EDGES)
        assert (caught.value.count, caught.value.first_index) == (1, (1,))
        assert backend.run_model(bytes_division, [EDGES["a"], EDGES["b"] | 1])[0].tolist() == [-128, 5]

    def test_chosen(self, bytes_division: ModelProto) -> None:
        assert backend.run_model(bytes_division, EDGES, zero_divisor="zero")[0].tolist() == [-128, 0]
        ready = backend.prepare(bytes_division, zero_divisor="saturate", overflow="saturate")
        assert ready.run(EDGES)[0].tolist() == [127, 127]


class TestSequencesAndOptionals:
    """What is no tensor goes in and comes out: a list, None."""

    def test_a_sequence(self) -> None:
        model = text_model("c = Identity(a)", "seq(float[]) a", "seq(float[]) c")
        (result,) = backend.run_model(model, {"a": [A, B]})
        assert [item.tolist() for item in result] == [A.tolist(), B.tolist()]
        assert not any(np.shares_memory(item, given) for item, given in zip(result, [A, B], strict=True))
        assert all(item.flags.writeable for item in result)

    def test_an_optional(self) -> None:
        model = text_model("c = Identity(a)", "optional(float[]) a", "optional(float[]) c")
        assert backend.run_model(model, [A])[0].tolist() == A.tolist()

    def test_an_empty_optional(self) -> None:
        model = text_model("c = OptionalHasElement(a)", "optional(float[]) a", "bool c")
        assert [backend.run_model(model, [given])[0].item() for given in (None, A)] == [False, True]


def run_node(text: str, inputs: Any, **options: Any) -> Any:
    """Return the outputs of a node in ONNX's text."""
    return backend.run_node(text_model(text).graph.node[0], inputs, **options)


class TestNodesThatDivide:
    """Div and Reciprocal at every operator set, the legacy attributes included."""

    @pytest.mark.parametrize("opset", [1, 5, 6, 7, 12, 13, 14, 22, None])
    def test_at_every_operator_set(self, opset: int | None) -> None:
        options: dict[str, Any] = {} if opset is None else {"opset_version": opset}
        assert run_node(NODE, [A, B], **options)[0].tolist() == [3, 3]
        assert run_node("c = Reciprocal(b)", B, **options)[0].tolist() == (np.float32(1) / B).tolist()

    def test_legacy_attributes(self) -> None:
        node = parser.parse_node("c = Div <broadcast = 1, axis = 0, consumed_inputs = [0, 0]> (a, b)")
        dividend = np.ones((2, 3), np.float32)
        quotient = backend.run_node(node, [dividend, B], "CPU", None, opset_version=1)[0]
        assert quotient.tolist() == (dividend / B[:, None]).tolist()

    @pytest.mark.parametrize(
        ("node", "operands", "opset", "kind", "parts"),
        [
            (NODE, [A, B[:1]], 6, BroadcastError, ("node 'd' (Div-6)", "must be equal")),
            (NODE, [A.astype(np.int8)] * 2, 13, ElementTypeError, ("node 'd' (Div-13)", "Div-14 is the first")),
            ("c = Div <axis = 0> (a, b)", [A, B], 7, AttributeValueError, ("Div-7", "axis")),
            (NODE, [A, B], 0, ModelError, ("opset_version is 0; allowed: 1 to",)),
            (NODE, [A, B], "6", ModelError, ("opset_version is '6'",)),
            (NODE, [A, B], True, ModelError, ("opset_version is True",)),
            (NODE, [A, B], 2**70, ModelError, (f"opset_version is {2**70}; allowed: 1 to",)),
            (NODE, [A, B], 10**6, ModelError, ("opset_version is 1000000; allowed: 1 to",)),
        ],
    )
    def test_refused(self, node: str, operands: Any, opset: Any, kind: type[Exception], parts: Any) -> None:
        with one_line(kind, *parts):
            run_node(node, operands, opset_version=opset)

    def test_the_node_is_not_modified(self) -> None:
        for text, inputs in (("c = Clip(a, b)", [A, None]), (NODE, [A, np.ones(2, np.float32)])):
            node = parser.parse_node(text)
            assert backend.run_node(node, inputs)[0].tolist() == A.tolist()
            assert node == parser.parse_node(text)


class TestNodeInputs:
    """By name, by place with or without those left out, a repeated one once or twice; whatever is an operand."""

    @pytest.mark.parametrize("inputs", [[A, B], [A, None, B], {"a": A, "b": B}])
    def test_one_that_is_left_out(self, inputs: Any) -> None:
        inputs = {**inputs, "b": B[0]} if isinstance(inputs, dict) else [*inputs[:-1], B[0]]
        assert run_node("c = Clip(a, , b)", inputs)[0].tolist() == [2, 2]

    @pytest.mark.parametrize("inputs", [A, [A], [A, A], {"a": A}])
    def test_one_twice(self, inputs: Any) -> None:
        assert run_node("c = Div(a, a)", inputs)[0].tolist() == [1, 1]

    def test_what_a_subgraph_uses(self) -> None:
        branch = "() => (float[2] t) { t = Div(a, b) }"
        node = f"c = If(k) <then_branch = t {branch}, else_branch = e {branch}>"
        assert run_node(node, {"k": np.array(True), "a": A, "b": B})[0].tolist() == [3, 3]

    @pytest.mark.parametrize(
        ("operator", "inputs", "expected"),
        [
            ("SequenceLength", [[A, A[:1]]], 2),
            ("SequenceLength", [[]], 0),
            ("OptionalHasElement", [None], False),
            ("OptionalHasElement", [A], True),
            ("StringSplit", [np.array(["a b"])], [["a", "b"]]),
            ("Neg", [A.astype(ml_dtypes.bfloat16)], [-6, -9]),
        ],
    )
    def test_of_every_kind(self, operator: str, inputs: Any, expected: object) -> None:
        assert run_node(f"y = {operator}(x)", inputs)[0].tolist() == expected

    def test_of_other_domains(self) -> None:
        assert run_node("y = ai.onnx.ml.Binarizer <threshold = 7.0> (x)", A)[0].tolist() == [0, 1]

    @pytest.mark.parametrize(
        ("inputs", "kind", "parts"),
        [
            ([A], ModelError, ("node 'd' (Div)", "2 inputs; 1 values")),
            ([A, B, B], ModelError, ("2 inputs; 3 values",)),
            ([A, None], ModelError, ("node 'd' (Div-14) has 1 inputs",)),
            ({"a": A}, ModelError, ("node 'd' (Div-14) has 1 inputs",)),
            ([A, 2.0], ElementTypeError, ("input 'b' is a float",)),
            ([A, np.array(["2000-01-01"] * 2, "M8[D]")], ElementTypeError, ("input 'b' has NumPy type datetime64",)),
        ],
    )
    def test_refused(self, inputs: Any, kind: type[Exception], parts: tuple[str, ...]) -> None:
        with one_line(kind, *parts):
            run_node(NODE, inputs)

    def test_names_that_are_none(self) -> None:
        with one_line(ModelError, "'d'", "inputs are given by name; 1 is not a string"):
            run_node(NODE, {"a": A, 1: B})

    def test_two_values_of_one_name(self) -> None:
        with one_line(ModelError, "input 'a'", "cannot take"):
            run_node("c = Sum(a, a, b)", [A, B, B])

    def test_what_is_no_node(self) -> None:
        node: Any = "Div"
        with one_line(ModelError, "is a str, not an onnx.NodeProto"):
            backend.run_node(node, [A, B])


def test_node_outputs_one_that_is_left_out() -> None:
    """Those that the node names, in its order."""
    outputs = run_node(" , i = TopK(a, k)", [A, np.array([1])])
    assert [output.tolist() for output in outputs] == [[1]]
