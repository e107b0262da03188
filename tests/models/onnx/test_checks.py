"""Every value of a model is made once, before it is used, by an operator of a domain that the model imports."""

from __future__ import annotations

import numpy as np
import pytest
from onnx import SparseTensorProto, helper, numpy_helper

from tests.models.built_models import one_line, text_model
from vinculum.errors import ModelError
from vinculum.models import load

FUNCTION = "F (x) => (y) { [n] y = %s }"
OTHER = '<opset_import: ["e": 1], domain: "d"> '


class TestRefused:
    """Bad input: a malformed graph, or an operator of a domain that is not imported."""

    @pytest.mark.parametrize(
        ("nodes", "functions", "parts"),
        [
            ("[n] c = Div(a, x)", (), ("node 'n' (Div) uses 'x'",)),
            ("[n] c = Neg(d) d = Neg(a)", (), ("node 'n' (Neg) uses 'd'", "no node before")),
            ("c = Neg(a) c = Neg(a)", (), ("produces 'c'", "already")),
            ("a = Neg(b) c = Neg(a)", (), ("produces 'a'", "already")),
            ("d = Neg(a)", (), ("output 'c'", "no node")),
            (
                "c = If(k) <then_branch = t () => (float[2] r) { r = Neg(a) }, "
                "else_branch = e () => (float[2] r) { [n] r = Neg(later) }> later = Neg(a)",
                (),
                ("node 'n' (Neg) uses 'later'",),
            ),
            ("c = d.F(a)", (FUNCTION % "Neg(a)",), ("node 'n' (Neg) uses 'a'",)),
            ("[n] c = custom.Foo(a)", (), ("node 'n' (custom.Foo)", "does not import", "'custom'")),
            (
                "c = d.F(a)",
                (OTHER + FUNCTION % "Neg(x)",),
                ("'n' (Neg)", "'ai.onnx'"),
            ),
        ],
    )
    def test_by_name(self, nodes: str, functions: tuple[str, ...], parts: tuple[str, ...]) -> None:
        with one_line(ModelError, *parts):
            load(text_model(nodes, "float[2] a, float[2] b, bool k", "float[2] c", *functions))

    def test_initializers_twice(self) -> None:
        model = text_model("c = Neg(w)", "", constants="float[2] w = {1, 2}, float[2] w = {1, 2}")
        with one_line(ModelError, "initializer 'w' is defined twice"):
            load(model)

    def test_sparse_initializers(self) -> None:
        model = text_model("c = Neg(a)")
        weight = helper.make_tensor("w", 1, [2], [1, 2])
        sparse = SparseTensorProto(dims=[2], values=weight, indices=numpy_helper.from_array(np.arange(2)))
        model.graph.sparse_initializer.append(sparse)
        with one_line(ModelError, "sparse"):
            load(model)
