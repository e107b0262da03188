"""What `Model.run` promises of its inputs and outputs, whatever the format."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from itertools import combinations

import numpy as np
import pytest
from onnx import helper

from tests.models.built_models import one_line, text_model
from vinculum.errors import ModelError
from vinculum.models import DivisionRecord, Model, load

A, B = np.array([6, 9], np.float32), np.array([2, 0], np.float32)
DIV = "[d] c = Div(a, b)"


@pytest.fixture
def division() -> Model:
    """Return a model that divides."""
    return load(text_model(DIV))


class TestMemory:
    """Inputs are never modified, and no output shares memory with anything that lasts."""

    def test_one_input_as_several_outputs(self) -> None:
        nodes, outputs = "c = Identity(a) d = Identity(c)", "float[2] c, float[2] d, float[2] a"
        arrays = [A, *load(text_model(nodes, "float[2] a", outputs)).run({"a": A}).values()]
        assert not any(np.shares_memory(one, other) for one, other in combinations(arrays, 2))
        assert all(array.flags.writeable for array in arrays)

    @pytest.mark.parametrize("raw", [True, False])
    def test_constants_outlast_what_a_caller_does_to_outputs(self, raw: bool) -> None:
        weight = helper.make_tensor("w", 1, [2], A.tobytes() if raw else A.tolist(), raw=raw)
        proto = text_model("k = Constant <value = float[2] {6, 9}> () c = Identity(w)", "", "float[2] c, float[2] k")
        proto.graph.initializer.append(weight)
        proto.graph.node[0].attribute[0].t.CopyFrom(weight)
        model = load(proto)
        for output in model.run({}).values():
            output[:] = 0
        assert [output.tolist() for output in model.run({}).values()] == [A.tolist(), A.tolist()]

    def test_one_quotient_as_two_outputs(self) -> None:
        c, d = load(text_model("c = Div(a, a) d = Identity(c)", "float[2] a", "float[2] c, float[2] d"))(A)
        assert (c.tolist(), d.tolist()) == ([1, 1], [1, 1])
        assert not np.shares_memory(c, d)


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

    def test_an_initializer_that_is_an_input_too(self) -> None:
        proto = text_model(DIV)
        proto.graph.initializer.append(helper.make_tensor("b", 1, [2], [2, 3]))
        model = load(proto)
        assert [tensor.optional for tensor in model.inputs] == [False, True]
        assert model.run({"a": A})["c"].tolist() == [3, 3]
        assert model.run({"a": A, "b": A})["c"].tolist() == [1, 1]

    def test_a_sequence(self) -> None:
        model = load(text_model("a = SequenceAt(s, i) c = Div(a, a)", "seq(float[N]) s, int64 i", "float[2] c"))
        assert repr(model.inputs[0]) == "<tensor 's' (sequence of float, shape (N,))>"
        assert model.run({"s": [B, A, A[:1]], "i": np.array(1)})["c"].tolist() == [1, 1]

    def test_a_declared_shape_whose_size_overflows(self) -> None:
        with one_line(ModelError, "'a'", "2**63 - 1"):
            load(text_model("c = Neg(a)", f"float[{2**40},{2**40}] a"))

    def test_old_exporters_write_minus_one(self) -> None:
        proto = text_model("c = Neg(a)", "float[1,2] a", "float[1,2] c")
        for value in (*proto.graph.input, *proto.graph.output):
            value.type.tensor_type.shape.dim[0].dim_value = -1
        model = load(proto)
        assert model.inputs[0].shape == (None, 2)
        assert model.run({"a": np.ones((3, 2), np.float32)})["c"].shape == (3, 2)


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

    def test_its_errors_are_its_own(self, division: Model) -> None:
        def stop(record: DivisionRecord) -> None:
            raise TypeError("enough")

        with pytest.raises(TypeError, match=r"^enough$"):
            division.run({"a": A, "b": B}, observer=stop)

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
