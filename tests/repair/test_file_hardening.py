"""Hardening of files: nothing is written unless the validation succeeds."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from onnx import ModelProto, TensorProto, helper, load

import vinculum
from tests.fake_runtime import DiesOfIntegers, FloorsByReciprocal, installed
from tests.models.built_models import one_line, text_model, written
from tests.repair.fakes import division
from vinculum.errors import BroadcastError, DifferenceError, MissingPackageError, ModelError
from vinculum.models.engines import model_runner
from vinculum.models.engines.model_runner import Outcome
from vinculum.repair import Runtime, harden_file, hardening, validation
from vinculum.repair.validation import Validation
from vinculum.spec.element_types import INT32, INT64

WIDER = helper.make_tensor_type_proto(TensorProto.INT32, (3,))


@pytest.fixture(autouse=True)
def packages() -> Iterator[None]:
    with installed(onnxruntime=DiesOfIntegers, openvino=FloorsByReciprocal):
        yield


def validation_of(source: Path, runtime: Runtime = "onnxruntime", **options: Any) -> Validation:
    """Harden a file into one beside it, and return the validation."""
    found = harden_file(source, source.with_name("hardened.onnx"), runtime, **options).validation
    assert found is not None
    return found


@pytest.fixture
def runs_end(monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """Return a function that sets the outcomes of the runs of the whole model on each runtime, without other runs."""

    def end(**outcomes: Sequence[Outcome]) -> None:
        monkeypatch.setattr(validation, "_different", lambda hardening: [])
        monkeypatch.setattr(validation, "run_cases", lambda runtime, cases: (each for each in outcomes[runtime]))

    return end


RAN = Outcome(outputs=(np.zeros(3, np.int64), np.ones(1, np.float32)))


@pytest.fixture
def source(tmp_path: Path) -> Path:
    return written(division(INT64, ("n",), ("n",)), tmp_path)


class TestWritten:
    """The written model is complete and validated, and loads in the runtime."""

    @pytest.mark.parametrize("runtime", ["onnxruntime", "openvino", "portable"])
    def test_each_runtime(self, source: Path, runtime: Any) -> None:
        assert validation_of(source, runtime).rewrites == 1
        planned = harden_file(source, None, runtime).hardening.model
        assert load(source.with_name("hardened.onnx")) == planned
        assert vinculum.harden(source, target=runtime).model == planned
        assert sorted(path.name for path in source.parent.iterdir()) == ["hardened.onnx", "model.onnx"]

    def test_an_output_that_is_named_twice(self, tmp_path: Path) -> None:
        model = text_model("c = Div(a, b)", "int64[n] a, int64[n] b", "int64[n] c, int64[n] c")
        assert validation_of(written(model, tmp_path)).whole_model == "run"

    def test_outputs_are_not_compared_beside_floats(self, source: Path, runs_end: Callable[..., None]) -> None:
        """Floats of other operators differ between runtimes."""
        runs_end(onnxruntime=[Outcome(), RAN])
        assert validation_of(source).whole_model == "run"

    def test_what_the_onnx_package_s_evaluator_cannot_run(self, source: Path, runs_end: Callable[..., None]) -> None:
        """A model that other runtimes run is not refused because the evaluator lacks an operator or has a fault."""
        runs_end(onnxruntime=[Outcome(), RAN], reference=[Outcome(), Outcome(problem="'list' has no dtype")])
        validated = validation_of(source, "portable")
        reason = "the onnx package's reference evaluator does not run it: 'list' has no dtype"
        assert (validated.whole_model, validated.reason) == ("run", reason)

    def test_a_plan_needs_nothing(self, source: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(model_runner, "find_spec", lambda name: None)
        assert harden_file(source, None, "onnxruntime").validation is None
        assert list(source.parent.iterdir()) == [source]

    def test_a_model_that_dies_while_it_loads(self, tmp_path: Path) -> None:
        source = written(division(INT64, np.array([INT64.minimum, 7, 5]), np.array([-1, -2, 0])), tmp_path)
        validation_of(source, zero_divisor="saturate", overflow="saturate")
        case = model_runner.Case(str(tmp_path / "hardened.onnx"), {"unused": np.zeros(1, np.float32)})
        (outcome,) = model_runner.run_cases("onnxruntime", [case])
        assert outcome.outputs[0].tolist() == [INT64.maximum, -3, INT64.maximum]


class TestRemainders:
    """A model whose divisions and remainders killed the runtime runs after hardening."""

    @pytest.mark.parametrize("fmod", [0, 1])
    def test_a_model_that_died_runs(self, tmp_path: Path, fmod: int) -> None:
        nodes = f"[rest] r = Mod <fmod = {fmod}> (x, w) [ratio] q = Div(x, w)"
        model = text_model(nodes, "int64[n] x, int64[n] w", "int64[n] q, int64[n] r", ir_version=9)
        source, low = written(model, tmp_path), INT64.minimum
        assert validation_of(source).whole_model == "run"
        inputs = {"x": np.array([low, 7, -7, 2**53 + 1, low]), "w": np.array([-1, 0, 2, 2, 10])}
        cases = [model_runner.Case(str(tmp_path / name), inputs) for name in ("model.onnx", "hardened.onnx")]
        ((died,), (lives,)) = (model_runner.run_cases("onnxruntime", [case]) for case in cases)
        assert died.problem is not None
        assert lives.outputs[0].tolist() == [low, 0, -3, 2**52, -((2**63) // 10)]
        assert lives.outputs[1].tolist() == [0, 0, -1 if fmod else 1, 1, -8 if fmod else 2]

    def test_what_is_left_is_loaded_only(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        def refuse(model: ModelProto) -> ModelProto:
            raise ModelError("the model's functions cannot be inlined")

        monkeypatch.setattr(hardening, "inlined", refuse)
        # Of two types.
        function = "Ratio (p, q) => (r) { [other] r = Div(p, q) }"
        nodes = "[ratio] C = Div(A, B) Z = d.Ratio(X, Y) W = d.Ratio(A, A)"
        inputs = "int64[2] A, int64[2] B, int32[2] X, int32[2] Y"
        source = written(text_model(nodes, inputs, "int64[2] C", function, ir_version=9), tmp_path)
        assert [decision.name for decision in harden_file(source, None, "onnxruntime").hardening.left] == ["other"]
        found = validation_of(source)
        assert (found.whole_model, found.reason) == ("loaded", "a division is left that may kill the runtime")


class TestNothingIsWritten:
    """A validation that fails or cannot run leaves no file."""

    def refused(self, source: Path, kind: type[Exception], *words: str, runtime: Any = "onnxruntime") -> None:
        """Demand an error of one line, and no new file."""
        before = sorted(source.parent.iterdir())
        with one_line(kind, *words):
            harden_file(source, source.with_name("hardened.onnx"), runtime)
        assert sorted(source.parent.iterdir()) == before

    @pytest.mark.parametrize(
        ("outcomes", "kind", "words"),
        [
            ([Outcome(problem="crashed with SIGFPE", died=True)], DifferenceError, "the process crashed with SIGFPE"),
            ([Outcome(problem="no kernel")], ModelError, "rejects the hardened model: no kernel"),
            ([Outcome(problem=f"{'long ' * 30}reason")], ModelError, f"{'long ' * 30}reason"),
            ([Outcome(problem="[ONNXRuntimeError] : 9 : NOT_IMPLEMENTED : no")], ModelError, "hardened model: no"),
            ([Outcome(), Outcome(problem="no")], DifferenceError, "with inputs that the original accepts: no"),
            ([Outcome(), Outcome(outputs=(np.zeros(3, np.int64),))], DifferenceError, "output 'C' differs"),
        ],
    )
    def test_a_whole_model_that_fails(
        self, tmp_path: Path, runs_end: Callable[..., None], outcomes: list[Outcome], kind: type[Exception], words: str
    ) -> None:
        model = division(INT64, ("n",), ("n",))
        del model.graph.node[1], model.graph.output[1], model.graph.input[0]  # Floats would not be compared.
        runs_end(onnxruntime=outcomes)
        self.refused(written(model, tmp_path), kind, words)

    def test_a_missing_package(self, source: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(model_runner, "find_spec", lambda name: None)
        self.refused(source, MissingPackageError, "pip install openvino", runtime="openvino")

    @pytest.mark.parametrize(
        ("change", "kind", "words"),
        [
            (lambda model: model.graph.input[-1].type.CopyFrom(WIDER), BroadcastError, "do not broadcast"),
            (lambda model: model.graph.ClearField("name"), ModelError, "fails onnx.checker"),
            (lambda model: model.training_info.add(), ModelError, "training_info"),
            (lambda model: model.graph.node.add(op_type="Own", domain="own", output=["D"]), ModelError, "'own'"),
        ],
    )
    def test_other_models(
        self, tmp_path: Path, change: Callable[[ModelProto], Any], kind: type[Exception], words: str
    ) -> None:
        model = division(INT32, (2,), (2,))
        change(model)
        self.refused(written(model, tmp_path), kind, words)

    def test_openvino_ir(self, tmp_path: Path) -> None:
        source = tmp_path / "model.xml"
        source.write_text('<?xml version="1.0"?><net name="m" version="11"></net>')
        self.refused(source, ModelError, "only ONNX models are hardened")

    def test_over_itself(self, source: Path) -> None:
        with pytest.raises(ModelError, match="would replace the model"):
            harden_file(source, source.parent / "." / "model.onnx", "onnxruntime")

    def test_integers_that_an_exporter_wrote_in_floats(self, tmp_path: Path) -> None:
        """The quotients differ from those of the source, which are wrong; that does not fail the validation."""
        nodes = "x = Cast <to = 1> (a) y = Cast <to = 1> (b) q = Div(x, y) f = Floor(q) c = Cast <to = 7> (f)"
        model = text_model(nodes, "int64[n] a, int64[n] b", "int64[n] c", ir_version=9)
        assert validation_of(written(model, tmp_path), fix_exported=True).rewrites == 1

    def test_another_format(self, source: Path) -> None:
        with pytest.raises(ModelError, match=r"give a name that ends in \.onnx"):
            harden_file(source, source.with_suffix(".xml"), "onnxruntime")

    def test_an_operator_that_the_runtime_lacks(self, tmp_path: Path) -> None:
        model = text_model("[ratio] C = Div(A, B) D = d.Own(C)", "int64[n] A, int64[n] B", "int64[n] D")
        self.refused(written(model, tmp_path), ModelError)
