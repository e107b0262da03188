"""`Model.run(engine="onnxruntime")`: the reference engine's divisions, everything else in ONNX Runtime."""

from __future__ import annotations

import gc
import pickle
import threading
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from onnx import ModelProto, TensorProto, helper, numpy_helper

from tests.models.built_models import one_line, text_model
from tests.models.engines.onnxruntime.test_program import TestDivisions, TestValues, both, integers
from vinculum.errors import DivisionByZeroError, ModelError
from vinculum.models import DivisionRecord, Model, load
from vinculum.spec.element_types import by_numpy_name

__all__ = ["TestDivisions", "TestValues", "integers"]

A, B = np.array([6, -9, 1], np.float32), np.array([2, 3, 7], np.float32)
AB = "float[n] a, float[n] b"


class TestExact:
    """Divisions of every element type, of constants, and where ONNX Runtime would compute others."""

    @pytest.mark.parametrize("dtype", [np.dtype(t) for t in (*"efdbhiqBHIQ", ml_dtypes.bfloat16)], ids=str)
    def test_of_every_element_type(self, dtype: np.dtype[Any]) -> None:
        t = by_numpy_name(dtype.name)
        nodes = "s = Identity(a) [first] q = Div(s, b) u = Reshape(q, flat) [second] r = Div(u, c) y = Identity(r)"
        inputs, shown = f"{t}[n,3] a, {t}[n,3] b, {t}[1] c", f"{t}[] y, {t}[n,3] q"
        model = load(text_model(nodes, inputs, shown, constants="int64[1] flat = {-1}"))
        rng = np.random.default_rng(0)
        a, b = (rng.integers(1, 120, (5, 3)).astype(dtype) for _ in range(2))
        outputs, records = both(model, {"a": a, "b": b, "c": np.array([3], dtype)})
        assert outputs["y"].dtype == dtype
        assert [record.division.name for record in records] == ["first", "second"]

    def test_of_constants(self) -> None:
        """They are observed in every run, and raise errors only in a run."""
        constants = "int32[2] a = {7, -7}, int32[2] b = "
        model = load(text_model("q = Div(a, b) y = Abs(q)", "", "int32[n] y", constants=constants + "{7, -7}"))
        for _ in range(2):
            assert len(both(model, {})[1]) == 1
        model = load(text_model("q = Div(a, b) y = Abs(q)", "", "int32[n] y", constants=constants + "{0, 0}"))
        with pytest.raises(DivisionByZeroError):
            model.run({}, engine="onnxruntime")
        both(model, {}, zero_divisor="saturate")

    def test_in_float16_among_operators_that_have_none(self) -> None:
        """On its own, ONNX Runtime would divide in float32, without rounding the operands to float16."""
        halves = "float16[n] a, float16[n] b"
        model = load(text_model("s = Exp(a) q = Div(s, b) y = Exp(q)", halves, "float16[n] y"))
        a, b = (np.linspace(low, 1, 1000).astype(np.float16) for low in (-3, 0.3))
        records: list[DivisionRecord] = []
        outputs = model.run({"a": a, "b": b}, engine="onnxruntime", observer=records.append)
        assert [record.quotient.dtype for record in records] == [np.float16]
        assert model.run({"a": a, "b": b}, engine="onnxruntime")["y"].tobytes() == outputs["y"].tobytes()

    def test_a_remainder_by_zero(self) -> None:
        model = load(text_model("[node_y] y = Mod(a, b)", "int64[n] a, int64[n] b", "int64[n] y"))
        inputs = {"a": np.array([7, 8]), "b": np.array([2, 0])}
        with one_line(ModelError, "Mod 'node_y' of int64: 1 of 2 divisors are zero, the first at index [1]: 8 mod 0"):
            model.run(inputs, engine="onnxruntime")
        assert model.run(inputs, engine="onnxruntime", zero_divisor="zero")["y"].tolist() == [1, 0]


