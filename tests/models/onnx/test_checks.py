"""Every value of a model is made once, before it is used."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from onnx import ModelProto, SparseTensorProto, TensorProto, helper, numpy_helper

from vinculum.errors import ModelError
from vinculum.models import load

OneLine = Callable[..., AbstractContextManager[None]]
FLOATS = (TensorProto.FLOAT, [2])
WEIGHT = helper.make_tensor("w", TensorProto.FLOAT, [2], [1, 2])


def _node(operator: str, inputs: str, output: str, **attributes: Any) -> Any:
    return helper.make_node(operator, inputs.split(), [output], f"node_{output}", **attributes)


class TestValues:
    """Bad input: a malformed graph."""

    @pytest.mark.parametrize(
        ("nodes", "parts"),
        [
            ([("Div", "a x", "c")], ("node 'node_c' (Div) uses 'x'",)),
            ([("Neg", "d", "c"), ("Neg", "a", "d")], ("node 'node_c' (Neg) uses 'd'", "no node before")),
            ([("Neg", "a", "c"), ("Neg", "a", "c")], ("produces 'c'", "already")),
            ([("Neg", "b", "a"), ("Neg", "a", "c")], ("produces 'a'", "already")),
            ([("Neg", "a", "d")], ("output 'c'", "no node")),
        ],
    )
    def test_names(
        self,
        onnx_file: Callable[..., Path],
        one_line: OneLine,
        nodes: list[tuple[str, str, str]],
        parts: tuple[str, ...],
    ) -> None:
        path = onnx_file([_node(*node) for node in nodes], {"a": FLOATS, "b": FLOATS}, {"c": FLOATS})
        with one_line(ModelError, *parts):
            load(path)

    def test_initializers_twice(self, onnx_file: Callable[..., Path], one_line: OneLine) -> None:
        path = onnx_file([_node("Neg", "w", "c")], {}, {"c": FLOATS}, initializers=[WEIGHT, WEIGHT])
        with one_line(ModelError, "initializer 'w' is defined twice"):
            load(path)

    def test_sparse_initializers(
        self, tmp_path: Path, onnx_model: Callable[..., ModelProto], one_line: OneLine
    ) -> None:
        model = onnx_model([_node("Neg", "a", "c")], {"a": FLOATS}, {"c": FLOATS})
        sparse = SparseTensorProto(dims=[2], values=WEIGHT, indices=numpy_helper.from_array(np.arange(2)))
        model.graph.sparse_initializer.append(sparse)
        (tmp_path / "model.onnx").write_bytes(model.SerializeToString())
        with one_line(ModelError, "sparse"):
            load(tmp_path / "model.onnx")

    def test_in_subgraphs_and_functions(self, onnx_file: Callable[..., Path], one_line: OneLine) -> None:
        result = [helper.make_tensor_value_info("t", *FLOATS)]
        good = helper.make_graph([_node("Neg", "a", "t")], "g", [], result)
        bad = helper.make_graph([_node("Neg", "later", "t")], "g", [], result)
        choice = _node("If", "k", "c", then_branch=good, else_branch=bad)
        inputs = {"a": FLOATS, "k": (TensorProto.BOOL, [])}
        with one_line(ModelError, "node 'node_t' (Neg) uses 'later'"):
            load(onnx_file([choice, _node("Neg", "a", "later")], inputs, {"c": FLOATS}))
        function = helper.make_function("d", "F", ["x"], ["y"], [_node("Neg", "a", "y")], [helper.make_opsetid("", 17)])
        call = _node("F", "a", "c", domain="d")
        with one_line(ModelError, "node 'node_y' (Neg) uses 'a'"):
            load(onnx_file([call], {"a": FLOATS}, {"c": FLOATS}, functions=[function], domains=["d"]))


class TestDomains:
    """Bad input: an operator of a domain that the model does not import."""

    def test_of_the_graph(self, onnx_file: Callable[..., Path], one_line: OneLine) -> None:
        path = onnx_file([_node("Foo", "a", "c", domain="custom")], {"a": FLOATS}, {"c": FLOATS})
        with one_line(ModelError, "node 'node_c' (custom.Foo)", "does not import", "'custom'"):
            load(path)

    def test_of_a_function(self, onnx_file: Callable[..., Path], one_line: OneLine) -> None:
        function = helper.make_function("d", "F", ["x"], ["y"], [_node("Neg", "x", "y")], [helper.make_opsetid("e", 1)])
        call = _node("F", "a", "c", domain="d")
        path = onnx_file([call], {"a": FLOATS}, {"c": FLOATS}, functions=[function], domains=["d"])
        with one_line(ModelError, "node 'node_y' (Neg)", "'ai.onnx'"):
            load(path)
