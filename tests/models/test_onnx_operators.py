"""Loop as the standard has it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from onnx import TensorProto, helper

from vinculum.models import Model, load

File = Callable[..., Path]


def _loop(onnx_file: File, operands: Sequence[str], shape: Sequence[int]) -> Model:
    """Return a model that divides by 2 in a loop while the quotient's largest element is above 1, and stacks it."""
    floats = (TensorProto.FLOAT, shape)
    body = helper.make_graph(
        [
            helper.make_node("Div", ["v", "two"], ["w"]),
            helper.make_node("ReduceMax", ["w"], ["top"], keepdims=0),
            helper.make_node("Greater", ["top", "one"], ["h"]),
            helper.make_node("Identity", ["w"], ["s"]),
            helper.make_node("Identity", ["i"], ["n"]),
        ],
        "body",
        [
            helper.make_tensor_value_info("i", TensorProto.INT64, []),
            helper.make_tensor_value_info("g", TensorProto.BOOL, []),
            helper.make_tensor_value_info("v", *floats),
        ],
        [
            helper.make_tensor_value_info("h", TensorProto.BOOL, []),
            helper.make_tensor_value_info("w", *floats),
            helper.make_tensor_value_info("s", *floats),
            helper.make_tensor_value_info("n", TensorProto.INT64, []),
        ],
    )
    numbers = [
        helper.make_tensor("two", TensorProto.FLOAT, [], [2]),
        helper.make_tensor("one", TensorProto.FLOAT, [], [1]),
    ]
    path = onnx_file(
        [helper.make_node("Loop", operands, ["c", "s", "n"], body=body)],
        {"limit": (TensorProto.INT64, []), "going": (TensorProto.BOOL, []), "a": floats},
        {"c": floats, "s": (TensorProto.FLOAT, None), "n": (TensorProto.INT64, None)},
        initializers=numbers,
    )
    return load(path)


class TestLoop:
    """ONNX Loop: the limit and the condition may each be left out, scan outputs are stacked."""

    @pytest.mark.parametrize(
        ("operands", "limit", "going", "iterations"),
        [
            (["limit", "going", "a"], 2, True, 2),
            (["limit", "going", "a"], 9, True, 4),
            (["limit", "going", "a"], 9, False, 0),
            (["limit", "", "a"], 3, True, 3),
            (["", "going", "a"], 0, True, 4),
            (["", "", "a"], 0, True, 4),
            (["limit", "", "a"], 0, True, 0),
        ],
    )
    @pytest.mark.parametrize("shape", [(), (2,), (2, 3)])
    def test_iterations(
        self, onnx_file: File, operands: list[str], limit: int, going: bool, iterations: int, shape: tuple[int, ...]
    ) -> None:
        dividend = np.full(shape, 16, np.float32)
        model = _loop(onnx_file, operands, shape)
        outputs: dict[str, Any] = model.run({"limit": np.array(limit), "going": np.array(going), "a": dividend})
        assert outputs["c"].tolist() == (dividend / 2**iterations).tolist()
        assert outputs["s"].shape == (iterations, *shape)
        assert outputs["s"].dtype == np.float32
        assert [np.unique(step).tolist() for step in outputs["s"]] == [[8], [4], [2], [1]][:iterations]
        assert outputs["n"].tolist() == list(range(iterations))
