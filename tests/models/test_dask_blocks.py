"""`Model.map_blocks`: the outputs of `Model.run`, batch by batch and later."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from pathlib import Path
from typing import Any

import dask
import dask.array as da
import numpy as np
import pytest
from onnx import TensorProto, helper

from vinculum.errors import AttributeValueError, BroadcastError, DivisionByZeroError, ElementTypeError, ModelError
from vinculum.models import Model, load

File = Callable[..., Path]
NODES = [helper.make_node("Div", ["a", "b"], ["c"], "d"), helper.make_node("Neg", ["c"], ["n"])]


def model_of(onnx_file: File, shape: list[str | int], element_type: int = TensorProto.FLOAT) -> Model:
    """Return a model of a quotient and its negative."""
    kind = element_type, shape
    return load(onnx_file(NODES, {"a": kind, "b": (element_type, shape[1:])}, {"c": kind, "n": kind}))


@pytest.fixture
def model(onnx_file: File) -> Model:
    """Return one whose batch has any size."""
    return model_of(onnx_file, ["N", 3])


def operands(dtype: str = "f4") -> tuple[Any, Any]:
    """Return a batch of ten, and a divisor for each item."""
    return np.arange(30).reshape(10, 3).astype(dtype), np.array([1, 3, 7], dtype)


class TestOutputs:
    """Bit for bit those of `run` on all of the batch."""

    @pytest.mark.parametrize("scheduler", ["sync", "threads"])
    def test_every_output(self, model: Model, scheduler: str) -> None:
        a, b = operands()
        wanted = model.run({"a": a, "b": b})
        lazy = model.map_blocks({"a": da.from_array(a, chunks=(4, 3)), "b": b})
        assert list(lazy) == ["c", "n"]
        for name, output in lazy.items():
            assert (output.shape, output.chunks, output.dtype) == ((10, 3), ((4, 4, 2), (3,)), np.float32)
            assert type(output._meta) is np.ndarray
            assert output.compute(scheduler=scheduler).tobytes() == wanted[name].tobytes()
        assert (lazy["c"] + lazy["n"]).compute(scheduler=scheduler).tolist() == np.zeros((10, 3)).tolist()

    def test_several_cut_inputs(self, onnx_file: File) -> None:
        kind = TensorProto.INT32, ["M", "N"]
        model = load(onnx_file(NODES[:1], {"a": kind, "b": kind}, {"c": kind}))
        a, b = np.arange(12, dtype="i4").reshape(3, 4), np.full((3, 4), 5, "i4")
        x, y = da.from_array(a, chunks=(3, 3)), da.from_array(b, chunks=(3, 2))
        output = model.map_blocks({"a": x, "b": y}, batch_axis=1)["c"]
        assert output.chunks == ((3,), (2, 1, 1))
        assert output.compute(scheduler="sync").tolist() == model.run({"a": a, "b": b})["c"].tolist()

    def test_the_model_travels_once(self, model: Model) -> None:
        a, b = operands()
        lazy = model.map_blocks({"a": da.from_array(np.tile(a, (10, 1)), chunks=(1, 3)), "b": b})["c"]
        (optimised,) = dask.optimize(lazy)
        sizes = [len(pickle.dumps(task)) for task in dict(optimised.__dask_graph__()).values()]
        assert len(sizes) > 100
        assert sum(size > len(pickle.dumps(model)) for size in sizes) == 1

    def test_equal_runs_have_equal_keys(self, model: Model) -> None:
        a, b = operands()
        first, second, other = (
            model.map_blocks({"a": da.from_array(a, chunks=(4, 3)), "b": divisor})["c"] for divisor in (b, b, 2 * b)
        )
        assert first.name == second.name != other.name


class TestRefused:
    """What does not fit is said when the graph is built."""

    def test_inputs(self, model: Model) -> None:
        a, b = operands()
        x = da.from_array(a, chunks=(4, 3))
        with pytest.raises(ModelError, match=r"no input is a dask\.array; pass one, or call run"):
            model.map_blocks({"a": a, "b": b})
        with pytest.raises(ModelError, match=r"input 'a' is also cut along axis 1, .*pass \.rechunk\(\{1: -1\}\)"):
            model.map_blocks({"a": x.rechunk(2), "b": b})
        with pytest.raises(ModelError, match=r"input 'a' has shape \(nan, 3\), .*compute_chunk_sizes"):
            model.map_blocks({"a": x[x[:, 0] > 3], "b": b})
        with pytest.raises(ModelError, match="no array for input 'b'"):
            model.map_blocks({"a": x})
        with pytest.raises(ElementTypeError, match="input 'a' has element type double"):
            model.map_blocks({"a": x.astype("f8"), "b": b})
        with pytest.raises(BroadcastError, match=r"input 'a' has shape .* the model declares"):
            model.map_blocks({"a": x[:, :2].rechunk((4, -1)), "b": b})

    @pytest.mark.parametrize("axis", [-1, 2])
    def test_the_batch_axis(self, model: Model, axis: int) -> None:
        a, b = operands()
        with pytest.raises(AttributeValueError, match=rf"batch_axis is {axis}; input 'a' has the axes 0 to 1"):
            model.map_blocks({"a": da.from_array(a, chunks=(4, 3)), "b": b}, batch_axis=axis)

    def test_batches_that_differ(self, onnx_file: File) -> None:
        model = load(
            onnx_file(NODES[:1], {n: (TensorProto.FLOAT, ["N"]) for n in "ab"}, {"c": (TensorProto.FLOAT, ["N"])})
        )
        with pytest.raises(ModelError, match="the inputs differ in size along the batch axis 0"):
            model.map_blocks({"a": da.ones(3, dtype="f4"), "b": da.ones(4, dtype="f4")})

    def test_blocks_of_a_size_that_the_model_does_not_take(self, onnx_file: File) -> None:
        a, b = operands()
        model = model_of(onnx_file, [5, 3])
        assert model.map_blocks({"a": da.from_array(a, chunks=(5, 3)), "b": b})["c"].chunks == ((5, 5), (3,))
        with pytest.raises(BroadcastError, match="the model declares"):
            model.map_blocks({"a": da.from_array(a, chunks=(4, 3)), "b": b})

    def test_outputs_without_a_batch(self, onnx_file: File) -> None:
        total = helper.make_node("ReduceSum", ["a"], ["c"], keepdims=0)
        kind = TensorProto.FLOAT, ["N"]
        model = load(onnx_file([total], {"a": kind}, {"c": (TensorProto.FLOAT, [])}))
        with pytest.raises(ModelError, match="output 'c' of rank 0 has no batch axis 0"):
            model.map_blocks({"a": da.ones(4, dtype="f4", chunks=2)})
        kept = helper.make_node("ReduceSum", ["a"], ["c"], keepdims=1)
        model = load(onnx_file([kept], {"a": kind}, {"c": (TensorProto.FLOAT, [1])}))
        with pytest.raises(
            ModelError, match=r"output 'c' declares 1 along batch axis 0, and the blocks are of \(2, 2\)"
        ):
            model.map_blocks({"a": da.ones(4, dtype="f4", chunks=2)})
        distinct = helper.make_node("Unique", ["a"], ["c"])
        model = load(onnx_file([distinct], {"a": kind}, {"c": (TensorProto.FLOAT, ["M"])}))
        with pytest.raises(ModelError, match=r"block of \d to \d .*output 'c' has shape \(1,\), which does not keep"):
            model.map_blocks({"a": da.ones(4, dtype="f4", chunks=2)})["c"].compute(scheduler="sync")

    def test_zero_divisors_name_the_block(self, onnx_file: File) -> None:
        kind = TensorProto.INT32, ["N"]
        model = load(onnx_file(NODES[:1], {"a": kind, "b": kind}, {"c": kind}))
        b = da.from_array(np.array([1, 2, 3, 4, 0, 6], "i4"), chunks=2)
        inputs = {"a": da.ones(6, dtype="i4", chunks=2), "b": b}
        with pytest.raises(DivisionByZeroError, match=r"^block of 4 to 5 along batch axis 0: node 'd'") as error:
            model.map_blocks(inputs)["c"].compute(scheduler="sync")
        assert (error.value.count, error.value.first_index) == (1, (0,))
        assert model.map_blocks(inputs, zero_divisor="zero")["c"].compute(scheduler="sync").tolist() == [
            1,
            0,
            0,
            0,
            0,
            0,
        ]
