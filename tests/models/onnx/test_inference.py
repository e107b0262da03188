"""Bad input: nodes and attributes that ONNX's own compiled code does not survive."""

from __future__ import annotations

import numpy as np
import pytest
from onnx import FunctionProto, ModelProto, TensorProto, TypeProto, helper, numpy_helper

from tests.models.built_models import one_line, text_model
from vinculum.errors import ModelError
from vinculum.models import load
from vinculum.models.onnx.checks import check_attributes, check_model
from vinculum.models.onnx.inference import check_operand_types, infer_types, typed_scopes
from vinculum.models.onnx.scopes import declared_shape, scopes
from vinculum.spec.element_types import FLOAT as BINARY32

FLOAT, DOUBLE, INT64 = TensorProto.FLOAT, TensorProto.DOUBLE, TensorProto.INT64
SQUARE = "float[2,2] x, float[2] w, int64[2,1] places"


class TestTypes:
    """Of some operators the inference wants the type of an operand that may have none."""

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
            check_operand_types(model)

    def test_a_type_that_is_inferred(self) -> None:
        nodes = "n = Neg(x) eye = EyeLike(n) again = EyeLike(eye) y = Div(again, again)"
        proto = text_model(nodes, "float[2,2] x", "float[2,2] y")
        check_model(proto, "the model")
        model = load(proto)
        assert model.divisions[0].element_type is BINARY32
        assert model.divisions[0].shapes == ((2, 2),) * 3
        assert np.isnan(model.run({"x": np.ones((2, 2), np.float32)})["y"][0, 1])


class TestAttributes:
    """Values that no operator allows, and that the inference believes."""

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
        """The value passes through two functions, and changes its name on the way."""
        inner = "Inner <a> (x, w) => (y) { [n] y, m, i = LayerNormalization <axis: int = @a> (x, w) }"
        outer = f"Outer <{attribute}> (x, w) => (y) {{ y = d.Inner <a: int = @b> (x, w) }}"
        with one_line(ModelError, "node 'n'", "allowed: -64 to 63"):
            load(text_model(f"y = {call}", SQUARE, "float[2,2] y", inner, outer, opset=17))

    @pytest.mark.parametrize("equation", ["ij", "ij->ji", "i j -> i", "...j->...", "i...", "->", "ij,->i"])
    def test_equations(self, equation: str) -> None:
        check_attributes(text_model(f'y = Einsum <equation = "{equation}"> (x, w)', SQUARE, "float[2,2] y"))

    @pytest.mark.parametrize("axis", [-1, 1])
    def test_allowed(self, axis: int) -> None:
        model = load(
            text_model(f"y = LayerNormalization <axis = {axis}> (x, w)", "float[2,2] x, float[2] w", "float[2,2] y")
        )
        assert model.run({"x": np.eye(2, dtype=np.float32), "w": np.ones(2, np.float32)})["y"].shape == (2, 2)


def _model(
    calls: str, *functions: str, signature: str = "(float[2,3] x) => (float[] y)", opset: int = 21
) -> ModelProto:
    inputs, outputs = (side.strip(" ()") for side in signature.split("=>"))
    return text_model(calls, inputs, outputs, *functions, opset=opset)


def function_types(model: ModelProto) -> dict[tuple[str, str, str], dict[str, TypeProto]]:
    """Return the types of the values in the bodies of a model's functions."""
    bodies = [s for s in typed_scopes(model) if isinstance(s.holder, FunctionProto)]
    return {(s.holder.domain, s.holder.name, s.holder.overload): dict(s.types) for s in bodies}


def _known(declared: TypeProto) -> tuple[int, object]:
    return declared.tensor_type.elem_type, declared_shape(declared)


