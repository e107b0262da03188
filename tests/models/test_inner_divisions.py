"""The tables of operators that divide internally, and the nodes of a model that do."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from typing import Any

from onnx import FunctionProto, TensorProto, defs, helper

from tests.models.built_models import text_model
from vinculum.models import load
from vinculum.models.inner_divisions import ONNX, what_onnx_divides

DIVIDE = {"Div", "Reciprocal"}
SIZES_ONLY = {"CenterCropPad", "DepthToSpace", "RotaryEmbedding", "SpaceToDepth"}
"""They divide the sizes of their operands."""
ATTRIBUTES: dict[str, dict[str, Any]] = {
    "Attention": {"q_num_heads": 2, "kv_num_heads": 2},
    "DepthToSpace": {"blocksize": 2},
    "GroupNormalization": {"num_groups": 2},
    "LinearAttention": {"q_num_heads": 2, "kv_num_heads": 2},
    "RotaryEmbedding": {"num_heads": 2},
    "SpaceToDepth": {"blocksize": 2},
}
FLOAT = TensorProto.FLOAT


def bodies(schema: Any) -> Iterator[FunctionProto]:
    """Yield the function bodies of a schema; if a body depends on the call, for calls with floats."""
    for opset in schema.function_opset_versions:
        with suppress(Exception):
            yield FunctionProto.FromString(schema.get_function_with_opset_version(opset))
    for opset in schema.context_dependent_function_opset_versions:
        for count in range(schema.min_input, min(schema.max_input, 8) + 1):
            node = helper.make_node(
                schema.name,
                [f"i{k}" for k in range(count)],
                ["o"] * schema.min_output,
                domain=schema.domain,
                **ATTRIBUTES.get(schema.name, {}),
            )
            for rank in (1, 2, 3):
                types = [helper.make_tensor_type_proto(FLOAT, [2, 4, 8][:rank]).SerializeToString()] * count
                with suppress(Exception):  # The operator has no such call.
                    body = schema.get_context_dependent_function_with_opset_version(
                        opset, node.SerializeToString(), types
                    )
                    yield FunctionProto.FromString(body)


class TestOnnx:
    """The table has every operator of ONNX whose body divides, and only operators of ONNX."""

    def test_bodies(self) -> None:
        found = set[str]()
        for schema in defs.get_all_schemas_with_history():
            for body in bodies(schema):
                inner = {node.op_type for node in body.node}
                if inner & DIVIDE or any(("", name) in ONNX for name in inner):
                    assert (schema.domain, schema.name) in ONNX or schema.name in SIZES_ONLY, schema.name
                    found.add(schema.name)
        assert {"LayerNormalization", "RMSNormalization", "Softmax", "GroupNormalization", "Celu"} <= found

    def test_operators_exist(self) -> None:
        known = {(schema.domain, schema.name) for schema in defs.get_all_schemas_with_history()}
        assert set(ONNX) <= known

    def test_other_operators(self) -> None:
        assert [what_onnx_divides("", name) for name in ("Div", "Add", "MatMul", "Softplus")] == [None] * 4
        assert "com.microsoft" in str(what_onnx_divides("com.microsoft", "FusedMatMul"))


class TestModels:
    """`Model.inner_divisions` lists such nodes, also in functions and branches."""

    def test_powers(self) -> None:
        """A power with a constant exponent of 0 or more divides nothing."""
        exponents = {"half": [0.5], "minus_half": [-0.5], "two_and_minus_one": [2.0, -1.0]}
        nodes = [f"{name} = Constant <value_floats = {value}> ()" for name, value in exponents.items()]
        nodes += [f"[{name}] y_{name} = Pow(x, {name})" for name in (*exponents, "e")]
        model = text_model(" ".join(nodes), "float[2] x, float e", "float[] y_half, float[] y_e")
        assert [node.name for node in load(model).inner_divisions] == ["minus_half", "two_and_minus_one", "e"]

    def test_in_functions_and_branches(self) -> None:
        sides = ("then", "else")
        branches = (f"{n}_branch = {n} () => (float[] {n}) {{ [{n}] {n} = LpNormalization(s) }}" for n in sides)
        nodes = f"s = d.Soft(x) [choice] y = If <{', '.join(branches)}> (flag) [asleep] z = Dropout(y)"
        model = text_model(nodes, "bool flag, float[2] x", "float[] z", "Soft (p) => (q) { [soft] q = Softmax(p) }")
        assert {(node.name, node.path, node.has_body) for node in load(model).inner_divisions} == {
            ("then", "If:then_branch", False),
            ("else", "If:else_branch", False),
            ("soft", "Soft", True),
        }
