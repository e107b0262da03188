"""Valid but rare models: they are run and converted, or refused in one line."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from numpy.typing import NDArray
from onnx import ModelProto, TensorProto, helper, numpy_helper

from tests.models.built_models import one_line, text_model, written
from vinculum.errors import ModelError
from vinculum.models import load
from vinculum.models.convert import convert_file, convert_opset
from vinculum.models.onnx.file import write_model
from vinculum.models.onnx.tensors import is_external
from vinculum.models.source import any_source, read_source
from vinculum.repair import harden_file
from vinculum.spec.element_types import by_numpy_name

N = helper.make_node
FLOATS = np.array([1, 2], np.float32)
MAP = """
    s = SequenceConstruct(a, a)
    m = SequenceMap <body = b (float[2] e) => (float[2] r) { r = Div(e, w) }> (s)
    c = ConcatFromSequence <axis = 0> (m)
"""
QUANTIZED = "q = QuantizeLinear(x, s, z) d = DequantizeLinear(q, s, z) y = Div(d, s)"
SCALE = "float s = {0.5}, uint8 z = {3}"
DIV, VIEW = "y = Div(x, x)", "[view] r = Reshape <allowzero = 1> (x, shape) y = Div(r, r)"
# Nodes, inputs, outputs, other arguments of `text_model`, and the operator set that the model is converted to.
CONVERTED: dict[str, tuple[str, str, str, dict[str, Any], int]] = {
    "quantized before operator set 19": (QUANTIZED, "float[4] x", "float[4] y", {"constants": SCALE, "opset": 13}, 17),
    "allowzero without a zero": (
        *(VIEW, "float[2,2] x", "float[4] y"),
        *({"constants": "int64[1] shape = {4}", "opset": 18}, 13),
    ),
    "IR version 2": (DIV, "float[3] x", "float[3] y", {"opset": 6, "ir_version": 2}, 13),
    "an output without a shape": (DIV, "int64[3] x", "int64[] y", {}, 13),
    "an output without a type": (DIV, "int64[3] x", "y", {}, 13),
    "negative zero in a pad": (
        "p = Pad <pads = [1, 0], value = -0.0> (x) y = Div(one, p)",
        *("float[3] x, float[1] one", "float[4] y", {"opset": 10}, 13),
    ),
}


def compared(source: Path, opset: int) -> ModelProto:
    """Convert a model, check that all sets of inputs were compared, and return the result without its external data."""
    target = source.with_name("new.onnx")
    verification = convert_file(source, target, opset=opset).verification
    assert verification is not None
    assert verification.compared == 112
    return onnx.load(target, load_external_data=False)


class TestConverted:
    """Conversions are compared bit for bit, or refused."""

    @pytest.mark.parametrize(("nodes", "inputs", "outputs", "options", "opset"), CONVERTED.values(), ids=CONVERTED)
    def test_one(
        self, tmp_path: Path, nodes: str, inputs: str, outputs: str, options: dict[str, Any], opset: int
    ) -> None:
        model = text_model(nodes, inputs, outputs, **options)
        if model.ir_version < 3:
            del model.opset_import[:]
        assert compared(written(model, tmp_path), opset).opset_import[0].version == opset

    def test_a_zero_that_reshape_means(self) -> None:
        model = text_model(VIEW, "float[2,2] x", "float[0] y", constants="int64[1] shape = {0}", opset=18)
        with one_line(ModelError, "node 'view' (Reshape)", "allowzero"):
            convert_opset(model, 13)

    def test_graphs_for_training(self) -> None:
        model = text_model(DIV, "float[3] x", "float[3] y")
        model.training_info.add().algorithm.name = "step"
        with one_line(ModelError, "training_info", "drop them first"):
            convert_opset(model, 13)


class TestRun:
    """The outputs are ONNX Runtime's."""

    def test_quantized(self) -> None:
        """QuantizeLinear and DequantizeLinear below operator set 19, which the reference evaluator does not know."""
        model = load(text_model(QUANTIZED, "float[4] x", "float[4] y", constants=SCALE, opset=13))
        x = np.array([-9, 0.25, 0.75, 1000], np.float32)  # Saturated, two ties to even, saturated.
        assert model.run({"x": x})["y"].tolist() == [-3, 0, 2, 252]

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
    """A small file cannot request unlimited work."""

    def test_functions_that_double(self) -> None:
        calls = (f"F{n} (x) => (y) {{ t = d.F{n - 1}(x) y = d.F{n - 1}(t) }}" for n in range(1, 41))
        model = text_model("c = d.F40(a)", "float[2] a", "float[2] c", "F0 (x) => (y) { y = Div(x, x) }", *calls)
        for command in (load, lambda given: harden_file(any_source(given), None, "onnxruntime")):
            with one_line(ModelError, "the functions are called 2,199,023,255,551 times in all; at most 100,000"):
                command(model)


