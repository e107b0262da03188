"""GatherElements: indices out of bounds are refused, as the standard says, and not counted down one by one."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from onnx import TensorProto, helper

from vinculum.errors import ModelError
from vinculum.models import load

File = Callable[..., Path]
DATA = np.arange(200, dtype=np.float32).reshape(50, 4)


@pytest.fixture
def gather(onnx_file: File) -> Callable[..., NDArray[Any]]:
    """Return a function that gathers elements of `DATA` by a model."""

    def run(indices: Any, **attributes: Any) -> NDArray[Any]:
        node = helper.make_node("GatherElements", ["x", "i"], ["y"], "n", **attributes)
        inputs = {"x": (TensorProto.FLOAT, None), "i": (TensorProto.INT64, None)}
        model = load(onnx_file([node], inputs, {"y": (TensorProto.FLOAT, None)}))
        return model.run({"x": DATA, "i": np.array(indices, np.int64)})["y"]

    return run


class TestGatherElements:
    """Each index counts along the axis, from its end if it is negative."""

    def test_along_a_long_axis(self, gather: Callable[..., NDArray[Any]]) -> None:
        assert gather([[49, 0, -1, -50]]).tolist() == [[196, 1, 198, 3]]

    def test_along_the_last_axis(self, gather: Callable[..., NDArray[Any]]) -> None:
        assert gather([[3, 0], [-1, 1]], axis=-1).tolist() == [[3, 0], [7, 5]]

    def test_fewer_elsewhere(self, gather: Callable[..., NDArray[Any]]) -> None:
        assert gather([[3], [0]], axis=0).tolist() == [[12], [0]]

    def test_none(self, gather: Callable[..., NDArray[Any]]) -> None:
        assert gather(np.empty((0, 4))).shape == (0, 4)

    @pytest.mark.parametrize("indices", [[[2**63 - 1]], [[-(2**63)]], [[50]], [[-51]], [[0] * 5], [0], 0])
    def test_refused(
        self, gather: Callable[..., NDArray[Any]], one_line: Callable[..., AbstractContextManager[None]], indices: Any
    ) -> None:
        with one_line(ModelError, "node 'n' (GatherElements) cannot be run: "):
            gather(indices)

    @pytest.mark.parametrize("axis", [2, -3])
    def test_a_wrong_axis(
        self, gather: Callable[..., NDArray[Any]], one_line: Callable[..., AbstractContextManager[None]], axis: int
    ) -> None:
        with one_line(ModelError, "node 'n' (GatherElements) cannot be run: "):
            gather([[0]], axis=axis)
