"""From file to file: nothing is written unless everything is proven."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from onnx import ModelProto, TensorProto, helper, load, numpy_helper, save_model

from vinculum.errors import BroadcastError, DifferenceError, ModelError
from vinculum.models.harden import harden_file, runtime_process, trials, whole_model
from vinculum.models.harden.runtime_process import Outcome
from vinculum.spec.element_types import INT32, INT64

Division = Callable[..., ModelProto]
Require = Callable[[str], None]


@pytest.fixture
def source(tmp_path: Path, division: Division) -> Path:
    """Return the file of a model that divides int64 by int64."""
    path = tmp_path / "model.onnx"
    path.write_bytes(division(INT64, ("n",), ("n",)).SerializeToString())
    return path


class TestWritten:
    """What is written is proven, whole, and loads in the runtime."""

    @pytest.mark.parametrize("runtime", ["onnxruntime", "openvino", "portable"])
    def test_each_runtime(self, require: Require, source: Path, runtime: Any) -> None:
        require("openvino" if runtime == "openvino" else "onnxruntime")
        target = source.with_name("hardened.onnx")
        hardened = harden_file(source, target, runtime)
        assert hardened.proof is not None
        assert hardened.proof.rewrites == 1
        assert load(target) == hardened.hardening.model
        assert sorted(path.name for path in source.parent.iterdir()) == ["hardened.onnx", "model.onnx"]

    def test_a_plan_needs_nothing(self, source: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(runtime_process, "find_spec", lambda name: None)
        assert harden_file(source, None, "onnxruntime").proof is None
        assert list(source.parent.iterdir()) == [source]

    def test_a_model_that_dies_while_it_loads(self, require: Require, division: Division, tmp_path: Path) -> None:
        # ONNX Runtime folds constants at load, and dies of this one.
        require("onnxruntime")
        source, target = tmp_path / "model.onnx", tmp_path / "hardened.onnx"
        model = division(INT64, np.array([INT64.minimum, 7, 5]), np.array([-1, -2, 0]))
        source.write_bytes(model.SerializeToString())
        harden_file(source, target, "onnxruntime", zero_divisor="saturate", overflow="saturate")
        case = runtime_process.Case(str(target), {"unused": np.zeros(1, np.float32)})
        (outcome,) = runtime_process.run_cases("onnxruntime", [case])
        assert outcome.outputs[0].tolist() == [INT64.maximum, -3, INT64.maximum]


class TestNothingIsWritten:
    """A proof that fails or cannot be run leaves no file."""

    def refused(self, source: Path, kind: type[Exception], *words: str, runtime: Any = "onnxruntime") -> None:
        """Demand an error of a class in one line, and no new file."""
        before = sorted(source.parent.iterdir())
        with pytest.raises(kind) as caught:
            harden_file(source, source.with_name("hardened.onnx"), runtime)
        assert type(caught.value) is kind
        assert "\n" not in str(caught.value)
        assert [word for word in words if word not in str(caught.value)] == []
        assert sorted(source.parent.iterdir()) == before

    def test_a_wrong_rewrite(self, require: Require, source: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        require("onnxruntime")
        monkeypatch.setattr(trials, "rewrite", lambda rewriter, facts, operands, *_: rewriter.add("Add", operands, "x"))
        self.refused(source, DifferenceError, "is wrong")

    @pytest.mark.parametrize(
        ("outcomes", "kind", "words"),
        [
            ([Outcome(problem="died of SIGFPE", died=True)], DifferenceError, "the process died of SIGFPE"),
            ([Outcome(problem="no kernel")], ModelError, "does not take the hardened model: no kernel"),
            ([Outcome(), Outcome(problem="no")], DifferenceError, "on inputs that the original takes: no"),
            (
                [Outcome(), Outcome(outputs=(np.zeros(3, np.int64), np.zeros(1, np.float32)))],
                DifferenceError,
                "output 'C' differs",
            ),
        ],
    )
    def test_a_whole_model_that_fails(
        self,
        require: Require,
        division: Division,
        source: Path,
        monkeypatch: pytest.MonkeyPatch,
        outcomes: list[Outcome],
        kind: type[Exception],
        words: str,
    ) -> None:
        require("onnxruntime")
        model = division(INT64, ("n",), ("n",))
        del model.graph.node[1], model.graph.output[1], model.graph.input[0]  # Floats would not be compared.
        source.write_bytes(model.SerializeToString())
        monkeypatch.setattr(whole_model, "run_cases", lambda runtime, cases: outcomes)
        self.refused(source, kind, words)

    def test_a_missing_package(self, source: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(runtime_process, "find_spec", lambda name: None)
        self.refused(source, ModelError, "pip install 'vinculum[openvino]'", runtime="openvino")

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
        self.refused(source, ModelError, "vinculum convert")

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

    def test_another_format(self, source: Path) -> None:
        with pytest.raises(ModelError, match=r"give a name that ends in \.onnx"):
            harden_file(source, source.with_suffix(".xml"), "onnxruntime")

    def test_an_operator_that_the_runtime_lacks(self, require: Require, source: Path) -> None:
        require("onnxruntime")
        model = load(source)
        model.opset_import.add(domain="own", version=1)
        model.graph.node.append(helper.make_node("Own", ["C"], ["D"], domain="own"))
        model.graph.output.append(helper.make_tensor_value_info("D", TensorProto.INT64, None))
        source.write_bytes(model.SerializeToString())
        self.refused(source, ModelError)
