"""ONNX's own backend node tests of Div and Reciprocal, from the installed `onnx` package, with their data."""

from __future__ import annotations

import warnings
from functools import cache
from importlib import import_module
from typing import Any

import numpy as np
import onnx
import pytest
from onnx.backend.test.case import node as node_tests
from onnx.backend.test.case.test_case import TestCase

from vinculum import Operator, div, reciprocal
from vinculum.spec.element_types import by_onnx_code

FUNCTIONS: dict[str, Any] = {"Div": div, "Reciprocal": reciprocal}
# What the onnx releases that we allow have in common; later ones have more.
ALWAYS_THERE = {"test_div", "test_div_bcast", "test_div_example", "test_reciprocal", "test_reciprocal_example"}


@cache
def cases() -> dict[str, TestCase]:
    """Return the node tests whose name contains div or reciprocal, by their names."""
    # Released wheels ship no data for them: these modules make their cases again, which all of them take seconds for.
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        for operator in FUNCTIONS:
            import_module(f"{node_tests.__name__}.{operator.lower()}")
    every = node_tests._NodeTestCases
    return {case.name: case for case in every if "div" in case.name or "reciprocal" in case.name}


def division(case: TestCase) -> onnx.NodeProto:
    """Return the one node of a case."""
    assert case.model is not None
    node: onnx.NodeProto
    (node,) = case.model.graph.node
    return node


def opset_of(case: TestCase) -> int:
    """Return the operator set that the model of a case imports."""
    assert case.model is not None
    return max(int(imported.version) for imported in case.model.opset_import if imported.domain in ("", "ai.onnx"))


def test_none_is_missing() -> None:
    assert set(cases()) >= ALWAYS_THERE


@pytest.mark.parametrize("name", sorted(cases()))
class TestNodes:
    """Each case through the function of its operator, at the operator set that its model imports."""

    def test_quotients(self, name: str) -> None:
        case = cases()[name]
        node, opset = division(case), opset_of(case)
        assert case.data_sets
        for inputs, outputs in case.data_sets:
            (expected,) = outputs
            quotient = FUNCTIONS[node.op_type](*inputs, opset=opset)
            np.testing.assert_array_equal(quotient, expected, strict=True)

    def test_inference(self, name: str) -> None:
        case = cases()[name]
        node, graph = division(case), case.model.graph  # type: ignore[union-attr]  # checked by division
        types = [by_onnx_code(x.type.tensor_type.elem_type) for x in graph.input]
        shapes = [[d.dim_value for d in x.type.tensor_type.shape.dim] for x in graph.input]
        (output,) = graph.output
        element_type, shape = Operator(node.op_type, opset=opset_of(case)).infer(types, shapes)
        assert element_type.onnx_code == output.type.tensor_type.elem_type
        assert shape == tuple(d.dim_value for d in output.type.tensor_type.shape.dim)
