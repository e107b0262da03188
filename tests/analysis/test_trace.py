"""Issue 19, point 7: the node that makes the first NaN, infinity or zero divisor, at which index, and why."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from onnx import ModelProto, numpy_helper, save

import vinculum
from tests.analysis import hazardous
from tests.analysis.hazardous import parsed
from tests.fake_runtime import DiesOfMinByMinusOne, FakeRuntime, RaisesAtZero, installed
from tests.models.built_models import text_model
from vinculum.analysis import EngineTrace
from vinculum.analysis.tracing.record import Kind
from vinculum.errors import AttributeValueError, ModelError


def traced(proto: ModelProto, engine: str = "reference", **inputs: NDArray[Any]) -> EngineTrace:
    """Return what a run in one engine comes to."""
    (trace,) = vinculum.trace(proto, inputs, engines=[engine]).traces
    return trace


def unary(operator: str) -> ModelProto:
    return parsed(f"y = {operator}(x)", "float[n] x")


class TestEvents:
    """Each kind is reported at the node that makes it, not at nodes that pass it on."""

    def test_an_empty_mask(self) -> None:
        mask = np.array([[1, 1, 0, 0], [0, 0, 0, 0]], np.float32)
        trace = traced(hazardous.masked_mean(), x=np.ones((2, 4), np.float32), mask=mask)
        zero, nan = trace.events
        assert (zero.kind, nan.kind) == (Kind.ZERO_DIVISOR, Kind.NAN)
        assert {event.node for event in trace.events} == {"mean"}
        assert (nan.index, nan.count, nan.size) == ((1, 0), 1, 2)
        assert [(o.summary.name, o.value) for o in nan.operands] == [("total", 0.0), ("count", 0.0)]
        assert zero.path == ("mask", "count")
        assert [(e.output, e.value, e.count) for e in trace.effects] == [("mean", "NaN", 1)]

    def test_the_first_of_several(self) -> None:
        proto = parsed("[grow] big = Exp(x) small = Neg(big) [add] lost = Add(big, small) y = Sqrt(lost)")
        trace = traced(proto, x=np.array([0, 100, 1], np.float32))
        assert [(e.kind, e.node, e.index) for e in trace.events] == [
            (Kind.INFINITY, "grow", (1,)),
            (Kind.NAN, "add", (1,)),
        ]
        assert [o.value for o in trace.events[1].operands] == [np.inf, -np.inf]
        assert trace.events[0].result == np.inf

    @pytest.mark.parametrize(("operator", "value"), [("Log", -1.0), ("Sqrt", -4.0), ("Acos", 2.0)])
    def test_outside_of_a_domain(self, operator: str, value: float) -> None:
        (event,) = traced(unary(operator), x=np.array([1, value], np.float32)).events
        assert (event.kind, event.index, event.operands[0].value) == (Kind.NAN, (1,), value)

    def test_inputs_that_are_no_numbers(self) -> None:
        report = vinculum.trace(unary("Exp"), {"x": np.array([np.nan, np.inf, 1], np.float32)}, engines=["reference"])
        assert not report.finds
        (held,) = report.inputs
        assert (held.name, held.nan, held.infinite) == ("x", 1, 1)

    def test_constants_that_are_infinite(self) -> None:
        """An attention mask holds -inf: no node made it."""
        proto = parsed("m = Add(x, mask) y = Softmax(m)", "float[2] x", constants="float[2] mask = {0, -inf}")
        assert traced(proto, x=np.ones(2, np.float32)).events == ()

    def test_integers(self) -> None:
        (event,) = traced(hazardous.sizes(), x=np.zeros((3, 4), np.float32)).events
        assert (event.kind, event.node, event.operands[1].value) == (Kind.ZERO_DIVISOR, "ratio", 0)
        assert event.path == ("x", "shape", "n", "less")

    def test_remainders(self) -> None:
        proto = parsed("r = Mod(a, b)", "int64[2] a, int64[2] b", "int64 r")
        (event,) = traced(proto, a=np.array([1, 2]), b=np.array([1, 0])).events
        assert (event.kind, event.index) == (Kind.ZERO_DIVISOR, (1,))

    def test_in_a_branch(self) -> None:
        a, b = np.ones(3, np.float32), np.array([1, 0, 2], np.float32)
        events = traced(hazardous.branches(), wanted=np.array(True), a=a, b=b).events
        assert [(e.kind, e.node, e.scope, e.index) for e in events] == [
            (Kind.ZERO_DIVISOR, "inside", "If:then_branch", (1,)),
            (Kind.INFINITY, "choose", "", (1,)),
        ]
        assert traced(hazardous.branches(), wanted=np.array(False), a=a, b=b).events == ()

    def test_in_a_function(self) -> None:
        function = "Bad (a) => (b) { zero = Constant <value_float = 0.0> () b = Div(a, zero) }"
        proto = text_model("y = Neg(x) z = d.Bad(y)", "float[2] x", "float[2] z", function)
        assert Kind.INFINITY in {e.kind for e in traced(proto, x=np.ones(2, np.float32)).events}

    def test_of_sums_no_element_is_named(self) -> None:
        proto = parsed("[product] y = MatMul(x, x)", "float[2, 2] x")
        (event,) = traced(proto, x=np.full((2, 2), 3e38, np.float32)).events
        assert (event.kind, event.node, event.count) == (Kind.INFINITY, "product", 4)
        assert {operand.value for operand in event.operands} == {None}
        assert {operand.summary.high for operand in event.operands} == {float(np.float32(3e38))}

    def test_nothing_is_divided(self) -> None:
        proto = parsed("q = Div(a, b)", "float[n] a, float[1] b", "float q")
        assert traced(proto, a=np.empty(0, np.float32), b=np.zeros(1, np.float32)).events == ()


class TestEngines:
    """In our engine and in ONNX Runtime, float16 too."""

    def test_both_tell_the_same(self) -> None:
        inputs = {"x": np.ones((2, 4), np.float32), "mask": np.zeros((2, 4), np.float32)}
        with installed(onnxruntime=FakeRuntime):
            ours, theirs = vinculum.trace(hazardous.masked_mean(), inputs).traces
        assert (ours.engine, theirs.engine) == ("vinculum", "onnxruntime 0")
        assert [(e.kind, e.node, e.index) for e in ours.events] == [(e.kind, e.node, e.index) for e in theirs.events]
        assert ours.effects[0].value == theirs.effects[0].value == "NaN"

    def test_float16(self) -> None:
        """Where 1e-12 is zero: the epsilon of a norm is lost."""
        nodes = "guarded = Add(x, epsilon) [ratio] y = Div(x, guarded)"
        proto = parsed(nodes, "float16[2] x", "float16 y", "float16 epsilon = {0}")
        with installed(onnxruntime=FakeRuntime):
            report = vinculum.trace(proto, {"x": np.array([0, 1], np.float16)})
        assert len(report.traces) == 2
        for trace in report.traces:
            assert [(e.kind, e.node, e.index) for e in trace.events] == [
                (Kind.ZERO_DIVISOR, "ratio", (0,)),
                (Kind.NAN, "ratio", (0,)),
            ]
            assert trace.events[0].element_type == "float16"

    def test_an_engine_that_refuses(self) -> None:
        with installed(onnxruntime=RaisesAtZero):
            ours, theirs = vinculum.trace(hazardous.sizes(), {"x": np.zeros((3, 4), np.float32)}).traces
        assert ours.events
        assert "by zero" in theirs.refused
        assert not theirs.refused.startswith("refused")

    def test_an_engine_that_dies(self) -> None:
        proto = parsed("q = Div(a, b)", "int64[n] a, int64[n] b", "int64 q")
        inputs = {"a": np.array([1, -(2**63)]), "b": np.array([1, -1])}
        with installed(onnxruntime=DiesOfMinByMinusOne):
            report = vinculum.trace(proto, inputs, engines=["onnxruntime"])
        assert report.finds
        assert report.traces[0].died
        assert report.traces[0].refused.startswith("crashed: SIGFPE")

    def test_data_in_another_file(self, tmp_path: Path) -> None:
        """The data is loaded first, as an engine gets the model without its folder."""
        proto = parsed("y = Div(x, w)", "float[5000] x")
        proto.graph.initializer.append(numpy_helper.from_array(np.arange(5000, dtype=np.float32), "w"))
        save(proto, tmp_path / "m.onnx", save_as_external_data=True, location="m.data", size_threshold=0)
        with installed(onnxruntime=FakeRuntime):
            report = vinculum.trace(tmp_path / "m.onnx", {"x": np.ones(5000, np.float32)})
        assert len(report.traces) == 2
        for trace in report.traces:
            assert [(event.kind, event.index) for event in trace.events] == [
                (Kind.ZERO_DIVISOR, (0,)),
                (Kind.INFINITY, (0,)),
            ]

    def test_in_small_batches(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr("vinculum.analysis.tracing.trace._BATCH", 1)
        trace = traced(hazardous.masked_mean(), x=np.ones((2, 4), np.float32), mask=np.zeros((2, 4), np.float32))
        assert [e.kind for e in trace.events] == [Kind.ZERO_DIVISOR, Kind.NAN]


class TestRefused:
    """Wrong input raises an error of ours."""

    def test_engines(self) -> None:
        with pytest.raises(AttributeValueError, match="allowed: 'reference', 'onnxruntime'"):
            vinculum.trace(unary("Neg"), {"x": np.ones(1, np.float32)}, engines=["openvino"])
        with pytest.raises(AttributeValueError, match="none"):
            vinculum.trace(unary("Neg"), {"x": np.ones(1, np.float32)}, engines=[])

    def test_a_model_that_nobody_can_run(self) -> None:
        proto = parsed("y = nobody.Neg(x)", domain="nobody")
        with pytest.raises(ModelError, match="cannot be traced"):
            vinculum.trace(proto, {"x": np.ones(3, np.float32)})
