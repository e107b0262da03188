"""Bad input: nodes and attributes on which ONNX's compiled code crashes or hangs; and inferred types."""

from __future__ import annotations

import numpy as np
import pytest
from onnx import FunctionProto, ModelProto, TensorProto, TypeProto, helper, numpy_helper

from tests.models.built_models import one_line, text_model
from vinculum.errors import ModelError
from vinculum.models import load
from vinculum.models.onnx.checks import check_attributes, check_model
from vinculum.models.onnx.inference import infer_types, typed_scopes
from vinculum.models.onnx.scopes import declared_shape, scopes
from vinculum.spec.element_types import FLOAT as BINARY32

FLOAT, DOUBLE, INT64 = TensorProto.FLOAT, TensorProto.DOUBLE, TensorProto.INT64
SQUARE = "float[2,2] x, float[2] w, int64[2,1] places"


class TestTypes:
    """For some operators, inference reads the type of an operand without checking that it is known."""

    @pytest.mark.parametrize(
        "node",
        [
            "EyeLike (%s)",
            'RegexFullMatch <pattern = "a"> (%s)',
            "ai.onnx.ml.LabelEncoder <keys_int64s = [1], values_int64s = [2]> (%s)",
            "ai.onnx.ml.TreeEnsemble <n_targets = 1> (%s)",
        ],
    )
    @pytest.mark.parametrize("operand", ["unknown", ""])
    def test_no_type(self, node: str, operand: str) -> None:
        model = text_model(f"unknown = d.Custom(x) [n] y = {node % operand}", SQUARE, "float[] y", opset=20)
        model.opset_import.add(domain="ai.onnx.ml", version=5)
        model.graph.node[1].input[:] = [operand]
        before = model.SerializeToString(deterministic=True)
        infer_types(model)
        assert model.SerializeToString(deterministic=True) == before
        with one_line(ModelError, "node 'n'", model.graph.node[1].op_type, "declare it in value_info"):
            check_model(model, "the model")

    def test_a_type_that_is_inferred(self) -> None:
        nodes = "n = Neg(x) eye = EyeLike(n) again = EyeLike(eye) y = Div(again, again)"
        proto = text_model(nodes, "float[2,2] x", "float[2,2] y")
        check_model(proto, "the model")
        model = load(proto)
        assert model.divisions[0].element_type is BINARY32
        assert model.divisions[0].shapes == ((2, 2),) * 3
        assert np.isnan(model.run({"x": np.ones((2, 2), np.float32)})["y"][0, 1])


def test_a_default_of_a_body() -> None:
    """The checker does not set the default of an attribute in an operator's function body."""
    proto = text_model("y = MeanVarianceNormalization(x)", "float[1,2,3,3] x", "float[1,2,3,3] y", opset=18)
    before = proto.SerializeToString(deterministic=True)
    check_model(proto, "the model")
    assert proto.SerializeToString(deterministic=True) == before


