"""`Model.run(engine="onnxruntime")`: the reference engine's divisions, everything else in ONNX Runtime."""

from __future__ import annotations

import gc
import pickle
import threading
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from fractions import Fraction
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from numpy.typing import NDArray
from onnx import TensorProto, helper, numpy_helper

from vinculum.errors import DivisionByZeroError, ModelError
from vinculum.models import DivisionRecord, Model, load

Array = NDArray[Any]
File = Callable[..., Path]
OneLine = Callable[..., AbstractContextManager[None]]

FLOATS = (TensorProto.FLOAT, [None])
ANY = (TensorProto.FLOAT, None)
A, B = np.array([6, -9, 1], np.float32), np.array([2, 3, 7], np.float32)


def node(operator: str, inputs: str, outputs: str, domain: str = "", **attributes: Any) -> Any:
    """Return a node, its inputs separated by blanks, ``-`` for one that is left out."""
    names = ["" if name == "-" else name for name in inputs.split()]
    return helper.make_node(operator, names, outputs.split(), f"node_{outputs.split()[0]}", domain=domain, **attributes)


def branch(*nodes: Any, output: str, initializers: Any = ()) -> Any:
    """Return a subgraph of no inputs."""
    declared = [helper.make_tensor_value_info(output, *ANY)]
    return helper.make_graph(nodes, "branch", [], declared, list(initializers))


def both(model: Model, inputs: Mapping[str, Array], **options: Any) -> tuple[dict[str, Array], list[DivisionRecord]]:
    """Return what ONNX Runtime and our divisions give, known to be what the reference engine gives."""
    wanted_records: list[DivisionRecord] = []
    records: list[DivisionRecord] = []
    wanted = model.run(inputs, observer=wanted_records.append, **options)
    outputs = model.run(inputs, observer=records.append, engine="onnxruntime", **options)
    assert list(outputs) == list(wanted)
    for name, array in outputs.items():
        np.testing.assert_array_equal(array, wanted[name], strict=True)
        assert array.flags.writeable
        assert array.dtype == object or array.tobytes() == wanted[name].tobytes()
    divided = sorted((r.division.label, r.quotient.tobytes()) for r in records)
    assert divided == sorted((r.division.label, r.quotient.tobytes()) for r in wanted_records)
    return outputs, records


