"""Valid models that exporters seldom write: they are run and converted, or refused in one line, and never hang."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from onnx import ModelProto, TensorProto, helper

from tests.models.built_models import one_line, text_model
from vinculum.errors import ModelError
from vinculum.models import load
from vinculum.models.convert import convert_file, verification
from vinculum.models.source import any_source
from vinculum.repair import harden_file

N = helper.make_node
FLOATS = np.array([1, 2], np.float32)
MAP = """
    s = SequenceConstruct(a, a)
    m = SequenceMap <body = b (float[2] e) => (float[2] r) { r = Div(e, w) }> (s)
    c = ConcatFromSequence <axis = 0> (m)
"""


def written(model: ModelProto, folder: Path) -> Path:
    """Return the file of a model."""
    path = folder / "model.onnx"
    path.write_bytes(model.SerializeToString())
    return path


class TestRun:
    """The outputs are ONNX Runtime's."""

    @pytest.mark.parametrize(
        "nodes", ["q = Div(a, a) o = Optional(q) c = OptionalGetElement(o)",
                  "o = Optional(a) t = OptionalGetElement(o) c = Div(t, a)"],
    )  # fmt: skip
    def test_a_tensor_behind_an_optional(self, nodes: str) -> None:
        assert load(text_model(nodes, "float[2] a")).run({"a": FLOATS})["c"].tolist() == [1, 1]

    def test_a_map_that_captures(self) -> None:
        model = text_model(MAP, "float[2] a, float[2] w", "float[4] c")
        assert load(model).run({"a": FLOATS, "w": FLOATS * 2})["c"].tolist() == [0.5] * 4

    @pytest.mark.parametrize("indices", [[1, 3], [[0, 1], [1, 1]]], ids=["linear", "coordinates"])
    def test_a_sparse_constant(self, tmp_path: Path, indices: Any) -> None:
        model = text_model("c = Div(a, d)", "float[2,2] a", "float[2,2] c")
        places = helper.make_tensor("i", TensorProto.INT64, np.shape(indices), np.ravel(indices))
        sparse = helper.make_sparse_tensor(helper.make_tensor("v", TensorProto.FLOAT, [2], [4, 8]), places, [2, 2])
        model.graph.node.insert(0, N("Constant", [], ["d"], sparse_value=sparse))
        source = written(model, tmp_path)
        ones = np.ones((2, 2), np.float32)
        assert load(source).run({"a": ones})["c"].tolist() == [[np.inf, 0.25], [np.inf, 0.125]]
        assert convert_file(source, tmp_path / "new.onnx", opset=18).verification is not None

    @pytest.mark.parametrize(("dims", "index"), [([2, 2], 4), ([1 << 20, 1 << 20], 0)], ids=["index", "size"])
    def test_a_sparse_constant_that_does_not_fit(self, dims: list[int], index: int) -> None:
        model = text_model("c = Div(a, d)", "float[2] a")
        places = helper.make_tensor("i", TensorProto.INT64, [1], [index])
        sparse = helper.make_sparse_tensor(helper.make_tensor("v", TensorProto.FLOAT, [1], [4]), places, dims)
        model.graph.node.insert(0, N("Constant", [], ["d"], sparse_value=sparse))
        with one_line(ModelError, "a sparse tensor"):
            load(model)

    def test_an_input_of_any_rank(self, tmp_path: Path) -> None:
        model = text_model("d = Div(a, a) c = Neg(d)", "float[2] a", "float[k] c")
        model.graph.input[0].type.tensor_type.ClearField("shape")
        source = written(model, tmp_path)
        assert convert_file(source, tmp_path / "new.onnx", opset=18).verification is not None
        assert load(tmp_path / "new.onnx").run({"a": FLOATS})["c"].tolist() == [-1, -1]
        assert harden_file(source, tmp_path / "safe.onnx", "portable").validation is None