class TestAttributes:
    """Invalid values that inference does not check."""

    @pytest.mark.parametrize(
        ("node", "name", "value", "allowed"),
        [
            ("y, m, i = LayerNormalization(x, w)", "axis", 2**63 - 1, "-64 to 63"),
            ("y, m, i = LayerNormalization(x, w)", "axis", 2**31, "-64 to 63"),
            ("y = GatherND(x, places)", "batch_dims", -1, "0 to 63"),
            ("y = GatherND(x, places)", "batch_dims", -(2**31), "0 to 63"),
            ("y, m, i = Split(x)", "num_outputs", 2, "allowed: 3"),
            ("y, m, i = Split(x)", "num_outputs", 1, "allowed: 3"),
            ("y = Einsum(x)", "equation", b"\xff\xff", "letters"),
            ("y = Einsum(x)", "equation", "...a...", "letters"),
            ("y = Einsum(x)", "equation", "i1", "letters"),
        ],
    )
    def test_refused(self, node: str, name: str, value: int | str | bytes, allowed: str) -> None:
        model = text_model(f"[n] {node}", SQUARE, "float[] y", opset=18)
        model.graph.node[0].attribute.append(helper.make_attribute(name, value))
        for refuse in (load, lambda given: check_model(given, "the model")):
            with one_line(ModelError, "node 'n'", f"{name!r} is ", allowed):
                refuse(model)

    @pytest.mark.parametrize(
        ("call", "attribute"), [("d.Outer (x, w)", f"b: int = {2**63 - 1}"), (f"d.Outer <b = {2**63 - 1}> (x, w)", "b")]
    )
    def test_handed_to_a_function(self, call: str, attribute: str) -> None:
        """The value is passed through two functions, as attributes of different names."""
        inner = "Inner <a> (x, w) => (y) { [n] y, m, i = LayerNormalization <axis: int = @a> (x, w) }"
        outer = f"Outer <{attribute}> (x, w) => (y) {{ y = d.Inner <a: int = @b> (x, w) }}"
        with one_line(ModelError, "node 'n'", "allowed: -64 to 63"):
            load(text_model(f"y = {call}", SQUARE, "float[2,2] y", inner, outer, opset=17))

    @pytest.mark.parametrize("equation", ["ij", "ij->ji", "i j -> i", "...j->...", "i...", "->", "ij,->i"])
    def test_equations(self, equation: str) -> None:
        check_attributes(text_model(f'y = Einsum <equation = "{equation}"> (x, w)', SQUARE, "float[2,2] y"))


def function_types(model: ModelProto) -> dict[str, dict[str, tuple[int, object]]]:
    """Return element types and shapes of the values in the bodies of a model's functions."""
    bodies = [s for s in typed_scopes(model) if isinstance(s.holder, FunctionProto)]
    return {s.holder.name: {name: _known(declared) for name, declared in s.types.items()} for s in bodies}


def _known(declared: TypeProto) -> tuple[int, object]:
    return declared.tensor_type.elem_type, declared_shape(declared)


CHOICE = """y = If (q) <then_branch = t () => (float[n,m] r) { r = d.f(x) },
    else_branch = e () => (float[n,m] s) { s = Relu(x) }>"""
RELU = "f (a) => (c) { c = Relu(a) }"
# Nodes, functions, and the types that are known in the function f.
CALLS: dict[str, tuple[str, list[str], dict[str, tuple[int, object]]]] = {
    "one call": (
        "y = d.f(x)",
        ["f (a) => (c) { b = Transpose(a) c = Relu(b) }"],
        {"a": (FLOAT, (2, 3)), "b": (FLOAT, (3, 2)), "c": (FLOAT, (3, 2))},
    ),
    "two sizes": (
        "u = Transpose(x) v = d.f(u) y = d.f(x)",
        [RELU],
        {"a": (FLOAT, (None, None)), "c": (FLOAT, (None, None))},
    ),
    "two element types": (
        "u = Cast <to = 11> (x) v = d.f(u) y = d.f(x)",
        ["f (a) => (c) { s = Shape(a) c = Relu(a) }"],
        {"s": (INT64, (2,))},
    ),
    "an unknown operand": (
        "u = d.Mystery(x) v = d.f(u) y = d.f(x)",
        ["f (a) => (c) { s = Shape(a) b = Neg(a) c = Relu(b) }"],
        {"s": (INT64, (None,))},
    ),
    "a call in a function in a subgraph": (
        CHOICE.replace("d.f", "d.g"),
        ["g (a) => (c) { b = d.f(a) c = Neg(b) }", RELU],
        {"a": (FLOAT, (2, 3)), "c": (FLOAT, (2, 3))},
    ),
    "attributes and their defaults": (
        "y = d.f <k = 11> (x)",
        ["f <k, m: int = 1> (a) => (c) { b = Cast <to: int = @k> (a) c = Concat <axis: int = @m> (b, b) }"],
        {"a": (FLOAT, (2, 3)), "b": (DOUBLE, (2, 3)), "c": (DOUBLE, (2, 6))},
    ),
    "what a call leaves out": (
        "y = d.f(x)",
        ["f <k> (a, o) => (c) { c = Transpose <perm: ints = @k> (a) d = Relu(o) }"],
        {"a": (FLOAT, (2, 3)), "c": (FLOAT, (3, 2)), "o": (0, None)},
    ),
    "another operator set": (
        "y = d.f(x)",
        ['<opset_import: ["": 11], domain: "d"> f (a) => (c) { c = ReduceSum <axes = [1]> (a) }'],
        {"a": (FLOAT, (2, 3)), "c": (FLOAT, (2, 1))},
    ),
    "a size that inference invents": (
        "n = NonZero(x) u = Cast <to = 1> (n) v = d.f(u) y = d.f(u)",
        [RELU],
        {"a": (FLOAT, (2, None)), "c": (FLOAT, (2, None))},
    ),
}


