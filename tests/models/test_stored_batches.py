"""Models over stored arrays: the outputs of one run of all items, block by block, stopped or not."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from numpy.typing import NDArray
from onnx import TensorProto, helper

from tests.stored.stores import put, taken
from vinculum.errors import AttributeValueError, DivisionByZeroError, ElementTypeError, ModelError
from vinculum.models import load
from vinculum.models.stored_batches import BatchReport, run_stored
from vinculum.ops.policies import Policies
from vinculum.stored.arrays import Place

File = Callable[..., Path]
Shape = list[int | str]
NODES = [helper.make_node("Div", ["a", "b"], ["c"], "d"), helper.make_node("Neg", ["c"], ["n"])]

pytestmark = pytest.mark.skipif(os.name == "nt", reason="stored arrays are divided on Linux and macOS")


@pytest.fixture
def model(onnx_file: File) -> Path:
    """Return a model of a quotient and its negative, whose batch has any size."""
    return model_of(onnx_file, ["N", 3])


def model_of(onnx_file: File, shape: Shape, element_type: int = TensorProto.FLOAT) -> Path:
    kind = element_type, shape
    return onnx_file(NODES, {"a": kind, "b": (element_type, shape[1:])}, {"c": kind, "n": kind})


def ran(
    model: Path, inputs: dict[str, str | NDArray[Any]], batch: int = 4, suffix: str = ".npy", **options: Any
) -> BatchReport:
    """Run a model; its outputs lie beside the input `a`."""
    folder = Path(str(inputs["a"]).partition(":")[0]).parent
    places = {name: Place.parse(x) if isinstance(x, str) else x for name, x in inputs.items()}
    return run_stored(
        model,
        places,
        lambda name: Place.parse(f"{folder}/{name}{suffix}"),
        batch=batch,
        policies=options.pop("policies", Policies()),
        **options,
    )


class TestOutputs:
    """Bit for bit those of `Model.run`."""

    @pytest.mark.parametrize(("kind", "suffix"), [("npy", ".npy"), ("zarr", ".zarr"), ("hdf5", ".h5:/x")])
    def test_of_every_format(self, kind: str, suffix: str, model: Path, tmp_path: Path) -> None:
        a, b = np.random.default_rng(0).standard_normal((10, 3)).astype("f4"), np.array([1, 3, 7], "f4")
        report = ran(model, {"a": put(tmp_path, "a", a, kind), "b": b}, suffix=suffix)
        assert (report.items, report.blocks, report.resumed) == (10, 3, 0)
        assert report.outputs == {"c": ("float32", (10, 3)), "n": ("float32", (10, 3))}
        wanted = load(model).run({"a": a, "b": b})
        for name in "cn":
            assert taken(f"{tmp_path}/{name}{suffix}").tobytes() == wanted[name].tobytes()
        assert not list(tmp_path.glob("*.journal"))

    def test_a_stored_input_goes_whole_where_its_size_is_declared(self, model: Path, tmp_path: Path) -> None:
        a, b = np.ones((5, 3), "f4"), np.array([1, 2, 4], "f4")
        ran(model, {"a": put(tmp_path, "a", a, "npy"), "b": put(tmp_path, "b", b, "npy")})
        assert np.load(tmp_path / "c.npy").tolist() == (a / b).tolist()

    def test_a_declared_batch_is_taken_again_and_again(self, onnx_file: File, tmp_path: Path) -> None:
        model = model_of(onnx_file, [2, 3])
        a, b = np.arange(18, dtype="f4").reshape(6, 3), np.array([1, 2, 4], "f4")
        ran(model, {"a": put(tmp_path, "a", a, "npy"), "b": b}, batch=2)
        assert np.load(tmp_path / "c.npy").tolist() == (a / b).tolist()

    def test_bfloat16(self, onnx_file: File, tmp_path: Path) -> None:
        model = model_of(onnx_file, ["N", 3], TensorProto.BFLOAT16)
        a, b = np.arange(9).reshape(3, 3).astype(ml_dtypes.bfloat16), np.array([1, 2, 3], ml_dtypes.bfloat16)
        ran(model, {"a": put(tmp_path, "a", a, "npy"), "b": b}, batch=2)
        assert taken(f"{tmp_path}/c.npy", a.dtype).tolist() == (a / b).tolist()

    def test_stopped_and_run_again(self, model: Path, tmp_path: Path) -> None:
        a, b = np.ones((40, 3), "f4"), np.array([1, 2, 4], "f4")
        inputs: dict[str, Any] = {"a": put(tmp_path, "a", a, "npy"), "b": b}

        def stop(done: int, items: int) -> None:
            if done >= 20:
                raise KeyboardInterrupt

        with pytest.raises(KeyboardInterrupt):
            ran(model, inputs, batch=1, advance=stop)
        with pytest.raises(ModelError, match=r"c\.npy\.journal' belongs to another job: it differs in zero_divisor"):
            ran(model, inputs, batch=1, policies=Policies("zero"))
        resumed = ran(model, inputs, batch=1).resumed
        assert 20 <= resumed < 40
        assert np.load(tmp_path / "c.npy").tolist() == (a / b).tolist()
        assert np.load(tmp_path / "n.npy").tolist() == (-a / b).tolist()

    def test_stopped_between_two_outputs(self, model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        a, b = np.ones((8, 3), "f4"), np.array([1, 2, 4], "f4")
        inputs: dict[str, Any] = {"a": put(tmp_path, "a", a, "npy"), "b": b}
        rename = Path.rename

        def first_only(path: Path, target: Path) -> Path:
            if target.name == "n.npy":
                raise KeyboardInterrupt
            return rename(path, target)

        monkeypatch.setattr(Path, "rename", first_only)
        with pytest.raises(KeyboardInterrupt):
            ran(model, inputs)
        monkeypatch.undo()
        left = {"a.npy", "c.npy", "c.npy.journal", "n.npy.partial"}
        assert {path.name for path in tmp_path.iterdir()} - {model.name} == left
        assert ran(model, inputs).resumed == 2
        assert np.load(tmp_path / "n.npy").tolist() == (-a / b).tolist()


class TestRefused:
    """One line, and nothing is left."""

    def test_zero_divisors(self, onnx_file: File, tmp_path: Path) -> None:
        model = model_of(onnx_file, ["N", 3], TensorProto.INT32)
        a = put(tmp_path, "a", np.ones((10, 3), "i4"), "npy")
        before = set(tmp_path.iterdir())
        with pytest.raises(DivisionByZeroError, match=r"^items 0 to 3 of the batch: node 'd'"):
            ran(model, {"a": a, "b": np.array([1, 0, 1], "i4")})
        assert set(tmp_path.iterdir()) == before

    def test_zero_divisors_later(self, onnx_file: File, tmp_path: Path) -> None:
        kind = TensorProto.INT32, ["N"]
        model = onnx_file(NODES[:1], {"a": kind, "b": kind}, {"c": kind})
        b = np.array([1, 2, 3, 4, 0, 6], "i4")
        inputs: dict[str, Any] = {name: put(tmp_path, name, b + (name == "a"), "npy") for name in "ab"}
        before = set(tmp_path.iterdir())
        with pytest.raises(DivisionByZeroError, match=r"^items 4 to 5 of the batch: node 'd'"):
            ran(model, inputs, batch=2)
        assert set(tmp_path.iterdir()) == before
        assert ran(model, inputs, batch=2, policies=Policies("zero")).blocks == 3

    def test_inputs(self, model: Path, tmp_path: Path) -> None:
        b = np.array([1, 3, 7], "f4")
        with pytest.raises(ElementTypeError, match="items 0 to 3 of the batch: input 'a' has element type double"):
            ran(model, {"a": put(tmp_path, "a", np.ones((10, 3)), "npy"), "b": b})
        with pytest.raises(ModelError, match=r"the numbers of items differ or are 0 \(a: 0\); give each input"):
            ran(model, {"a": put(tmp_path, "a", np.ones((0, 3), "f4"), "npy"), "b": b})
        with pytest.raises(AttributeValueError, match="batch is 0"):
            ran(model, {"a": "a.npy"}, batch=0)

    def test_nothing_to_cut(self, onnx_file: File, tmp_path: Path) -> None:
        model = model_of(onnx_file, [5, 3])
        with pytest.raises(ModelError, match="no input has a batch axis: the model fixes the first size of each"):
            ran(model, {"a": put(tmp_path, "a", np.ones((5, 3), "f4"), "npy"), "b": np.ones(3, "f4")})

    @pytest.mark.parametrize(("operator", "sizes"), [("ReduceSum", [1]), ("Unique", ["M"])])
    def test_models_that_do_not_keep_the_batch(
        self, operator: str, sizes: Shape, onnx_file: File, tmp_path: Path
    ) -> None:
        node = helper.make_node(operator, ["a"], ["c"])
        model = onnx_file([node], {"a": (TensorProto.FLOAT, ["N"])}, {"c": (TensorProto.FLOAT, sizes)})
        a = put(tmp_path, "a", np.array([1, 2, 3, 3], "f4"), "npy")
        with pytest.raises(ModelError, match="does not keep the batch"):
            ran(model, {"a": a}, batch=2)

    def test_a_model_that_changes(self, model: Path, tmp_path: Path) -> None:
        a = put(tmp_path, "a", np.ones((4, 3), "f4"), "npy")
        with pytest.raises(ModelError, match="changed during the run"):
            ran(model, {"a": a, "b": np.ones(3, "f4")}, advance=lambda done, items: os.utime(model))
