"""Types inside model-local functions, as far as all calls agree on them."""

from __future__ import annotations

import numpy as np
from onnx import FunctionProto, ModelProto, TensorProto, TypeProto, helper, numpy_helper, parser

from vinculum.models.onnx.divisions import declared_shape
from vinculum.models.onnx.inference import typed_scopes
from vinculum.models.onnx.scopes import scopes

FLOAT, DOUBLE, INT64 = TensorProto.FLOAT, TensorProto.DOUBLE, TensorProto.INT64


def _model(
    calls: str, *functions: str, signature: str = "(float[2,3] x) => (float[] y)", opset: int = 21
) -> ModelProto:
    graph = f'<ir_version: 10, opset_import: ["" : {opset}, "d" : 1]> g {signature} {{ {calls} }}'
    bodies = [f'<opset_import: ["" : {opset}, "d" : 1], domain: "d"> {function}' for function in functions]
    return parser.parse_model("\n".join([graph, *bodies]))


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

    def test_calls_of_different_ranks_agree_on_the_element_type(self) -> None:
        model = _model("u = Flatten(x) i = Constant <value_ints = [1]> () w = Unsqueeze(x, i) v = d.f(w) y = d.f(u)",
                       "f (a) => (c) { c = Relu(a) }")  # fmt: skip
        assert _known(function_types(model)["d", "f", ""]["c"]) == (FLOAT, None)

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

    def test_functions_that_call_each_other_end(self) -> None:
        # No model may hold them; that is for the checker to say.
        functions = ("f (a) => (c) { c = d.h(a) }", "h (p) => (r) { r = d.f(p) }")
        assert set(function_types(_model("y = d.f(x)", *functions))) == {("d", "f", ""), ("d", "h", "")}


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

    def test_what_inference_cannot_do_is_not_known(self) -> None:
        model = _model("z = Concat <axis = 5> (x, x) y = Relu(z)")
        (scope,) = typed_scopes(model)
        assert _known(scope.types["x"]) == (FLOAT, (2, 3))
        assert "z" not in scope.types or _known(scope.types["z"])[1] is None
