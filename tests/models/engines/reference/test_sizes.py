"""No small operand makes a tensor larger than the machine's memory."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from onnx import TensorProto, helper

from vinculum.errors import ModelError
from vinculum.models import load
from vinculum.models.engines.reference.repairs import check_result_size

OneLine = Callable[..., AbstractContextManager[None]]
BYTE = helper.make_tensor("v", TensorProto.INT8, [1], [0])


def _node(operator: str, inputs: list[str], **attributes: Any) -> Any:
    return helper.make_node(operator, inputs, ["c"], "n", **attributes)


class TestTooLarge:
    """Bad input: no unbounded memory."""

    @pytest.mark.parametrize(
        ("node", "operands"),
        [
            (_node("ConstantOfShape", ["a"]), [np.array([2**30, 2**30])]),
            (_node("ConstantOfShape", ["a"], value=BYTE), [np.array([2**50])]),
            (_node("Expand", ["a", "b"]), [np.ones(1, np.int8), np.array([2**50])]),
            (_node("Tile", ["a", "b"]), [np.ones(2**10, np.int8), np.array([2**40])]),
            (_node("Range", ["a", "b", "d"]), [np.array(0), np.array(2**60), np.array(1)]),
            (_node("Pad", ["a", "b"]), [np.ones((2, 2)), np.array([0, 2**50, 0, 0])]),
            (
                _node("Pad", ["a", "b", "d", "e"]),
                [np.ones((2, 2)), np.array([0, 2**50]), np.array(0.0), np.array([-1])],
            ),
            (_node("OneHot", ["a", "b", "d"]), [np.array([1]), np.array(2**50), np.array([0, 1], np.int8)]),
            (_node("OneHot", ["a", "b", "d"]), [np.empty(0, np.int64), np.array(2**50), np.array([0, 1], np.int8)]),
            (_node("HannWindow", ["a"]), [np.array(2**50)]),
            (_node("BlackmanWindow", ["a"]), [np.array(2**50)]),
            (_node("HammingWindow", ["a"]), [np.array(2**50)]),
            (_node("Resize", ["a", "", "b"]), [np.ones((1, 2)), np.array([1, 2**50], np.float32)]),
            (_node("Resize", ["a", "", "", "b"]), [np.ones((1, 2)), np.array([1, 2**50])]),
            (_node("Resize", ["a", "", "", "b"], axes=[1]), [np.ones((1, 2)), np.array([2**50])]),
        ],
    )
    def test_refused_before_it_is_allocated(
        self, onnx_file: Callable[..., Path], one_line: OneLine, node: Any, operands: list[Any]
    ) -> None:
        codes = [helper.np_dtype_to_tensor_dtype(array.dtype) for array in operands]
        given = [name for name in node.input if name]
        declared = {name: (code, None) for name, code in zip(given, codes, strict=True)}
        model = load(onnx_file([node], declared, {"c": (TensorProto.FLOAT, None)}))
        with one_line(ModelError, "node 'n'", "its result would take"):
            model.run(dict(zip(given, operands, strict=True)))


class TestSmallEnough:
    """What fits is not refused."""

    @pytest.mark.parametrize(
        ("node", "operands"),
        [
            (_node("ConstantOfShape", ["a"]), [np.array([], np.int64)]),
            (_node("Expand", ["a", "b"]), [np.ones(1), np.array([3, 4])]),
            (_node("Tile", ["a", "b"]), [np.ones(2), np.array([0])]),
            (_node("Range", ["a", "b", "d"]), [np.array(5.0), np.array(1.0), np.array(0.5)]),
            (_node("Range", ["a", "b", "d"]), [np.array(5), np.array(1), np.array(0)]),
            (_node("Pad", ["a"], pads=[0, 1, 0, 1]), [np.ones((2, 2))]),
            (_node("Pad", ["a", "b"]), [np.ones((2, 2)), np.array([-(2**50), 0, 0, 0])]),
            (_node("OneHot", ["a", "b", "d"]), [np.array([1]), np.array([-(2**50)]), np.array([0, 1])]),
            (_node("Upsample", ["a", "b"]), [np.ones((1, 2)), np.array([1, 2], np.float32)]),
            (_node("Resize", ["a", "b", "d"]), [np.ones((1, 2)), None, np.array([np.nan, 1], np.float32)]),
            (_node("ConstantOfShape", ["a"], domain="custom"), [np.array([2**30, 2**30])]),
        ],
    )
    def test_passes(self, node: Any, operands: list[Any]) -> None:
        check_result_size(node, operands)