class TestGraphs:
    """What a model may look like around its divisions."""

    def test_outputs_that_no_node_makes(self) -> None:
        constants = "float[4] w = {0, 1, 2, 3}"
        model = load(text_model("", "float[n] a", "float[n] a, float[n] w", constants=constants))
        outputs, _ = both(model, {"a": A})
        outputs["w"][:], outputs["a"][:] = 0, 0
        assert model.run({"a": A}, engine="onnxruntime")["w"].tolist() == [0, 1, 2, 3]

    def test_outputs_may_be_written(self) -> None:
        nodes = "v = Identity(w) u = Neg(v) q = Div(u, u) y = Abs(q)"
        proto = text_model(nodes, "", "float[n] u, float[n] v, float[n] q, float[n] y")
        proto.graph.initializer.append(numpy_helper.from_array(np.arange(2000, dtype=np.float32), "w"))
        model = load(proto)
        wanted = {name: array.copy() for name, array in model.run({}, engine="onnxruntime").items()}
        for array in model.run({}, engine="onnxruntime").values():
            array[:] = 77
        again = model.run({}, engine="onnxruntime")
        assert {name: array.tobytes() for name, array in again.items()} == {n: a.tobytes() for n, a in wanted.items()}

    def test_initializers_that_are_inputs(self) -> None:
        proto = text_model("s = Mul(a, b) q = Div(s, b) y = Add(q, b)", AB, "float[n] y", ir_version=3)
        proto.graph.initializer.append(numpy_helper.from_array(B, "b"))
        model = load(proto)
        default_outputs, _ = both(model, {"a": A})
        given_outputs, _ = both(model, {"a": A, "b": A})
        assert default_outputs["y"].tolist() != given_outputs["y"].tolist()
        both(model, {"a": A})

    @pytest.mark.parametrize("count", [3, 5000])
    def test_constants_of_every_kind(self, count: int) -> None:
        nodes = """
            c = Constant <value = float {1}> () two = Constant <value_float = 2.0> ()
            axes = Constant <value_ints = [0]> () d = Cast <to = 1> (brain)
            e = Mul(c, two) q = Div(e, two) r = Sub(q, d) y = Unsqueeze(r, axes)
        """
        proto = text_model(nodes, "", "float[] y")
        large = np.arange(1, count + 1, dtype=np.float32)
        proto.graph.node[0].attribute[0].t.CopyFrom(numpy_helper.from_array(large))
        proto.graph.initializer.append(numpy_helper.from_array(large.astype(ml_dtypes.bfloat16), "brain"))
        outputs, _ = both(load(proto), {})
        assert outputs["y"].shape == (1, count)

    def test_a_scan_whose_body_declares_no_shapes(self) -> None:
        """ONNX Runtime runs no Scan without shapes, and infers none after the library's division by a scalar."""
        body = "once (float[2] s, float[2] x) => (float t, float y) { t = Add(s, x) u = Div(k, x) y = Mul(u, x) }"
        nodes = f"k = Constant <value_float = 3.0> () d, c = Scan <num_scan_inputs = 1, body = {body}> (b, a)"
        proto = text_model(nodes, "float[n, 2] a, float[2] b", "float[n, 2] c")
        for value in proto.graph.node[1].attribute[-1].g.output:
            value.ClearField("type")
        both(load(proto), {"a": np.ones((3, 2), np.float32), "b": B[:2]})

    def test_packed_constants(self) -> None:
        nodes = "c = DequantizeLinear(w, scale) q = Div(a, c) y = Mul(q, c)"
        proto = text_model(nodes, "float[n] a", "float[n] y", constants="float scale = {2}", opset=21)
        proto.graph.initializer.append(helper.make_tensor("w", TensorProto.INT4, [3], [1, -2, 7]))
        both(load(proto), {"a": A})

    def test_a_resize_whose_sizes_are_divided(self) -> None:
        """Constants may determine the shapes of other values."""
        nodes, constants = "sizes = Div(s, two) [resize] y = Resize(x, , , sizes)", "int64[4] two = {1, 1, 2, 2}"
        model = load(text_model(nodes, "int64[4] s, float[1,3,8,8] x", "float[] y", constants=constants, opset=18))
        x = np.ones((1, 3, 8, 8), np.float32)
        assert model.run({"s": np.array([1, 3, 8, 8]), "x": x}, engine="onnxruntime")["y"].shape == (1, 3, 4, 4)


OTHER = "; try the reference engine"


