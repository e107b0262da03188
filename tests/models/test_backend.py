"""The standard ONNX backend interface: what each of its functions takes, gives and refuses."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

import numpy as np
import onnx.backend.base
import pytest
from onnx import ModelProto, NodeProto, TensorProto, helper

from vinculum import backend
from vinculum.errors import AttributeValueError, BroadcastError, DivisionByZeroError, ElementTypeError, ModelError

OneLine = Callable[..., AbstractContextManager[None]]
Build = Callable[..., ModelProto]
FLOATS, BYTES = (TensorProto.FLOAT, [2]), (TensorProto.INT8, [2])
A, B = np.array([6, 9], np.float32), np.array([2, 3], np.float32)
NODE = helper.make_node("Div", ["a", "b"], ["c"], "d")
EDGES = {"a": np.array([-128, 5], np.int8), "b": np.array([-1, 0], np.int8)}


@pytest.fixture
def division(onnx_model: Build) -> ModelProto:
    """Return a model that divides floats."""
    return onnx_model([NODE], {"a": FLOATS, "b": FLOATS}, {"c": FLOATS})


@pytest.fixture
def weighted(onnx_model: Build) -> ModelProto:
    """Return a model that divides floats, and has a divisor of its own."""
    weight = helper.make_tensor("b", TensorProto.FLOAT, [2], [3, 3])
    return onnx_model([NODE], {"b": FLOATS, "a": FLOATS}, {"c": FLOATS}, initializers=[weight])


@pytest.fixture
def bytes_division(onnx_model: Build) -> ModelProto:
    """Return a model that divides 8-bit integers."""
    return onnx_model([NODE], {"a": BYTES, "b": BYTES}, {"c": BYTES})


class TestInterface:
    """It is an ``onnx.backend``: a class, a handle, and a module of functions."""

    def test_the_classes(self, division: ModelProto) -> None:
        assert issubclass(backend.VinculumBackend, onnx.backend.base.Backend)
        assert isinstance(backend.prepare(division), onnx.backend.base.BackendRep)

    def test_every_function_of_the_interface_is_there(self) -> None:
        interface = {name for name in vars(onnx.backend.base.Backend) if not name.startswith("_")}
        assert interface == {"is_compatible", "prepare", "run_model", "run_node", "supports_device"}
        assert interface <= set(backend.__all__)

    def test_the_cpu_alone(self) -> None:
        devices = ["CPU", "CPU:0", "CPU:1", "CUDA", "cpu", ""]
        assert [backend.supports_device(device) for device in devices] == [True, True, False, False, False, False]


class TestPrepare:
    """A message in memory is read as `vinculum.load` reads a file, and stays as it is."""

    def test_the_message_is_not_modified(self, weighted: ModelProto) -> None:
        before = weighted.SerializeToString(deterministic=True)
        backend.prepare(weighted)
        assert weighted.SerializeToString(deterministic=True) == before

    def test_external_data_of_the_working_directory(
        self, weighted: ModelProto, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        onnx.save_model(weighted, str(tmp_path / "m"), save_as_external_data=True, location="w", size_threshold=0)
        split = onnx.load(str(tmp_path / "m"), load_external_data=False)
        monkeypatch.chdir(tmp_path)
        assert backend.prepare(split).run([A])[0].tolist() == [2, 3]

    @pytest.mark.parametrize(
        ("given", "kind", "parts"),
        [
            ("model.onnx", ModelError, ("is a str;", "onnx.load")),
            (ModelProto(), ModelError, ("no ONNX graph",)),
        ],
    )
    def test_what_is_no_model(
        self, one_line: OneLine, given: Any, kind: type[Exception], parts: tuple[str, ...]
    ) -> None:
        with one_line(kind, *parts):
            backend.prepare(given)

    def test_an_illegal_division(self, onnx_model: Build, one_line: OneLine) -> None:
        with one_line(ElementTypeError, "node 'd' (Div-13)", "does not take int8", "Div-14"):
            backend.prepare(onnx_model([NODE], {"a": BYTES, "b": BYTES}, {"c": BYTES}, opset=13))

    def test_an_operator_that_nobody_implements(self, onnx_model: Build, one_line: OneLine) -> None:
        node = helper.make_node("Scatter", ["a", "b", "b"], ["c"], "s")
        with one_line(ModelError, "node 's' (Scatter) cannot be run", "does not implement it"):
            backend.prepare(onnx_model([node], {"a": FLOATS, "b": FLOATS}, {"c": FLOATS}, opset=10))

    def test_another_device(self, division: ModelProto, one_line: OneLine) -> None:
        with one_line(AttributeValueError, "device is 'CUDA'", "'CPU'"):
            backend.prepare(division, "CUDA")

    @pytest.mark.parametrize("function", [backend.prepare, backend.is_compatible])
    def test_another_option(self, division: ModelProto, one_line: OneLine, function: Callable[..., Any]) -> None:
        with one_line(AttributeValueError, "no option 'zero_divisors'", "'zero_divisor', 'overflow'"):
            function(division, zero_divisors="zero")

    def test_the_tolerances_of_the_test_runner_pass(self, division: ModelProto) -> None:
        assert backend.run_model(division, [A, B], rtol=1e-3, atol=0)[0].tolist() == [3, 3]


class TestCompatible:
    """`is_compatible` says whether `prepare` takes the model."""

    def test_yes(self, division: ModelProto) -> None:
        assert backend.is_compatible(division)

    def test_no(self, division: ModelProto, onnx_model: Build) -> None:
        assert not backend.is_compatible(division, "CUDA")
        unknown = helper.make_node("Foo", ["a"], ["c"], domain="d")
        assert not backend.is_compatible(onnx_model([unknown], {"a": FLOATS}, {"c": FLOATS}, domains=["d"]))


class TestRun:
    """Inputs by name, by place, or the only one; outputs by place and by name."""

    @pytest.mark.parametrize("inputs", [[A, B], (A, B), {"b": B, "a": A}])
    def test_two(self, division: ModelProto, inputs: Any) -> None:
        outputs = backend.run_model(division, inputs)
        assert isinstance(outputs, tuple)
        assert len(outputs) == 1
        assert outputs[0] is outputs.c is outputs["c"]  # type: ignore[attr-defined, call-overload]  # a named tuple
        assert outputs[0].tolist() == [3, 3]

    @pytest.mark.parametrize(("inputs", "quotient"), [([A], [2, 3]), (A, [2, 3]), ([B, A], [3, 3]), ({"a": A}, [2, 3])])
    def test_an_input_that_the_model_has_a_value_for(
        self, weighted: ModelProto, inputs: Any, quotient: list[int]
    ) -> None:
        assert backend.run_model(weighted, inputs)[0].tolist() == quotient

    @pytest.mark.parametrize(
        ("inputs", "kind", "parts"),
        [
            ([A], ModelError, ("1 values given by position", "takes 2 inputs: 'a', 'b'")),
            ([A, B, A], ModelError, ("3 values given by position",)),
            ({"a": A}, ModelError, ("no array for input 'b'",)),
            ([A, B[:1]], BroadcastError, ("input 'b' has shape (1,)",)),
            ([A, [2.0, 3.0]], ElementTypeError, ("input 'b' is a list",)),
        ],
    )
    def test_refused(
        self, division: ModelProto, one_line: OneLine, inputs: Any, kind: type[Exception], parts: tuple[str, ...]
    ) -> None:
        with one_line(kind, *parts):
            backend.run_model(division, inputs)

    def test_after_pickling(self, bytes_division: ModelProto) -> None:
        ready = pickle.loads(pickle.dumps(backend.prepare(bytes_division, zero_divisor="saturate")))
        assert ready.run(EDGES).c.tolist() == [-128, 127]

    def test_both_counts_are_told(self, weighted: ModelProto, one_line: OneLine) -> None:
        with one_line(ModelError, "takes 1 or 2"):
            backend.run_model(weighted, [A, B, A])

    def test_options_belong_to_prepare(self, division: ModelProto, one_line: OneLine) -> None:
        with one_line(AttributeValueError, "no option 'zero_divisor'; allowed: none"):
            backend.prepare(division).run([A, B], zero_divisor="zero")


class TestPolicies:
    """Integers follow `zero_divisor` and `overflow`, with the defaults of `vinculum.div`."""

    def test_the_defaults(self, bytes_division: ModelProto) -> None:
        with pytest.raises(DivisionByZeroError) as caught:
            backend.run_model(bytes_division, EDGES)
        assert (caught.value.count, caught.value.first_index) == (1, (1,))
        assert backend.run_model(bytes_division, [EDGES["a"], EDGES["b"] | 1])[0].tolist() == [-128, 5]

    def test_chosen(self, bytes_division: ModelProto) -> None:
        assert backend.run_model(bytes_division, EDGES, zero_divisor="zero")[0].tolist() == [-128, 0]
        ready = backend.prepare(bytes_division, zero_divisor="saturate", overflow="saturate")
        assert ready.run(EDGES)[0].tolist() == [127, 127]

    def test_unknown(self, bytes_division: ModelProto, one_line: OneLine) -> None:
        for function in (backend.prepare, backend.is_compatible):
            with one_line(AttributeValueError, "zero_divisor is 'ignore'"):
                function(bytes_division, zero_divisor="ignore")


class TestSequencesAndOptionals:
    """What is no tensor goes in and comes out: a list, None."""

    def _model(self, onnx_model: Build, node: NodeProto, kind: Callable[..., Any]) -> ModelProto:
        model = onnx_model([node], {"a": FLOATS}, {"c": FLOATS})
        declared = kind(helper.make_tensor_type_proto(TensorProto.FLOAT, None))
        model.graph.input[0].type.CopyFrom(declared)
        model.graph.output[0].type.CopyFrom(declared)
        return model

    def test_a_sequence(self, onnx_model: Build) -> None:
        model = self._model(onnx_model, helper.make_node("Identity", ["a"], ["c"]), helper.make_sequence_type_proto)
        (result,) = backend.run_model(model, {"a": [A, B]})
        assert [item.tolist() for item in result] == [A.tolist(), B.tolist()]
        assert not any(np.shares_memory(item, given) for item, given in zip(result, [A, B], strict=True))
        assert all(item.flags.writeable for item in result)

    def test_an_optional(self, onnx_model: Build) -> None:
        model = self._model(onnx_model, helper.make_node("Identity", ["a"], ["c"]), helper.make_optional_type_proto)
        assert backend.run_model(model, [A])[0].tolist() == A.tolist()

    def test_an_empty_optional(self, onnx_model: Build) -> None:
        node = helper.make_node("OptionalHasElement", ["a"], ["c"])
        model = self._model(onnx_model, node, helper.make_optional_type_proto)
        model.graph.output[0].CopyFrom(helper.make_tensor_value_info("c", TensorProto.BOOL, []))
        assert [backend.run_model(model, [given])[0].item() for given in (None, A)] == [False, True]