class TestLimits:
    """What a file of a few kilobytes can demand is limited."""

    def test_functions_that_double(self) -> None:
        calls = (f"F{n} (x) => (y) {{ t = d.F{n - 1}(x) y = d.F{n - 1}(t) }}" for n in range(1, 41))
        model = text_model("c = d.F40(a)", "float[2] a", "float[2] c", "F0 (x) => (y) { y = Div(x, x) }", *calls)
        for command in (load, lambda given: harden_file(any_source(given), None, "onnxruntime")):
            with one_line(ModelError, "the functions are called 2,199,023,255,551 times in all; at most 100,000"):
                command(model)

    def test_a_loop_that_does_not_end(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        """Of a number that is not 0, which the caller's set is, and those drawn are not."""
        monkeypatch.setattr(verification, "_SECONDS", 0.2)
        monkeypatch.setattr(verification, "_FIRST_SECONDS", 0.2)
        model = text_model(
            "is = Equal(x, zero) on = Not(is)"
            " r = Loop <body = b (int64 i, bool go, int64 v) => (bool more, int64 w)"
            " { w = Sub(v, two) e = Equal(w, zero) more = Not(e) }> ( , on, x)"
            " f = Cast <to = 1> (r) q = Div(a, a) c = Add(q, f)",
            "int64 x, float[2] a",
            constants="int64 zero = {0}, int64 two = {2}",
        )
        source = written(model, tmp_path)
        given = {"x": np.array(0), "a": FLOATS}
        found = convert_file(source, tmp_path / "new.onnx", opset=18, inputs=[given]).verification
        assert found is not None
        assert found.skipped > 0
        assert "a loop takes longer" in (found.reason or "")


class TestFunctions:
    """One that is called with several types, or never, is inlined where its operator set lacks a type."""

    def functional(self, *calls: Any) -> ModelProto:
        model = text_model("c = Div(a, a)", "float[2] a", "float[2] c", "F (p, q) => (r) { [inner] r = Div(p, q) }")
        for number, code in enumerate(calls):
            model.graph.input.append(helper.make_tensor_value_info(f"x{number}", code, [2]))
            model.graph.output.append(helper.make_tensor_value_info(f"y{number}", code, [2]))
            model.graph.node.append(N("F", [f"x{number}"] * 2, [f"y{number}"], domain="d"))
        return model

    @pytest.mark.parametrize("calls", [(), (TensorProto.INT8, TensorProto.FLOAT)], ids=["never", "two types"])
    def test_conversion(self, tmp_path: Path, calls: tuple[int, ...]) -> None:
        source = written(self.functional(*calls), tmp_path)
        found = convert_file(source, tmp_path / "new.onnx", opset=13)
        assert (found.changes[0].node, found.changes[0].what) == ("the functions", "inlined")
        assert found.verification is not None
        assert not any_source(tmp_path / "new.onnx").proto("read").functions


def test_files_the_data_of_another(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A file that has nothing to do with the model stays."""
    monkeypatch.setattr("vinculum.models.onnx.file._LARGEST_MESSAGE", 0)
    monkeypatch.setattr("vinculum.models.onnx.file._SMALLEST_APART", 0)
    model = text_model("c = Div(a, w)", "float[2] a")
    model.graph.initializer.append(helper.make_tensor("w", TensorProto.FLOAT, [2], FLOATS.tobytes(), raw=True))
    source = written(model, tmp_path)
    other = tmp_path / "new.onnx.data"
    other.write_text("mine")
    with one_line(ModelError, "'new.onnx', which is new", "new.onnx.data' is in the way"):
        convert_file(source, tmp_path / "new.onnx", opset=18)
    assert (other.read_text(), (tmp_path / "new.onnx").exists()) == ("mine", False)
    other.unlink()
    for opset in (18, 19):  # The second time both are replaced.
        convert_file(source, tmp_path / "new.onnx", opset=opset)
    assert other.exists()