class TestFunctionTypes:
    """Types of values inside model-local functions are joined over all calls of them."""

    @pytest.mark.parametrize(("nodes", "functions", "known"), CALLS.values(), ids=CALLS)
    def test_calls(self, nodes: str, functions: list[str], known: dict[str, tuple[int, object]]) -> None:
        model = text_model(nodes, "bool q, float[2,3] x", "float[] y", *functions, opset=21)
        assert function_types(model)["f"] == known

    def test_a_function_that_is_never_called(self) -> None:
        model = text_model("y = Relu(x)", "float[2,3] x", "float[] y", RELU)
        assert function_types(model) == {"f": {}}
        model.functions[0].value_info.append(helper.make_tensor_value_info("c", FLOAT, [4]))
        assert function_types(model) == {"f": {"c": (FLOAT, (4,))}}


class TestTypedScopes:
    """Every scope of a model, with the types that inference finds: in subgraphs and functions too."""

    @pytest.fixture
    def model(self) -> ModelProto:
        """Return a model with an If in its graph and one in its function."""
        branches = """then_branch = t () => (float[n,m] r) { i = Neg(%s) r = %s(i) },
            else_branch = e () => (float[n,m] s) { s = Relu(%s) }"""
        nodes = f"u = Relu(x) y = If (q) <{branches % ('u', 'd.f', 'x')}>"
        body = f"g = Constant <value = bool {{1}}> () c = If (g) <{branches % ('a', 'Abs', 'a')}>"
        return text_model(nodes, "bool q, float[2,3] x", "float[] y", f"f (a) => (c) {{ {body} }}", opset=21)

    def test_holders_are_those_of_the_model_in_its_order(self, model: ModelProto) -> None:
        plain = list(scopes(model, {"f": "f"}))
        typed = list(typed_scopes(model))
        assert [scope.path for scope in typed] == [scope.path for scope in plain]
        assert len(typed) == 6
        for scope, other in zip(typed, plain, strict=True):
            assert scope.holder == other.holder
            assert scope.opsets == other.opsets
        typed[4].holder.node[0].name = "edited"
        assert model.functions[0].node[1].attribute[0].g.node[0].name == "edited"

    def test_types_in_subgraphs_those_around_included(self, model: ModelProto) -> None:
        by_path = {scope.path: scope.types for scope in typed_scopes(model)}
        for path, names in (("", "u"), ("If:then_branch", "iu"), ("f/If:then_branch", "ia")):
            assert [_known(by_path[path][name]) for name in names] == [(FLOAT, (2, 3))] * len(names)
        assert "i" not in by_path["f"]

    def test_initializers(self) -> None:
        """Large initializers have known types; the elements of small ones determine shapes."""
        model = text_model("z = Reshape(x, s) y = MatMul(z, w)", "float[2,3] x", "float[] y")
        for name, array in (("w", np.zeros((6, 5000), np.float32)), ("s", np.array([1, 6]))):
            model.graph.initializer.append(numpy_helper.from_array(array, name))
        (scope,) = typed_scopes(model)
        known = {"w": (FLOAT, (6, 5000)), "z": (FLOAT, (1, 6)), "y": (FLOAT, (1, 5000))}
        assert {name: _known(scope.types[name]) for name in known} == known
        assert [value.name for value in model.graph.input] == ["x"]