class TestFunctions:
    """A function that is called with several types, or never, is inlined if the target lacks a type."""

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


class TestData:
    """External data stays external, is not read for a conversion, and never overwrites unrelated files."""

    def source(self, folder: Path, weights: NDArray[Any]) -> Path:
        """Return the file of a model that divides by weights in another file."""
        t = by_numpy_name(weights.dtype.name)
        model = text_model("y = Div(x, w)", f"{t}[{weights.size}] x", f"{t}[{weights.size}] y", ir_version=8)
        model.graph.initializer.append(numpy_helper.from_array(weights, "w"))
        path = folder / "source.onnx"
        onnx.save_model(model, path, save_as_external_data=True, location="weights", size_threshold=0)
        return path

    def test_it_stays_external(self, tmp_path: Path) -> None:
        weights = np.arange(1, 4001, dtype=np.float32)
        stored = compared(self.source(tmp_path, weights), 13).graph.initializer[0]
        entries = {entry.key: entry.value for entry in stored.external_data}
        assert entries == {"location": "new.onnx.data", "offset": "0", "length": "16000"}
        assert (tmp_path / "new.onnx.data").read_bytes() == weights.tobytes()

    def test_what_is_read(self, tmp_path: Path) -> None:
        """Small initializers are read with the model. If weights may be unknown, missing ones become inputs."""
        path, model = tmp_path / "model.onnx", text_model("r = Reshape(x, s) y = Div(r, w)", "float[?] x", "float[?] y")
        for name, array in (("w", np.ones(4000, np.float32)), ("s", np.array([-1]))):
            model.graph.initializer.append(numpy_helper.from_array(array, name))
        onnx.save_model(model, path, save_as_external_data=True, all_tensors_to_one_file=False, size_threshold=0)
        stored = read_source(path).proto("read").graph.initializer
        assert [(tensor.name, is_external(tensor)) for tensor in stored] == [("w", True), ("s", False)]
        for missing, unknown, known in (("w", ("w",), ["s"]), ("s", ("w", "s"), [])):
            (tmp_path / missing).unlink()
            source = read_source(path, weights="unknown")
            graph = source.proto("read").graph
            assert source.unknown == unknown
            assert [value.name for value in graph.input] == ["x", *unknown]
            assert [tensor.name for tensor in graph.initializer if not is_external(tensor)] == known

    def test_it_is_read_where_its_elements_matter(self, tmp_path: Path) -> None:
        """Div-6 has no int16: the constant divisor is cast, and known to hold no zero."""
        compared(self.source(tmp_path, np.arange(1, 4001, dtype=np.int16)), 7)

    def test_a_loaded_model_needs_no_file_any_more(self, tmp_path: Path) -> None:
        model = load(self.source(tmp_path, np.full(4000, 2.0, np.float32)))
        (tmp_path / "weights").unlink()
        assert model.run({"x": np.ones(4000, np.float32)})["y"].tolist() == [0.5] * 4000

    def test_data_that_shrink_meanwhile(self, tmp_path: Path) -> None:
        model = read_source(self.source(tmp_path, np.ones(4000, np.float32))).proto("read")
        (tmp_path / "weights").write_bytes(b"short")
        with one_line(ModelError, "weights", "became shorter while it was copied"):
            write_model(model, tmp_path / "copy.onnx")

    def test_the_data_of_another(self, tmp_path: Path) -> None:
        source = self.source(tmp_path, np.ones(4000, np.float32))
        other = tmp_path / "new.onnx.data"
        other.write_text("mine")
        with one_line(ModelError, "'new.onnx', which is new", "new.onnx.data' is in the way"):
            convert_file(source, tmp_path / "new.onnx", opset=18)
        assert (other.read_text(), (tmp_path / "new.onnx").exists()) == ("mine", False)
        other.unlink()
        for opset in (18, 19):  # The second time both are replaced.
            compared(source, opset)
        assert other.exists()
