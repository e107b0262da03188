"""Another runtime in a process of its own, whose end is a result."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from tests.fake_runtime import DiesOfIntegers, FakeRuntime, RefusesFaults, installed
from tests.models.built_models import division, one_line
from vinculum.errors import MissingPackageError
from vinculum.models.engines import model_runner
from vinculum.models.engines.model_runner import Case, check_installed, run_cases
from vinculum.spec.element_types import INT32


def cases(*divisors: int) -> list[Case]:
    """Return models that divide MIN by a constant."""
    low = np.array([INT32.minimum], np.int32)
    models = (division(INT32, low, np.array([b], np.int32), beside=True).SerializeToString() for b in divisors)
    return [Case(model, {"unused": np.zeros(1, np.float32)}) for model in models]


class TestEnds:
    """The outcome names the signal of a crash, or the error; earlier outcomes are kept."""

    @pytest.mark.parametrize("package", ["onnxruntime", "openvino"])
    def test_death(self, package: str) -> None:
        with installed(**{package: DiesOfIntegers}):
            first, second = run_cases(package, cases(2, -1, 2))
        assert first.outputs[0].tolist() == [INT32.minimum // 2]
        assert (second.problem, second.died) == ("crashed with SIGFPE", True)

    def test_refusal(self) -> None:
        with installed(onnxruntime=RefusesFaults):
            first, second = run_cases("onnxruntime", cases(0, 2))
        assert (first.problem, first.died) == ("SIGFPE of x/0", False)
        assert second.outputs[0].tolist() == [INT32.minimum // 2]

    @pytest.mark.parametrize(
        ("runtime", "problem", "died"),
        [
            ("exits", "ended: exit code 7", True),
            ("lacks memory", "there is not enough memory", False),
            ("sleeps", "did not end within 1 seconds", True),
        ],
    )
    def test_other_ends(self, monkeypatch: pytest.MonkeyPatch, runtime: str, problem: str, died: bool) -> None:
        monkeypatch.setattr(model_runner, "_CHILD", "tests.sandbox.isolated_objects:Runner")
        outcomes = run_cases(runtime, [Case(b"", None)] * 2, seconds=1.0 if runtime == "sleeps" else 60.0)
        assert [(outcome.problem, outcome.died) for outcome in outcomes] == [(problem, died)] * (1 if died else 2)

    @pytest.mark.parametrize("runtime", ["onnxruntime", "openvino", "reference"])
    def test_a_file_that_is_no_model(self, runtime: str, tmp_path: Path) -> None:
        (tmp_path / "model.onnx").write_bytes(b"not a model")
        with installed(onnxruntime=FakeRuntime, openvino=FakeRuntime):
            (outcome,) = run_cases(runtime, [Case(str(tmp_path / "model.onnx"), None)])
        assert outcome.problem is not None
        assert not outcome.died

    def test_a_package_that_is_missing(self) -> None:
        with one_line(MissingPackageError, "pip install openvino"):
            check_installed("openvino")
        check_installed("reference")
