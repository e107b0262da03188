"""What the tests of hardening share: models of one division."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from onnx import ModelProto, helper, numpy_helper

from tests.models.conftest import one_line, onnx_file, onnx_model
from vinculum.spec.element_types import ElementType

__all__ = ["division", "one_line", "onnx_file", "onnx_model"]

Operand = NDArray[Any] | Sequence[int | str | None]


@pytest.fixture
def division() -> Callable[..., ModelProto]:
    """Return a function that builds ``C = A / B``; an operand that is given as an array is an initializer."""

    def build(element_type: ElementType, a: Operand, b: Operand, *, opset: int = 17) -> ModelProto:
        code = element_type.onnx_code or 0
        inputs = [helper.make_tensor_value_info("unused", 1, (1,))]
        initializers = []
        for name, operand in (("A", a), ("B", b)):
            if isinstance(operand, np.ndarray):
                initializers.append(numpy_helper.from_array(operand, name))
            else:
                inputs.append(helper.make_tensor_value_info(name, code, operand))
        rank = max(x.ndim if isinstance(x, np.ndarray) else len(x) for x in (a, b))
        nodes = [
            helper.make_node("Div", ["A", "B"], ["C"], "ratio"),
            helper.make_node("Identity", ["unused"], ["same"]),
        ]
        outputs = [
            helper.make_tensor_value_info("C", code, [None] * rank),
            helper.make_tensor_value_info("same", 1, (1,)),
        ]
        graph = helper.make_graph(nodes, "g", inputs, outputs, initializers)
        return helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=8)

    return build
