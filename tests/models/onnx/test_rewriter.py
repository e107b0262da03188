"""New nodes in the place of one: their constants are what they were asked to be, or refused."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from onnx import FunctionProto, GraphProto, ModelProto, helper
from onnx.reference import ReferenceEvaluator

from vinculum.models.onnx.rewriter import Rewriter


class TestIntegersInFunctions:
    """Before operator set 9 a function holds floats only, and a double is no integer of 64 bits."""

    @pytest.mark.parametrize("number", [0, -1, 2**53, -(2**63), 2**62])
    def test_what_a_double_holds(self, number: int) -> None:
        rewriter = Rewriter(FunctionProto(), 8, set(), "x")
        name = rewriter.constant(np.array([number]), "n")
        graph = helper.make_graph(
            rewriter.nodes, "g", [], [helper.make_value_info(name, helper.make_tensor_type_proto(7, None))]
        )
        model: ModelProto = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 8)])
        results: Any = ReferenceEvaluator(model).run(None, {})
        (result,) = results
        assert result.dtype == np.int64
        assert result.tolist() == [number]

    @pytest.mark.parametrize("number", [2**63 - 1, 2**53 + 1, -(2**53) - 1])
    def test_what_it_does_not(self, number: int) -> None:
        with pytest.raises(ValueError, match=rf"floats only, which do not represent {number}; inline the function"):
            Rewriter(FunctionProto(), 8, set(), "x").constant(np.array([0, number]), "n")

    def test_what_the_largest_unsigned_is_not(self) -> None:
        with pytest.raises(ValueError, match="18446744073709551615"):
            Rewriter(FunctionProto(), 8, set(), "x").constant(np.array(2**64 - 1, np.uint64), "n")

    def test_elsewhere(self) -> None:
        largest = np.array(2**63 - 1)
        Rewriter(FunctionProto(), 9, set(), "x").constant(largest, "n")
        Rewriter(GraphProto(), 1, set(), "x").constant(largest, "n")
