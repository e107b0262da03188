"""From file to file: nothing is written unless everything is validated."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from onnx import ModelProto, TensorProto, helper, load, numpy_helper, save_model

from tests.fake_runtime import DiesOfIntegers, FloorsByReciprocal, installed
from tests.models.built_models import node
from vinculum.errors import BroadcastError, DifferenceError, ModelError
from vinculum.models.engines import model_runner
from vinculum.models.engines.model_runner import Outcome
from vinculum.repair import guards, harden_file, hardening, validation
from vinculum.spec.element_types import INT32, INT64

Build = Callable[..., ModelProto]
Division = Callable[..., ModelProto]


@pytest.fixture(autouse=True)
def packages() -> Iterator[None]:
    """Install what the targets' guards allow for."""
    with installed(onnxruntime=DiesOfIntegers, openvino=FloorsByReciprocal):
        yield


@pytest.fixture
def source(tmp_path: Path, division: Division) -> Path:
    """Return the file of a model that divides int64 by int64."""
    path = tmp_path / "model.onnx"
    path.write_bytes(division(INT64, ("n",), ("n",)).SerializeToString())
    return path


class TestWritten:
    """What is written is validated, whole, and loads in the runtime."""

    @pytest.mark.parametrize("runtime", ["onnxruntime", "openvino", "portable"])
    def test_each_runtime(self, source: Path, runtime: Any) -> None:
        target = source.with_name("hardened.onnx")
        hardened = harden_file(source, target, runtime)
        assert hardened.validation is not None
        assert hardened.validation.rewrites == 1
        assert load(target) == hardened.hardening.model
        assert sorted(path.name for path in source.parent.iterdir()) == ["hardened.onnx", "model.onnx"]

    def test_outputs_are_not_compared_beside_floats(self, source: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        """Those of other operators differ between runtimes."""
        outcomes = [Outcome(), Outcome(outputs=(np.zeros(3, np.int64), np.ones(1, np.float32)))]
        monkeypatch.setattr(validation, "_different", lambda hardening: [])
        monkeypatch.setattr(validation, "run_cases", lambda runtime, cases: (outcome for outcome in outcomes))
        validated = harden_file(source, source.with_name("hardened.onnx"), "onnxruntime").validation
        assert validated is not None
        assert validated.whole_model == "run"

    def test_a_plan_needs_nothing(self, source: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(model_runner, "find_spec", lambda name: None)
        assert harden_file(source, None, "onnxruntime").validation is None
        assert list(source.parent.iterdir()) == [source]

    def test_a_model_that_dies_while_it_loads(self, division: Division, tmp_path: Path) -> None:
        source, target = tmp_path / "model.onnx", tmp_path / "hardened.onnx"
        model = division(INT64, np.array([INT64.minimum, 7, 5]), np.array([-1, -2, 0]))
        source.write_bytes(model.SerializeToString())
        harden_file(source, target, "onnxruntime", zero_divisor="saturate", overflow="saturate")
        case = model_runner.Case(str(target), {"unused": np.zeros(1, np.float32)})
        (outcome,) = model_runner.run_cases("onnxruntime", [case])
        assert outcome.outputs[0].tolist() == [INT64.maximum, -3, INT64.maximum]


class TestRemainders:
    """A model whose divisions and remainders killed the runtime does not any more."""

    @pytest.mark.parametrize("fmod", [0, 1])
    def test_a_model_that_died_runs(self, onnx_model: Build, tmp_path: Path, fmod: int) -> None:
        nodes = [
            helper.make_node("Mod", ["x", "w"], ["r"], "rest", fmod=fmod),
            helper.make_node("Div", ["x", "w"], ["q"], "ratio"),
        ]
        declared = dict.fromkeys("xwqr", (TensorProto.INT64, ("n",)))
        model = onnx_model(nodes, {name: declared[name] for name in "xw"}, {name: declared[name] for name in "qr"})
        source, target = tmp_path / "model.onnx", tmp_path / "hardened.onnx"
        source.write_bytes(model.SerializeToString())
        low = INT64.minimum
        inputs = {"x": np.array([low, 7, -7, 2**53 + 1, low]), "w": np.array([-1, 0, 2, 2, 10])}
        cases = [model_runner.Case(str(file), inputs) for file in (source, target)]
        hardened = harden_file(source, target, "onnxruntime")
        assert hardened.validation is not None
        assert hardened.validation.whole_model == "run"
        (died,) = model_runner.run_cases("onnxruntime", cases[:1])
        (lives,) = model_runner.run_cases("onnxruntime", cases[1:])
        assert died.problem is not None
        assert lives.outputs[0].tolist() == [low, 0, -3, 2**52, -((2**63) // 10)]
        assert lives.outputs[1].tolist() == [0, 0, -1 if fmod else 1, 1, -8 if fmod else 2]

    def test_what_is_left_is_loaded_only(
        self, division: Division, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        def refuse(model: ModelProto) -> ModelProto:
            raise ModelError("the model's functions cannot be inlined")

        monkeypatch.setattr(hardening, "inlined", refuse)
        model = division(INT64, (2,), (2,))
        model.opset_import.add(domain="own", version=1)
        # Of two types.
        ratio = [helper.make_node("Div", ["p", "q"], ["r"], "other")]
        function = helper.make_function("own", "Ratio", ["p", "q"], ["r"], ratio, [helper.make_opsetid("", 17)])
        model.functions.append(function)
        for name in "XY":
            model.graph.input.append(helper.make_tensor_value_info(name, TensorProto.INT32, (2,)))
        model.graph.node.append(helper.make_node("Ratio", ["X", "Y"], ["Z"], domain="own"))
        model.graph.node.append(helper.make_node("Ratio", ["A", "A"], ["W"], domain="own"))
        source = tmp_path / "model.onnx"
        source.write_bytes(model.SerializeToString())
        hardened = harden_file(source, source.with_name("hardened.onnx"), "onnxruntime")
        assert [decision.name for decision in hardened.hardening.left] == ["other"]
        assert hardened.validation is not None
        assert hardened.validation.whole_model == "loaded"
        assert hardened.validation.reason == "a division is left that may kill the runtime"


class TestNothingIsWritten:
    """A validation that fails or cannot be run leaves no file."""

    def refused(self, source: Path, kind: type[Exception], *words: str, runtime: Any = "onnxruntime") -> None:
        """Demand an error of a class in one line, and no new file."""
        before = sorted(source.parent.iterdir())
        with pytest.raises(kind) as caught:
            harden_file(source, source.with_name("hardened.onnx"), runtime)
        assert type(caught.value) is kind
        assert "\n" not in str(caught.value)
        assert [word for word in words if word not in str(caught.value)] == []
        assert sorted(source.parent.iterdir()) == before

    def test_a_wrong_rewrite(self, source: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(guards, "guard", lambda *_: [helper.make_node("Add", ["A", "B"], ["C"])])
        self.refused(source, DifferenceError, "is wrong")

    @pytest.mark.parametrize(
        ("outcomes", "kind", "words"),
        [
            ([Outcome(problem="crashed with SIGFPE", died=True)], DifferenceError, "the process crashed with SIGFPE"),
            ([Outcome(problem="no kernel")], ModelError, "rejects the hardened model: no kernel"),
            ([Outcome(problem=f"{'long ' * 30}reason")], ModelError, f"{'long ' * 30}reason"),
            ([Outcome(), Outcome(problem="no")], DifferenceError, "with inputs that the original accepts: no"),
            (
                [Outcome(), Outcome(outputs=(np.zeros(3, np.int64), np.zeros(1, np.float32)))],
                DifferenceError,
                "output 'C' differs",
            ),
        ],
    )
    def test_a_whole_model_that_fails(
        self,
        division: Division,
        source: Path,
        monkeypatch: pytest.MonkeyPatch,
        outcomes: list[Outcome],
        kind: type[Exception],
        words: str,
    ) -> None:
        model = division(INT64, ("n",), ("n",))
        del model.graph.node[1], model.graph.output[1], model.graph.input[0]  # Floats would not be compared.
        source.write_bytes(model.SerializeToString())
        monkeypatch.setattr(validation, "_different", lambda hardening: [])
        monkeypatch.setattr(validation, "run_cases", lambda runtime, cases: (outcome for outcome in outcomes))
        self.refused(source, kind, words)

    def test_a_missing_package(self, source: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(model_runner, "find_spec", lambda name: None)
        self.refused(source, ModelError, "pip install openvino", runtime="openvino")

    def test_shapes_that_do_not_fit(self, source: Path, division: Division) -> None:
        model = division(INT32, (2,), (3,))
        source.write_bytes(model.SerializeToString())
        self.refused(source, BroadcastError, "do not broadcast")

    def test_a_model_that_the_checker_refuses(self, source: Path, division: Division) -> None:
        model = division(INT32, (2,), (2,))
        model.graph.name = ""
        source.write_bytes(model.SerializeToString())
        self.refused(source, ModelError, "fails onnx.checker")

    def test_graphs_for_training(self, source: Path, division: Division) -> None:
        model = division(INT32, (2,), (2,))
        model.training_info.add().algorithm.name = "step"
        source.write_bytes(model.SerializeToString())
        self.refused(source, ModelError, "training_info")

    def test_openvino_ir(self, tmp_path: Path) -> None:
        source = tmp_path / "model.xml"
        source.write_text('<?xml version="1.0"?><net name="m" version="11"></net>')
        self.refused(source, ModelError, "only ONNX models are hardened")

    def test_over_itself(self, source: Path) -> None:
        with pytest.raises(ModelError, match="would replace the model"):
            harden_file(source, source.parent / "." / "model.onnx", "onnxruntime")

    def test_over_the_data_of_the_source(self, source: Path) -> None:
        model = load(source)
        model.graph.initializer.append(numpy_helper.from_array(np.arange(1, 5), "weights"))
        data = source.with_name("weights.onnx")
        save_model(model, source, save_as_external_data=True, location=data.name, size_threshold=0)
        before = data.read_bytes()
        with pytest.raises(ModelError, match=r"would replace the data '.*weights\.onnx' of the model"):
            harden_file(source, data, "onnxruntime")
        assert data.read_bytes() == before

    def test_integers_that_an_exporter_wrote_in_floats(self, onnx_model: Build, tmp_path: Path) -> None:
        """Its quotients are others than the source's, which are wrong: that is no difference to complain of."""
        nodes = [node(f"{x} = Cast({y})", to=TensorProto.FLOAT) for x, y in ("xa", "yb")]
        nodes += [node("q = Div(x, y)"), node("f = Floor(q)"), node("c = Cast(f)", to=TensorProto.INT64)]
        declared = dict.fromkeys("abc", (TensorProto.INT64, ("n",)))
        model = onnx_model(nodes, {name: declared[name] for name in "ab"}, {"c": declared["c"]})
        (tmp_path / "model.onnx").write_bytes(model.SerializeToString())
        hardened = harden_file(tmp_path / "model.onnx", tmp_path / "new.onnx", "onnxruntime", fix_exported=True)
        assert hardened.validation is not None
        assert hardened.validation.rewrites == 1

    def test_another_format(self, source: Path) -> None:
        with pytest.raises(ModelError, match=r"give a name that ends in \.onnx"):
            harden_file(source, source.with_suffix(".xml"), "onnxruntime")

    def test_an_operator_that_the_runtime_lacks(self, source: Path) -> None:
        model = load(source)
        model.opset_import.add(domain="own", version=1)
        model.graph.node.append(helper.make_node("Own", ["C"], ["D"], domain="own"))
        model.graph.output.append(helper.make_tensor_value_info("D", TensorProto.INT64, None))
        source.write_bytes(model.SerializeToString())
        self.refused(source, ModelError)