class TestDivisions:
    """Every division is our engine's: bit for bit, under the policies, observed and named."""

    @pytest.mark.parametrize(
        "dtype",
        [np.dtype(t) for t in (*"efdbhiqBHIQ", ml_dtypes.bfloat16)],
        ids=str,
    )
    def test_of_every_element_type(self, onnx_file: File, dtype: np.dtype[Any]) -> None:
        code = helper.np_dtype_to_tensor_dtype(dtype)
        tensor = (code, [None, 3])
        nodes = [
            node("Identity", "a", "s"),
            node("Div", "s b", "q"),
            node("Reshape", "q flat", "t"),
            node("Div", "t c", "r"),
            node("Identity", "r", "y"),
        ]
        inputs = {"a": tensor, "b": tensor, "c": (code, [1])}
        flat = numpy_helper.from_array(np.array([-1]), "flat")
        model = load(onnx_file(nodes, inputs, {"y": (code, None), "q": tensor}, initializers=[flat]))
        rng = np.random.default_rng(0)
        a, b = (rng.integers(1, 120, (5, 3)).astype(dtype) for _ in range(2))
        outputs, records = both(model, {"a": a, "b": b, "c": np.array([3], dtype)})
        assert outputs["y"].dtype == dtype
        assert [record.division.name for record in records] == ["node_q", "node_r"]

    def test_records_outlive_the_run(self, onnx_file: File) -> None:
        nodes = [node("Mul", "a a", "s"), node("Div", "s b", "q"), node("Mul", "q q", "y")]
        model = load(onnx_file(nodes, {"a": FLOATS, "b": FLOATS}, {"y": FLOATS}))
        records: list[DivisionRecord] = []
        for factor in range(1, 40):
            model.run({"a": A * factor, "b": B}, observer=records.append, engine="onnxruntime")
        for factor, record in enumerate(records, 1):
            assert record.dividend is not None
            assert record.dividend.tolist() == [Fraction(float(a)) ** 2 * factor**2 for a in A]

    def test_one_whose_quotient_nobody_uses(self, onnx_file: File) -> None:
        """ONNX Runtime computes such nodes."""
        integers = (TensorProto.INT32, [None])
        nodes = [node("Div", "a b", "unused"), node("Abs", "a", "y")]
        model = load(onnx_file(nodes, {"a": integers, "b": integers}, {"y": integers}))
        ones = np.ones(2, np.int32)
        _, records = both(model, {"a": ones, "b": ones})
        assert len(records) == 1
        with pytest.raises(DivisionByZeroError, match=r"^node 'node_unused' \(Div-14\): 2 of 2 ") as zero:
            model.run({"a": ones, "b": 0 * ones}, engine="onnxruntime")
        assert (zero.value.count, zero.value.first_index) == (2, (0,))

    def test_of_constants(self, onnx_file: File) -> None:
        """They are observed in every run, and raise in a run and not before."""
        weights = [numpy_helper.from_array(np.array([7, -7], np.int32), name) for name in "ab"]
        zeros = [weights[0], numpy_helper.from_array(np.zeros(2, np.int32), "b")]
        integers = (TensorProto.INT32, [None])
        nodes = [node("Div", "a b", "q"), node("Abs", "q", "y")]
        model = load(onnx_file(nodes, {}, {"y": integers}, initializers=weights))
        for _ in range(2):
            assert len(both(model, {})[1]) == 1
        model = load(onnx_file(nodes, {}, {"y": integers}, initializers=zeros))
        with pytest.raises(DivisionByZeroError):
            model.run({}, engine="onnxruntime")
        both(model, {}, zero_divisor="saturate")

    def test_in_float16_among_operators_that_have_none(self, onnx_file: File) -> None:
        """ONNX Runtime would divide in float32 what was never rounded to float16."""
        halves = (TensorProto.FLOAT16, [None])
        nodes = [node("Exp", "a", "s"), node("Div", "s b", "q"), node("Exp", "q", "y")]
        model = load(onnx_file(nodes, {"a": halves, "b": halves}, {"y": halves}))
        a, b = (np.linspace(low, 1, 1000).astype(np.float16) for low in (-3, 0.3))
        records: list[DivisionRecord] = []
        outputs = model.run({"a": a, "b": b}, engine="onnxruntime", observer=records.append)
        assert [record.quotient.dtype for record in records] == [np.float16]
        assert model.run({"a": a, "b": b}, engine="onnxruntime")["y"].tobytes() == outputs["y"].tobytes()

    def test_a_remainder_by_zero(self, onnx_file: File, one_line: OneLine) -> None:
        integers = (TensorProto.INT64, [None])
        model = load(onnx_file([node("Mod", "a b", "y")], {"a": integers, "b": integers}, {"y": integers}))
        inputs = {"a": np.array([7, 8]), "b": np.array([2, 0])}
        with one_line(ModelError, "Mod 'node_y' of int64: 1 of 2 divisors are zero, the first at index [1]: 8 mod 0"):
            model.run(inputs, engine="onnxruntime")
        assert model.run(inputs, engine="onnxruntime", zero_divisor="zero")["y"].tolist() == [1, 0]


