"""Type checkers accept and refuse arrays of other libraries as they are accepted and refused at run time.

`test_checkers` checks this file with mypy and pyright where the libraries are installed; `make types` does not.
"""

from __future__ import annotations

from pathlib import Path
from typing import assert_type

import dask.array
import jax
import numpy as np
import onnx
import torch
from numpy.typing import NDArray

import vinculum
from tests.typing.test_numpy import refused
from vinculum import Operator, div, divide, reciprocal, sonnx
from vinculum.models.rewritten import OpenvinoModel

INT32: NDArray[np.int32] = np.array([7, -7], np.int32)
TENSOR: torch.Tensor = torch.tensor([7, -7], dtype=torch.int32)
JAX: jax.Array = jax.numpy.array([7, -7], jax.numpy.int32)
DASK: dask.array.Array = dask.array.from_array(INT32)


def is_one(quotients: object, kind: type) -> None:
    """Check at run time the type that checkers infer."""
    assert isinstance(quotients, kind)


class TestAccepted:
    """Quotients are arrays of the operands' library."""

    def test_of_one_library(self) -> None:
        is_one(assert_type(div(TENSOR, TENSOR, opset=14), torch.Tensor), torch.Tensor)
        is_one(assert_type(div(JAX, JAX), jax.Array), jax.Array)
        is_one(assert_type(div(DASK, DASK), dask.array.Array), dask.array.Array)
        is_one(assert_type(reciprocal(torch.tensor([2.0])), torch.Tensor), torch.Tensor)
        is_one(assert_type(sonnx.div(TENSOR, TENSOR), torch.Tensor), torch.Tensor)
        is_one(assert_type(Operator("Div")(TENSOR, TENSOR), torch.Tensor), torch.Tensor)

    def test_with_numpy_and_numbers(self) -> None:
        is_one(assert_type(div(TENSOR, INT32), torch.Tensor), torch.Tensor)
        is_one(assert_type(div(INT32, DASK), dask.array.Array), dask.array.Array)
        is_one(assert_type(divide(JAX, 2), jax.Array), jax.Array)
        is_one(assert_type(divide(7, TENSOR, zero_divisor="zero"), torch.Tensor), torch.Tensor)

    def test_out(self) -> None:
        out = torch.empty_like(TENSOR)
        assert assert_type(div(TENSOR, 2, out=out), torch.Tensor) is out


def test_a_rewritten_model_is_one_of_its_format() -> None:
    model = Path(__file__).parents[3] / "examples" / "openvino_rounding" / "div.onnx"
    hardened = assert_type(vinculum.harden(model, target="onnxruntime").model, onnx.ModelProto)
    assert isinstance(hardened, onnx.ModelProto)
    converted = assert_type(vinculum.convert(model, to="openvino").model, OpenvinoModel)
    assert isinstance(converted, OpenvinoModel)


class TestRefused:
    """Refused by checkers, and at run time in one line."""

    def test_lists_and_strings(self) -> None:
        refused(lambda: div(TENSOR, [2]))  # type: ignore[call-overload]
        refused(lambda: div("7", JAX))  # type: ignore[call-overload]
        refused(lambda: sonnx.div(TENSOR, 2), vinculum.VinculumError)  # type: ignore[call-overload]
