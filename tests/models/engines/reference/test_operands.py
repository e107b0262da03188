"""Reshape: sizes from 0 on, and -1 once; NumPy would take any negative size for -1."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path

import numpy as np
import pytest
from onnx import TensorProto, helper

from vinculum.errors import ModelError
from vinculum.models import Model, load


@pytest.fixture
def reshape(onnx_file: Callable[..., Path]) -> Model:
    """Return a model that reshapes x as its input `shape` says."""
    inputs = {"x": (TensorProto.FLOAT, None), "shape": (TensorProto.INT64, [None])}
    node = helper.make_node("Reshape", ["x", "shape"], ["y"], "n")
    return load(onnx_file([node], inputs, {"y": (TensorProto.FLOAT, None)}))


class TestReshape:
    """Bad input: a shape operand that the standard does not allow."""

    @pytest.mark.parametrize("shape", [[-2], [-1, -1], [2, -(2**63)]])
    def test_refused(
        self, reshape: Model, one_line: Callable[..., AbstractContextManager[None]], shape: list[int]
    ) -> None:
        with one_line(ModelError, "node 'n' (Reshape) cannot be run: its shape operand holds", "-1 once"):
            reshape.run({"x": np.ones((2, 3), np.float32), "shape": np.array(shape)})

    @pytest.mark.parametrize(("shape", "expected"), [([-1], (6,)), ([3, -1], (3, 2)), ([0, 3, 1], (2, 3, 1))])
    def test_allowed(self, reshape: Model, shape: list[int], expected: tuple[int, ...]) -> None:
        assert reshape.run({"x": np.ones((2, 3), np.float32), "shape": np.array(shape)})["y"].shape == expected

    def test_to_no_dimensions(self, reshape: Model) -> None:
        assert reshape.run({"x": np.ones(1, np.float32), "shape": np.empty(0, np.int64)})["y"].shape == ()