class TestRefusals:
    """Models that cannot be run: the error is one line with the node or the value, the reason, and advice."""

    @pytest.mark.parametrize(
        ("nodes", "parts"),
        [
            ("[node_y] y = com.microsoft.Foo(a)", ("node 'node_y' (com.microsoft.Foo)", OTHER)),
            ("s = Neg(a) [node_y] y = Transpose <perm = [0, 1]> (s)", ("node 'node_y' (Transpose)", "perm", OTHER)),
        ],
    )
    def test_nodes(self, nodes: str, parts: tuple[str, ...]) -> None:
        model = text_model(nodes, "float[n] a", "float[] y")
        model.opset_import.add(domain="com.microsoft", version=1)
        with one_line(ModelError, *parts, "cannot be run by ONNX Runtime: "):
            load(model).run({"a": A}, engine="onnxruntime")

    def test_packed_values(self) -> None:
        model = load(text_model("[node_y] y = Identity(a)", "int4[n] a", "int4[n] y", opset=21))
        with one_line(ModelError, "node 'node_y' (Identity) cannot be run by ONNX Runtime", "the reference engine"):
            model.run({"a": np.ones(3, ml_dtypes.int4)}, engine="onnxruntime")
        nodes, constants = "y = QuantizeLinear(a, scale, zero)", "float scale = {2}"
        proto = text_model(nodes, "float[n] a", "int4[n] y", constants=constants, opset=21)
        proto.graph.initializer.append(helper.make_tensor("zero", TensorProto.INT4, [], [0]))
        with one_line(ModelError, "value 'y' has elements of int4"):
            load(proto).run({"a": A}, engine="onnxruntime")

    def test_narrow_values_beside_strings(self) -> None:
        """They are returned if strings are outputs only; with string inputs, ONNX Runtime would return other bits."""
        nodes, outputs = "y = Cast <to = 17> (a) t = Identity(s)", "float8e4m3fn[n] y, string[1] t"
        both(load(text_model(nodes, "float[n] a", outputs, constants='string[1] s = {"b"}', opset=19)), {"a": A})
        model = load(text_model(nodes, "float[n] a, string[1] s", outputs, opset=19))
        with one_line(ModelError, "value 'y' has elements of float8e4m3fn", "; try the reference engine"):
            model.run({"a": A, "s": np.array(["b"], object)}, engine="onnxruntime")


class TestRuns:
    """A model can be run by several threads and after pickling, and its results outlive it."""

    @pytest.fixture
    def proto(self) -> ModelProto:
        nodes = "s = Exp(a) q = Div(s, b) m = MatMul(q, w) n = Slice(m, zero, three) y = Div(n, b)"
        proto = text_model(nodes, AB, "float[n] y", constants="int64[1] zero = {0}, int64[1] three = {3}")
        proto.graph.initializer.append(numpy_helper.from_array(np.eye(3, dtype=np.float32).repeat(1000, 1), "w"))
        return proto

    def test_in_threads(self, proto: ModelProto) -> None:
        model = load(proto)
        inputs = [{"a": A * 0 + k, "b": B + k} for k in range(8)]
        wanted = [model.run(given, engine="onnxruntime")["y"].tobytes() for given in inputs]
        fresh: Model = pickle.loads(pickle.dumps(model))
        met: list[tuple[int, bytes]] = []

        def run(number: int) -> None:
            runs = (fresh.run(inputs[number], engine="onnxruntime")["y"] for _ in range(20))
            met.extend((number, output.tobytes()) for output in runs)

        threads = [threading.Thread(target=run, args=(number,)) for number in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert len(met) == 160
        assert set(met) == set(enumerate(wanted))

    def test_outputs_and_records_outlive_the_model(self, proto: ModelProto) -> None:
        records: list[DivisionRecord] = []
        model = load(proto)
        output = model.run({"a": A, "b": B}, observer=records.append, engine="onnxruntime")["y"]
        held = [output, *(array for r in records for array in (r.dividend, r.divisor) if array is not None)]
        wanted = [array.tobytes() for array in held]
        del model
        gc.collect()
        load(proto).run({"a": B, "b": A}, engine="onnxruntime")
        assert [array.tobytes() for array in held] == wanted