class TestGraphs:
    """What a model may look like around its divisions."""

    def test_outputs_that_no_node_makes(self, onnx_file: File) -> None:
        weight = numpy_helper.from_array(np.arange(4, dtype=np.float32), "w")
        model = load(onnx_file([], {"a": FLOATS}, {"a": FLOATS, "w": FLOATS}, initializers=[weight]))
        outputs, _ = both(model, {"a": A})
        outputs["w"][:], outputs["a"][:] = 0, 0
        assert model.run({"a": A}, engine="onnxruntime")["w"].tolist() == [0, 1, 2, 3]

    def test_outputs_may_be_written(self, onnx_file: File) -> None:
        weight = numpy_helper.from_array(np.arange(2000, dtype=np.float32), "w")
        nodes = [node("Identity", "w", "v"), node("Neg", "v", "u"), node("Div", "u u", "q"), node("Abs", "q", "y")]
        tensors = dict.fromkeys(["u", "v", "q", "y"], FLOATS)
        model = load(onnx_file(nodes, {}, tensors, initializers=[weight]))
        wanted = {name: array.copy() for name, array in model.run({}, engine="onnxruntime").items()}
        for array in model.run({}, engine="onnxruntime").values():
            array[:] = 77
        again = model.run({}, engine="onnxruntime")
        assert {name: array.tobytes() for name, array in again.items()} == {n: a.tobytes() for n, a in wanted.items()}

    def test_initializers_that_are_inputs(self, onnx_file: File) -> None:
        default = numpy_helper.from_array(B, "b")
        nodes = [node("Mul", "a b", "s"), node("Div", "s b", "q"), node("Add", "q b", "y")]
        model = load(onnx_file(nodes, {"a": FLOATS, "b": FLOATS}, {"y": FLOATS}, initializers=[default], ir_version=3))
        default_outputs, _ = both(model, {"a": A})
        given_outputs, _ = both(model, {"a": A, "b": A})
        assert default_outputs["y"].tolist() != given_outputs["y"].tolist()
        both(model, {"a": A})

    @pytest.mark.parametrize("count", [3, 5000])
    def test_constants_of_every_kind(self, onnx_file: File, count: int) -> None:
        large = numpy_helper.from_array(np.arange(1, count + 1, dtype=np.float32))
        brain = numpy_helper.from_array(np.arange(1, count + 1).astype(ml_dtypes.bfloat16), "brain")
        nodes = [
            node("Constant", "", "c", value=large),
            node("Constant", "", "two", value_float=2.0),
            node("Constant", "", "axes", value_ints=[0]),
            node("Cast", "brain", "d", to=TensorProto.FLOAT),
            node("Mul", "c two", "e"),
            node("Div", "e two", "q"),
            node("Sub", "q d", "r"),
            node("Unsqueeze", "r axes", "y"),
        ]
        outputs, _ = both(load(onnx_file(nodes, {}, {"y": ANY}, initializers=[brain])), {})
        assert outputs["y"].shape == (1, count)

    def test_packed_constants(self, onnx_file: File) -> None:
        packed = helper.make_tensor("w", TensorProto.INT4, [3], [1, -2, 7])
        scale = numpy_helper.from_array(np.array(2, np.float32), "scale")
        nodes = [node("DequantizeLinear", "w scale", "c"), node("Div", "a c", "q"), node("Mul", "q c", "y")]
        weights = [packed, scale]
        model = load(onnx_file(nodes, {"a": FLOATS}, {"y": FLOATS}, initializers=weights, opset=21, ir_version=10))
        both(model, {"a": A})

    def test_values_of_changing_type_and_rank(self, onnx_file: File) -> None:
        nodes = [node("Mul", "a a", "s"), node("Div", "s b", "q"), node("Neg", "q", "y")]
        model = load(onnx_file(nodes, {"a": ANY, "b": ANY}, {"y": ANY}))
        for rank in (1, 3, 1):
            both(model, {"a": A.reshape((1,) * (rank - 1) + (3,)), "b": B})

    def test_random_numbers_are_drawn_once(self, onnx_file: File) -> None:
        nodes = [
            node("RandomNormal", "", "r", shape=[4]),
            node("Abs", "r", "p"),
            node("Div", "r r", "one"),
            node("Mul", "r one", "again"),
            node("Sub", "again r", "y"),
        ]
        output = load(onnx_file(nodes, {}, {"y": FLOATS})).run({}, engine="onnxruntime")["y"]
        assert output.tolist() == [0, 0, 0, 0]


class TestShapes:
    """Sizes that are the same in every run are told to ONNX Runtime: they may decide other shapes."""

    def test_a_resize_whose_sizes_are_divided(self, onnx_file: File) -> None:
        nodes = [node("Div", "s two", "sizes"), helper.make_node("Resize", ["x", "", "", "sizes"], ["y"], "resize")]
        inputs = {"s": (TensorProto.INT64, [4]), "x": (TensorProto.FLOAT, [1, 3, 8, 8])}
        two = numpy_helper.from_array(np.array([1, 1, 2, 2], np.int64), "two")
        model = load(onnx_file(nodes, inputs, {"y": ANY}, opset=18, initializers=[two]))
        x = np.ones((1, 3, 8, 8), np.float32)
        assert model.run({"s": np.array([1, 3, 8, 8]), "x": x}, engine="onnxruntime")["y"].shape == (1, 3, 4, 4)


