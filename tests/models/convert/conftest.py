"""What the tests of conversions share: one division as a model, and running a model that is not in a file."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from onnx import ModelProto, helper, numpy_helper

from tests.models.built_models import check_file
from vinculum.models.onnx.file import normalise
from vinculum.models.onnx.model import model_of
from vinculum.spec.element_types import ElementType

Shape = Sequence[int | str | None]


@pytest.fixture
def division() -> Callable[..., ModelProto]:
    """Return a function that builds a model of one Div, ``C = A / B``; B is an initializer if its array is given."""

    def build(
        opset: int,
        element_type: ElementType,
        a: Shape,
        b: Shape | NDArray[Any],
        **attributes: Any,
    ) -> ModelProto:
        code = element_type.onnx_code or 0
        node = helper.make_node("Div", ["A", "B"], ["C"], "ratio", **attributes)
        inputs = [helper.make_tensor_value_info("A", code, a)]
        initializers = []
        if isinstance(b, np.ndarray):
            initializers.append(numpy_helper.from_array(b, "B"))
            rank = max(len(a), b.ndim)
        else:
            inputs.append(helper.make_tensor_value_info("B", code, b))
            rank = max(len(a), len(b))
        output = helper.make_tensor_value_info("C", code, [None] * rank)
        graph = helper.make_graph([node], "g", inputs, [output], initializers)
        return helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=8)

    return build


@pytest.fixture
def run(tmp_path: Path) -> Callable[..., dict[str, NDArray[Any]]]:
    """Return a function that checks a model with onnx.checker and runs it by our engine."""

    def execute(
        proto: ModelProto, arrays: Mapping[str, NDArray[Any]], *, check: bool = True, **policies: Any
    ) -> dict[str, NDArray[Any]]:
        file = tmp_path / "run.onnx"
        file.write_bytes(proto.SerializeToString())
        if check:
            check_file(file)
        copy = ModelProto()
        copy.CopyFrom(proto)
        normalise(copy, file)
        return model_of(copy, file).run(arrays, **({"zero_divisor": "zero"} | policies))

    return execute
