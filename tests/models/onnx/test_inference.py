"""Bad input: nodes and attributes that ONNX's own compiled code does not survive."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from onnx import AttributeProto, ModelProto, TensorProto, helper

from tests.models.built_models import check_file
from vinculum.errors import ModelError
from vinculum.models import load
from vinculum.models.onnx.checks import check_attributes
from vinculum.models.onnx.inference import check_operand_types, infer_types
from vinculum.spec.element_types import FLOAT

File = Callable[..., Path]
Build = Callable[..., ModelProto]
Refusal = Callable[..., AbstractContextManager[None]]
SQUARE = (TensorProto.FLOAT, [2, 2])
INPUTS: Any = {"x": SQUARE, "w": (TensorProto.FLOAT, [2]), "places": (TensorProto.INT64, [2, 1])}
RISKY = [
    ("EyeLike", "", {}),
    ("RegexFullMatch", "", {"pattern": "a"}),
    ("LabelEncoder", "ai.onnx.ml", {"keys_int64s": [1], "values_int64s": [2]}),
    ("TreeEnsemble", "ai.onnx.ml", {"n_targets": 1}),
]


class TestTypes:
    """Of some operators the inference wants the type of an operand that may have none."""

    @pytest.mark.parametrize(("operator", "domain", "attributes"), RISKY)
    @pytest.mark.parametrize("operand", ["unknown", ""])
    def test_no_type(
        self, onnx_model: Build, one_line: Refusal, operator: str, domain: str, attributes: Any, operand: str
    ) -> None:
        nodes = [
            helper.make_node("Custom", ["x"], ["unknown"], domain="custom"),
            helper.make_node(operator, [operand], ["y"], "n", domain=domain, **attributes),
        ]
        outputs = {"y": (TensorProto.FLOAT, None)}
        model = onnx_model(nodes, {"x": SQUARE}, outputs, opset=20, domains=["custom", *([domain] if domain else [])])
        before = model.SerializeToString(deterministic=True)
        infer_types(model)
        assert model.SerializeToString(deterministic=True) == before
        with one_line(ModelError, "node 'n'", operator, "declare it in value_info"):
            check_operand_types(model)

    def test_in_a_function(self, onnx_model: Build) -> None:
        body = [helper.make_node("EyeLike", ["a"], ["b"])]
        function = helper.make_function("d", "F", ["a"], ["b"], body, [helper.make_opsetid("", 20)])
        nodes = [
            helper.make_node("Custom", ["x"], ["unknown"], domain="custom"),
            helper.make_node("F", ["unknown"], ["y"], domain="d"),
        ]
        outputs = {"y": (TensorProto.FLOAT, None)}
        model = onnx_model(nodes, {"x": SQUARE}, outputs, opset=20, domains=["custom", "d"], functions=[function])
        assert infer_types(model).functions[0].node[0].op_type == "EyeLike"

    def test_a_type_that_is_inferred(self, onnx_file: File) -> None:
        nodes = [
            helper.make_node("Neg", ["x"], ["n"]),
            helper.make_node("EyeLike", ["n"], ["eye"]),
            helper.make_node("EyeLike", ["eye"], ["again"]),
            helper.make_node("Div", ["again", "again"], ["y"]),
        ]
        path = onnx_file(nodes, {"x": SQUARE}, {"y": SQUARE})
        model = load(path)
        assert model.divisions[0].element_type is FLOAT
        assert model.divisions[0].shapes == ((2, 2),) * 3
        assert np.isnan(model.run({"x": np.ones((2, 2), np.float32)})["y"][0, 1])
        check_file(path)


class TestAttributes:
    """Values that no operator allows, and that the inference believes."""

    CASES = (
        ("LayerNormalization", ["x", "w"], ["y", "m", "i"], "axis", 2**63 - 1, "-64 to 63"),
        ("LayerNormalization", ["x", "w"], ["y", "m", "i"], "axis", 2**31, "-64 to 63"),
        ("GatherND", ["x", "places"], ["y"], "batch_dims", -1, "0 to 63"),
        ("GatherND", ["x", "places"], ["y"], "batch_dims", -(2**31), "0 to 63"),
        ("Split", ["x"], ["y", "m", "i"], "num_outputs", 2, "allowed: 3"),
        ("Split", ["x"], ["y", "m", "i"], "num_outputs", 1, "allowed: 3"),
        ("Einsum", ["x"], ["y"], "equation", b"\xff\xff", "letters"),
        ("Einsum", ["x"], ["y"], "equation", "...a...", "letters"),
        ("Einsum", ["x"], ["y"], "equation", "i1", "letters"),
    )

    @pytest.mark.parametrize(("operator", "inputs", "outputs", "name", "value", "allowed"), CASES)
    def test_refused(
        self,
        onnx_file: File,
        one_line: Refusal,
        operator: str,
        inputs: list[str],
        outputs: list[str],
        name: str,
        value: int | str | bytes,
        allowed: str,
    ) -> None:
        node = helper.make_node(operator, inputs, outputs, "n")
        node.attribute.append(helper.make_attribute(name, value))
        path = onnx_file([node], INPUTS, {"y": (TensorProto.FLOAT, None)}, opset=18)
        for refuse in (load, check_file):
            with one_line(ModelError, "node 'n'", f"{name!r} is ", allowed):
                refuse(path)

    @pytest.mark.parametrize("default", [True, False])
    def test_handed_to_a_function(self, onnx_file: File, one_line: Refusal, default: bool) -> None:
        """The value passes through two functions, and changes its name on the way."""
        inner = helper.make_node("LayerNormalization", ["x", "w"], ["y", "m", "i"], "n")
        inner.attribute.add(name="axis", type=AttributeProto.INT, ref_attr_name="a")
        call = helper.make_node("Inner", ["x", "w"], ["y"], domain="d")
        call.attribute.add(name="a", type=AttributeProto.INT, ref_attr_name="b")
        opsets = [helper.make_opsetid("", 18), helper.make_opsetid("d", 1)]
        value = helper.make_attribute("b", 2**63 - 1)
        functions = [
            helper.make_function("d", "Inner", ["x", "w"], ["y"], [inner], opsets, ["a"]),
            helper.make_function(
                "d", "Outer", ["x", "w"], ["y"], [call], opsets, *([[], [value]] if default else [["b"]])
            ),
        ]
        node = helper.make_node("Outer", ["x", "w"], ["y"], domain="d")
        if not default:
            node.attribute.append(value)
        path = onnx_file([node], INPUTS, {"y": SQUARE}, opset=18, domains=["d"], functions=functions)
        with one_line(ModelError, "node 'n'", "allowed: -64 to 63"):
            load(path)

    @pytest.mark.parametrize("equation", ["ij", "ij->ji", "i j -> i", "...j->...", "i...", "->", "ij,->i"])
    def test_equations(self, onnx_model: Build, equation: str) -> None:
        node = helper.make_node("Einsum", ["x", "w"], ["y"], equation=equation)
        check_attributes(onnx_model([node], INPUTS, {"y": SQUARE}))

    @pytest.mark.parametrize("axis", [-1, 1])
    def test_allowed(self, onnx_file: File, axis: int) -> None:
        node = helper.make_node("LayerNormalization", ["x", "w"], ["y"], axis=axis)
        model = load(onnx_file([node], INPUTS, {"y": SQUARE}, opset=18))
        arrays = {"x": np.eye(2, dtype=np.float32), "w": np.ones(2, np.float32), "places": np.zeros((2, 1), np.int64)}
        assert model.run(arrays)["y"].shape == (2, 2)