OTHER = "; run the model with the reference engine"
NEITHER = "; the reference engine cannot run it either: it does not implement node 'node_y'"


class TestRefusals:
    """What cannot be run: one line that names the node or the value, the reason, and the way on."""

    @pytest.mark.parametrize(
        ("nodes", "parts"),
        [
            ([node("Foo", "a", "y", "d")], ("node 'node_y' (d.Foo)", NEITHER)),
            ([node("Foo", "a", "y", "com.microsoft")], ("node 'node_y' (com.microsoft.Foo)", NEITHER)),
            (
                [node("Neg", "a", "s"), node("Transpose", "s", "y", perm=[0, 1])],
                ("node 'node_y' (Transpose)", "perm", OTHER),
            ),
            ([node("Neg", "a", "s"), node("Add", "s five", "y")], ("node 'node_y' (Add)", OTHER)),
            ([node("OptionalHasElement", "a", "y", "d")], ("node 'node_y'", NEITHER)),
        ],
    )
    def test_nodes(self, onnx_file: File, one_line: OneLine, nodes: list[Any], parts: tuple[str, ...]) -> None:
        five = numpy_helper.from_array(np.ones(5, np.float32), "five")
        path = onnx_file(nodes, {"a": FLOATS}, {"y": ANY}, domains=["d", "com.microsoft"], initializers=[five])
        with one_line(ModelError, *parts, "cannot be run by ONNX Runtime: "):
            load(path).run({"a": A}, engine="onnxruntime")

    def test_packed_values(self, onnx_file: File, one_line: OneLine) -> None:
        four = (TensorProto.INT4, [None])
        model = load(onnx_file([node("Identity", "a", "y")], {"a": four}, {"y": four}, opset=21, ir_version=10))
        with one_line(ModelError, "node 'node_y' (Identity) cannot be run by ONNX Runtime", "the reference engine"):
            model.run({"a": np.ones(3, ml_dtypes.int4)}, engine="onnxruntime")
        quantize = node("QuantizeLinear", "a scale zero", "y")
        weights = [
            numpy_helper.from_array(np.array(2, np.float32), "scale"),
            helper.make_tensor("zero", four[0], [], [0]),
        ]
        model = load(onnx_file([quantize], {"a": FLOATS}, {"y": four}, initializers=weights, opset=21, ir_version=10))
        with one_line(ModelError, "value 'y' has elements of int4"):
            model.run({"a": A}, engine="onnxruntime")


class TestRuns:
    """A model may be run again, by several threads, and in another process; it says nothing."""

    @pytest.fixture
    def path(self, onnx_file: File) -> Path:
        nodes = [
            node("Exp", "a", "s"),
            node("Div", "s b", "q"),
            node("MatMul", "q w", "m"),
            node("Slice", "m zero three", "n"),
            node("Div", "n b", "y"),
        ]
        weight = numpy_helper.from_array(np.eye(3, dtype=np.float32).repeat(1000, 1), "w")
        bounds = [numpy_helper.from_array(np.array([i]), name) for i, name in ((0, "zero"), (3, "three"))]
        return onnx_file(nodes, {"a": FLOATS, "b": FLOATS}, {"y": FLOATS}, initializers=[weight, *bounds])

    def test_in_threads(self, path: Path) -> None:
        model = load(path)
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

    def test_outputs_and_records_outlive_the_model(self, path: Path) -> None:
        records: list[DivisionRecord] = []
        model = load(path)
        output = model.run({"a": A, "b": B}, observer=records.append, engine="onnxruntime")["y"]
        held = [output, *(array for r in records for array in (r.dividend, r.divisor) if array is not None)]
        wanted = [array.tobytes() for array in held]
        del model
        gc.collect()
        load(path).run({"a": B, "b": A}, engine="onnxruntime")
        assert [array.tobytes() for array in held] == wanted
