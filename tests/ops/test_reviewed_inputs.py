"""Inputs that a reviewer broke the operators with."""

from __future__ import annotations

import pickle
from pathlib import Path

import numpy as np
import pytest

from vinculum import AttributeValueError, ConstraintError, ElementTypeError, Operator, div, load

EXAMPLES = Path(__file__).parents[2] / "examples"


class TestOut:
    """An `out` of another class than ndarray is written if it is an array without a mask."""

    def test_a_matrix_is_written(self) -> None:
        out = np.zeros((2, 2)).view(np.matrix)
        assert div(np.full((2, 2), 6.0), np.full((2, 2), 4.0), out=out) is out
        assert np.asarray(out).tolist() == [[1.5, 1.5], [1.5, 1.5]]

    def test_a_mask_is_refused(self) -> None:
        with pytest.raises(ElementTypeError, match=r"MaskedArray.*without a mask"):
            div(np.ones(2), np.ones(2), out=np.ma.MaskedArray(np.ones(2)))


class TestSonnxOperator:
    """The constraints of SONNX hold however the operator is made."""

    def test_no_policy_replaces_a_constraint(self) -> None:
        with pytest.raises(AttributeValueError, match="overflow is 'saturate'"):
            Operator("Div", dialect="sonnx", variant="int", overflow="saturate")

    def test_the_tag_is_named(self) -> None:
        operator = Operator("Div", dialect="sonnx", variant="int")
        with pytest.raises(ConstraintError, match=r"^\[C3\] 1 of 2") as caught:
            operator(np.array([1, 2], np.int8), np.array([3, 0], np.int8))
        assert (caught.value.tag, caught.value.count, caught.value.first_index) == ("[C3]", 1, (1,))


class TestModel:
    """A model travels to another process before and after it has run."""

    def test_after_a_run(self) -> None:
        model = load(EXAMPLES / "layer_norm" / "model.onnx")
        inputs = {"x": np.load(EXAMPLES / "layer_norm" / "x.npy")}
        expected = model.run(inputs)["y"]
        assert np.array_equal(pickle.loads(pickle.dumps(model)).run(inputs)["y"], expected)
