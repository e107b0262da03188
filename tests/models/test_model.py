"""What `Model.run` promises of its inputs and outputs, whatever the format."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from onnx import ModelProto, TensorProto, helper

from vinculum.errors import AttributeValueError, BroadcastError, ModelError
from vinculum.models import DivisionRecord, DivisionSummary, Model, load, summarise

OneLine = Callable[..., AbstractContextManager[None]]
File = Callable[..., Path]
FLOATS = (TensorProto.FLOAT, [2])
A, B = np.array([6, 9], np.float32), np.array([2, 0], np.float32)


@pytest.fixture
def division(onnx_file: File) -> Model:
    """Return a model that divides."""
    node = helper.make_node("Div", ["a", "b"], ["c"], "d")
    return load(onnx_file([node], {"a": FLOATS, "b": FLOATS}, {"c": FLOATS}))


class TestMemory:
    """Inputs are never modified, and no output shares memory with anything that lasts."""

    def test_an_input_handed_through(self, onnx_file: File) -> None:
        node = helper.make_node("Identity", ["a"], ["c"])
        outputs = load(onnx_file([node], {"a": FLOATS}, {"c": FLOATS, "a": FLOATS})).run({"a": A})
        assert not np.shares_memory(outputs["c"], A)
        assert not np.shares_memory(outputs["a"], A)
        assert not np.shares_memory(outputs["a"], outputs["c"])
        assert outputs["c"].flags.writeable

    @pytest.mark.parametrize("raw", [True, False])
    def test_constants_outlast_what_a_caller_does_to_outputs(self, onnx_file: File, raw: bool) -> None:
        values = A.tobytes() if raw else A.tolist()
        weight = helper.make_tensor("w", TensorProto.FLOAT, [2], values, raw=raw)
        nodes = [helper.make_node("Constant", [], ["k"], value=weight), helper.make_node("Identity", ["w"], ["c"])]
        model = load(onnx_file(nodes, {}, {"c": FLOATS, "k": FLOATS}, initializers=[weight]))
        for output in model.run({}).values():
            output[:] = 0
        assert [output.tolist() for output in model.run({}).values()] == [A.tolist(), A.tolist()]

    def test_one_value_as_two_outputs(self, onnx_file: File) -> None:
        nodes = [helper.make_node("Div", ["a", "a"], ["c"]), helper.make_node("Identity", ["c"], ["d"])]
        outputs = load(onnx_file(nodes, {"a": FLOATS}, {"c": FLOATS, "d": FLOATS})).run({"a": A})
        assert not np.shares_memory(outputs["c"], outputs["d"])

    def test_inputs_that_may_not_be_written(self, division: Model) -> None:
        frozen = A.copy()
        frozen.flags.writeable = False
        assert division.run({"a": frozen, "b": frozen})["c"].tolist() == [1, 1]


class TestInputs:
    """Bad input: missing, surplus, of another type or shape; and what may be left out."""

    def test_in_their_order(self, division: Model) -> None:
        assert division.run([A, A])["c"].tolist() == division.run((A, A))["c"].tolist() == [1, 1]
        assert division(A, B).tolist() == division.run({"a": A, "b": B})["c"].tolist() == [3, np.inf]
        with pytest.raises(ModelError, match="3 inputs given; the model has 2: 'a', 'b'"):
            division(A, B, A)
        with pytest.raises(ModelError, match="no array for input 'b'"):
            division(A)
        with pytest.raises(ModelError, match="the inputs are a ndarray; give a dict of arrays by name, or a list"):
            division.run(A)  # type: ignore[arg-type]  # the subject of the test

    def test_outputs_in_their_order(self, onnx_file: File) -> None:
        nodes = [helper.make_node("Div", ["a", "a"], ["c"]), helper.make_node("Identity", ["a"], ["d"])]
        c, d = load(onnx_file(nodes, {"a": FLOATS}, {"c": FLOATS, "d": FLOATS}))(A)
        assert (c.tolist(), d.tolist()) == ([1, 1], A.tolist())

    def test_an_initializer_that_is_an_input_too(self, onnx_file: File) -> None:
        weight = helper.make_tensor("b", TensorProto.FLOAT, [2], [2, 3])
        node = helper.make_node("Div", ["a", "b"], ["c"])
        path = onnx_file([node], {"a": FLOATS, "b": FLOATS}, {"c": FLOATS}, initializers=[weight])
        model = load(path)
        assert [tensor.optional for tensor in model.inputs] == [False, True]
        assert model.run({"a": A})["c"].tolist() == [3, 3]
        assert model.run({"a": A, "b": A})["c"].tolist() == [1, 1]

    def test_an_initializer_that_is_no_input(self, onnx_file: File, one_line: OneLine) -> None:
        weight = helper.make_tensor("b", TensorProto.FLOAT, [2], [2, 3])
        node = helper.make_node("Div", ["a", "b"], ["c"])
        model = load(onnx_file([node], {"a": FLOATS}, {"c": FLOATS}, initializers=[weight]))
        with one_line(ModelError, "no input 'b'"):
            model.run({"a": A, "b": A})

    def test_bfloat16(self, onnx_file: File) -> None:
        narrow = (TensorProto.BFLOAT16, [3])
        node = helper.make_node("Div", ["a", "b"], ["c"])
        model = load(onnx_file([node], {"a": narrow, "b": narrow}, {"c": narrow}))
        ones = np.ones(3, ml_dtypes.bfloat16)
        quotient = model.run({"a": ones, "b": np.array([3, 0, 7]).astype(ml_dtypes.bfloat16)})["c"]
        assert quotient.dtype == ml_dtypes.bfloat16
        assert quotient.view(np.uint16).tolist() == [0x3EAB, 0x7F80, 0x3E12]

    def test_a_sequence(self, onnx_model: Callable[..., ModelProto], tmp_path: Path) -> None:
        nodes = [helper.make_node("SequenceAt", ["s", "i"], ["a"]), helper.make_node("Div", ["a", "a"], ["c"])]
        proto = onnx_model(nodes, {"s": FLOATS, "i": (TensorProto.INT64, [])}, {"c": FLOATS})
        floats = helper.make_tensor_type_proto(TensorProto.FLOAT, ["N"])
        proto.graph.input[0].type.CopyFrom(helper.make_sequence_type_proto(floats))
        (tmp_path / "m.onnx").write_bytes(proto.SerializeToString())
        model = load(tmp_path / "m.onnx")
        assert repr(model.inputs[0]) == "<tensor 's' (sequence of float, shape (N,))>"
        assert model.run({"s": [B, A, A[:1]], "i": np.array(1)})["c"].tolist() == [1, 1]

    def test_other_shapes(self, division: Model, one_line: OneLine) -> None:
        with one_line(BroadcastError, "input 'a' has shape (1,)"):
            division.run({"a": A[:1], "b": B})

    def test_a_declared_shape_whose_size_overflows(self, onnx_file: File, one_line: OneLine) -> None:
        huge = (TensorProto.FLOAT, [2**40, 2**40])
        with one_line(ModelError, "'a'", "2**63 - 1"):
            load(onnx_file([helper.make_node("Neg", ["a"], ["c"])], {"a": huge}, {"c": FLOATS}))

    def test_old_exporters_write_minus_one(self, onnx_file: File) -> None:
        node = helper.make_node("Neg", ["a"], ["c"])
        model = load(onnx_file([node], {"a": (TensorProto.FLOAT, [-1, 2])}, {"c": (TensorProto.FLOAT, [-1, 2])}))
        assert model.inputs[0].shape == (None, 2)
        assert model.run({"a": np.ones((3, 2), np.float32)})["c"].shape == (3, 2)


class TestPolicies:
    """Integer divisions follow `zero_divisor` and `overflow`."""

    def test_each_is_passed_on(self, onnx_file: File) -> None:
        ints = (TensorProto.INT8, [2])
        node = helper.make_node("Div", ["a", "b"], ["c"])
        model = load(onnx_file([node], {"a": ints, "b": ints}, {"c": ints}))
        inputs = {"a": np.array([-128, 5], np.int8), "b": np.array([-1, 0], np.int8)}
        assert model.run(inputs, zero_divisor="zero")["c"].tolist() == [-128, 0]
        assert model.run(inputs, zero_divisor="saturate", overflow="saturate")["c"].tolist() == [127, 127]

    def test_unknown_policies(self, division: Model, one_line: OneLine) -> None:
        policies: dict[str, Any] = {"zero_divisor": "ignore"}
        with one_line(AttributeValueError, "zero_divisor", "'ignore'", "'saturate'"):
            division.run({"a": A, "b": B}, **policies)


class TestObserver:
    """The observer is called after every executed division."""

    def test_what_it_is_shown(self, division: Model) -> None:
        records: list[DivisionRecord] = []
        output = division.run({"a": A, "b": B}, observer=records.append)["c"]
        (record,) = records
        assert record.division is division.divisions[0]
        assert record.dividend is not None
        assert (record.dividend.tolist(), record.divisor.tolist()) == ([6, 9], [2, 0])
        assert record.quotient.tolist() == output.tolist() == [3, np.inf]
        for array in (record.dividend, record.divisor, record.quotient):
            assert not array.flags.writeable
        assert record.seconds > 0

    def test_runs_of_one_node_add_up(self, onnx_file: File) -> None:
        body = helper.make_graph(
            [helper.make_node("Identity", ["g"], ["h"]), helper.make_node("Div", ["v", "b"], ["w"], "d")],
            "body",
            [
                helper.make_tensor_value_info("i", TensorProto.INT64, []),
                helper.make_tensor_value_info("g", TensorProto.BOOL, []),
                helper.make_tensor_value_info("v", *FLOATS),
            ],
            [helper.make_tensor_value_info("h", TensorProto.BOOL, []), helper.make_tensor_value_info("w", *FLOATS)],
        )
        node = helper.make_node("Loop", ["n", "", "a"], ["c"], body=body)
        path = onnx_file([node], {"n": (TensorProto.INT64, []), "a": FLOATS, "b": FLOATS}, {"c": FLOATS})
        total = DivisionSummary()

        def add(record: DivisionRecord) -> None:
            nonlocal total
            total += summarise(record)

        load(path).run({"n": np.array(4), "a": A, "b": B}, observer=add)
        assert (total.executions, total.elements, total.zero_divisors, total.infinite) == (4, 8, 4, 4)

    def test_its_errors_are_its_own(self, division: Model) -> None:
        def stop(record: DivisionRecord) -> None:
            raise TypeError("enough")

        with pytest.raises(TypeError, match=r"^enough$"):
            division.run({"a": A, "b": B}, observer=stop)

    def test_its_time_is_not_measured(self, division: Model) -> None:
        division.run({"a": A, "b": B})
        records: list[DivisionRecord] = []
        division.run({"a": A, "b": B}, observer=records.append)
        assert records[0].seconds < 1

    def test_two_threads_have_their_own(self, division: Model) -> None:
        def sizes(size: int) -> list[int]:
            seen: list[int] = []
            for _ in range(20):
                division.run(
                    {"a": np.full(2, size, np.float32), "b": np.ones(2, np.float32)},
                    observer=lambda record: seen.append(int(record.quotient[0])),
                )
            return seen

        with ThreadPoolExecutor(4) as pool:
            assert list(pool.map(sizes, range(4))) == [[size] * 20 for size in range(4)]