class TestFunctionTypes:
    """Types of values inside model-local functions are joined over all calls of them."""

    def test_one_call(self) -> None:
        model = _model("y = d.f(x)", "f (a) => (c) { b = Transpose(a) c = Relu(b) }")
        types = function_types(model)["d", "f", ""]
        assert {name: _known(t) for name, t in types.items()} == {
            "a": (FLOAT, (2, 3)),
            "b": (FLOAT, (3, 2)),
            "c": (FLOAT, (3, 2)),
        }

    def test_calls_of_different_sizes_agree_on_the_rank(self) -> None:
        model = _model("u = Transpose(x) v = d.f(u) y = d.f(x)", "f (a) => (c) { c = Relu(a) }")
        types = function_types(model)["d", "f", ""]
        assert _known(types["a"]) == _known(types["c"]) == (FLOAT, (None, None))

    def test_calls_of_different_element_types_agree_on_nothing(self) -> None:
        model = _model("u = Cast <to = 11> (x) v = d.f(u) y = d.f(x)", "f (a) => (c) { s = Shape(a) c = Relu(a) }")
        types = function_types(model)["d", "f", ""]
        assert {name: _known(t) for name, t in types.items()} == {"s": (INT64, (2,))}

    def test_a_call_of_which_nothing_is_known(self) -> None:
        calls = "u = com.example.Mystery(x) v = d.f(u) y = d.f(x)"
        model = _model(calls, "f (a) => (c) { c = Relu(a) }")
        model.opset_import.add(domain="com.example", version=1)
        assert function_types(model)["d", "f", ""] == {}

    def test_calls_in_functions_and_in_subgraphs(self) -> None:
        body = """
            y = If (q) <
                then_branch = t () => (float[n,m] r) { r = d.f(x) },
                else_branch = e () => (float[n,m] s) { s = Relu(x) }
            >
        """
        signature = "(bool q, float[2,3] x) => (float[] y)"
        functions = ("f (a) => (c) { b = d.h(a) c = Neg(b) }", "h (p) => (r) { r = Relu(p) }")
        types = function_types(_model(body, *functions, signature=signature))
        assert _known(types["d", "h", ""]["r"]) == _known(types["d", "f", ""]["c"]) == (FLOAT, (2, 3))

    def test_attributes_of_the_call_and_defaults(self) -> None:
        function = "f <k, m: int = 1> (a) => (c) { b = Cast <to: int = @k> (a) c = Concat <axis: int = @m> (b, b) }"
        types = function_types(_model("y = d.f <k = 11> (x)", function))["d", "f", ""]
        assert _known(types["c"]) == (DOUBLE, (2, 6))

    def test_calls_that_leave_out_operands_and_attributes(self) -> None:
        function = "f <k> (a, o) => (c) { c = Transpose <perm: ints = @k> (a) d = Relu(o) }"
        types = function_types(_model("y = d.f(x)", function))["d", "f", ""]
        assert _known(types["c"]) == (FLOAT, (3, 2))
        assert "d" not in types

    def test_a_function_that_is_never_called(self) -> None:
        model = _model("y = Relu(x)", "f (a) => (c) { c = Relu(a) }")
        assert function_types(model) == {("d", "f", ""): {}}
        model.functions[0].value_info.append(helper.make_tensor_value_info("c", FLOAT, [4]))
        assert _known(function_types(model)["d", "f", ""]["c"]) == (FLOAT, (4,))

    def test_another_operator_set_in_the_function(self) -> None:
        model = _model("y = d.f(x)", "f (a) => (c) { c = ReduceSum <axes = [1]> (a) }")
        model.functions[0].opset_import[0].version = 11
        assert _known(function_types(model)["d", "f", ""]["c"]) == (FLOAT, (2, 1))

    def test_invented_names_of_sizes_are_not_known(self) -> None:
        calls = "n = NonZero(x) u = Cast <to = 1> (n) v = d.f(u) y = d.f(u)"
        types = function_types(_model(calls, "f (a) => (c) { c = Relu(a) }"))["d", "f", ""]
        assert _known(types["c"]) == (FLOAT, (2, None))


class TestTypedScopes:
    """Every scope of a model, with the types that inference finds: in subgraphs and functions too."""

    MODEL = """
        u = Relu(x)
        y = If (q) <
            then_branch = t () => (float[n,m] r) { i = Neg(u) r = d.f(i) },
            else_branch = e () => (float[n,m] s) { s = Relu(x) }
        >
    """
    FUNCTION = """
        f (a) => (c) {
            g = Constant <value = bool {1}> ()
            c = If (g) <
                then_branch = t () => (float[n,m] r) { h = Neg(a) r = Abs(h) },
                else_branch = e () => (float[n,m] s) { s = Relu(a) }
            >
        }
    """

    def _model(self) -> ModelProto:
        return _model(self.MODEL, self.FUNCTION, signature="(bool q, float[2,3] x) => (float[] y)")

    def test_holders_are_those_of_the_model_in_its_order(self) -> None:
        model = self._model()
        plain = list(scopes(model, {"f": "f"}))
        typed = list(typed_scopes(model))
        assert [scope.path for scope in typed] == [scope.path for scope in plain]
        assert len(typed) == 6
        for scope, other in zip(typed, plain, strict=True):
            assert scope.holder == other.holder
            assert scope.opsets == other.opsets
        typed[4].holder.node[0].name = "edited"
        assert model.functions[0].node[1].attribute[0].g.node[0].name == "edited"

    def test_types_in_subgraphs_those_around_included(self) -> None:
        by_path = {scope.path: scope.types for scope in typed_scopes(self._model())}
        assert _known(by_path[""]["u"]) == (FLOAT, (2, 3))
        assert _known(by_path["If:then_branch"]["i"]) == (FLOAT, (2, 3))
        assert _known(by_path["If:then_branch"]["u"]) == (FLOAT, (2, 3))
        assert _known(by_path["f/If:then_branch"]["h"]) == (FLOAT, (2, 3))
        assert _known(by_path["f/If:then_branch"]["a"]) == (FLOAT, (2, 3))
        assert "h" not in by_path["f"]

    def test_large_initializers_have_their_type(self) -> None:
        model = _model("y = MatMul(x, w)", signature="(float[2,3] x) => (float[] y)")
        weights = np.zeros((3, 5000), np.float32)
        model.graph.initializer.append(numpy_helper.from_array(weights, "w"))
        (scope,) = typed_scopes(model)
        assert _known(scope.types["w"]) == (FLOAT, (3, 5000))
        assert _known(scope.types["y"])[0] == FLOAT
        assert [value.name for value in model.graph.input] == ["x"]

    def test_small_initializers_decide_shapes(self) -> None:
        model = _model("z = Reshape(x, s) y = Relu(z)")
        model.graph.initializer.append(numpy_helper.from_array(np.array([6]), "s"))
        (scope,) = typed_scopes(model)
        assert _known(scope.types["z"]) == (FLOAT, (6,))
