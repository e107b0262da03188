"""Floor division in ONNX operators: right for every pair, at MIN, and under every policy."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from onnx import GraphProto, ModelProto, helper
from onnx.defs import onnx_opset_version

import vinculum
from tests.models.convert.ir_models import onnx_model_of, pairs
from vinculum.errors import DivisionByZeroError, IntegerOverflowError
from vinculum.models import Model
from vinculum.models.convert.from_openvino.layer_nodes import floored
from vinculum.models.onnx.rewriter import Rewriter
from vinculum.spec.element_types import INT8, INT16, INT32, INT64, ElementType

NEWEST = onnx_opset_version()
NATIVE = [(INT32, 7), (INT64, 8), (INT32, 9), (INT64, 13), (INT8, 14), (INT16, 14), (INT32, NEWEST), (INT64, NEWEST)]


def _proto(element_type: ElementType, opset: int) -> ModelProto:
    graph = GraphProto(name="g")
    rewriter = Rewriter(graph, opset, {"a", "b", "q"}, "ratio")
    quotient = rewriter.add("Div", ["a", "b"], "quotient")
    floor = floored(rewriter, element_type, ("a", "b"), quotient)
    rewriter.name_result(floor, "q")
    graph.node.extend(rewriter.nodes)
    graph.initializer.extend(rewriter.initializers)
    code = element_type.onnx_code or 0
    graph.input.extend(helper.make_tensor_value_info(name, code, ["M", "N"]) for name in "ab")
    graph.output.append(helper.make_tensor_value_info("q", code, [None, None]))
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=9)


@pytest.fixture
def model(tmp_path: Path) -> Callable[..., Model]:
    def build(element_type: ElementType, opset: int) -> Model:
        return onnx_model_of(_proto(element_type, opset), tmp_path)

    return build


def _operands(element_type: ElementType) -> dict[str, Any]:
    a, b = pairs(element_type)
    return {"a": a[np.newaxis], "b": b[np.newaxis]}


@pytest.mark.parametrize(("element_type", "opset"), NATIVE)
class TestEveryPair:
    """The floor of every int8 quotient and of every pair of edge values, as Divide-1 has it."""

    @pytest.mark.parametrize("zero_divisor", ["zero", "saturate"])
    @pytest.mark.parametrize("overflow", ["wrap", "saturate"])
    def test_under_policies(
        self, model: Callable[..., Model], element_type: ElementType, opset: int, zero_divisor: Any, overflow: Any
    ) -> None:
        operands = _operands(element_type)
        policies = {"zero_divisor": zero_divisor, "overflow": overflow}
        result = model(element_type, opset).run(operands, **policies)["q"]
        expected = vinculum.divide(operands["a"], operands["b"], m_pythondiv=True, **policies)
        assert result.tobytes() == expected.tobytes()

    def test_minimum(self, model: Callable[..., Model], element_type: ElementType, opset: int) -> None:
        low, high = element_type.minimum, element_type.maximum
        a = np.array([[low, low, low, low, high, high, -1, 1]], element_type.numpy)
        b = np.array([[-1, low, high, 3, low, -2, low, low]], element_type.numpy)
        expected = [[low, 1, -2, -(-low // 3) - 1, -1, high // -2, 0, -1]]
        assert model(element_type, opset).run({"a": a, "b": b})["q"].tolist() == expected

    def test_errors(self, model: Callable[..., Model], element_type: ElementType, opset: int) -> None:
        a, b = (np.array([[element_type.minimum, 1]], element_type.numpy), np.array([[-1, 0]], element_type.numpy))
        with pytest.raises(DivisionByZeroError):
            model(element_type, opset).run({"a": a, "b": b})
        with pytest.raises(IntegerOverflowError):
            model(element_type, opset).run({"a": a, "b": b}, zero_divisor="zero", overflow="raise")
