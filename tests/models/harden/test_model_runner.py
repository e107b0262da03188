"""A foreign runtime in its own process: its end is a result."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from onnx import ModelProto

from vinculum.errors import ModelError
from vinculum.models.engines import model_runner
from vinculum.models.engines.model_runner import Case, Outcome, check_installed, run_cases
from vinculum.spec.element_types import INT32, INT64

Division = Callable[..., ModelProto]
Outcomes = Callable[..., list[Outcome]]

UNUSED = {"unused": np.zeros(1, np.float32)}
MIN = np.array([INT64.minimum])
MINUS_1 = np.array([-1])


class TestDeath:
    """A runtime that dies is named with its signal, and what came before it is kept."""

    @pytest.mark.parametrize("constant", [False, True])
    def test_onnxruntime_dies_of_min_over_minus_one(
        self, outcomes_apart: Outcomes, division: Division, constant: bool
    ) -> None:
        good = division(INT64, MIN, np.array([2]))
        bad = division(INT64, MIN, MINUS_1) if constant else division(INT64, (1,), (1,))
        inputs = UNUSED if constant else UNUSED | {"A": MIN, "B": MINUS_1}
        first, second = outcomes_apart("onnxruntime", [(good, UNUSED), (bad, inputs), (good, UNUSED)])
        assert first.outputs[0].tolist() == [INT64.minimum // 2]
        assert (second.problem, second.died) == ("crashed with SIGFPE", True)

    def test_loading_alone_can_be_the_end(self, outcomes_apart: Outcomes, division: Division) -> None:
        (outcome,) = outcomes_apart("onnxruntime", [(division(INT64, MIN, MINUS_1), None)])
        assert (outcome.problem, outcome.died) == ("crashed with SIGFPE", True)

    def test_openvino_dies_where_it_folds(self, outcomes_apart: Outcomes, division: Division) -> None:
        (outcome,) = outcomes_apart("openvino", [(division(INT64, MIN, MINUS_1), UNUSED)])
        assert (outcome.problem, outcome.died) == ("crashed with SIGFPE", True)

    @pytest.mark.parametrize(
        ("runtime", "problem", "died"),
        [
            ("exits", "ended: exit code 7", True),
            ("sleeps", "did not end within 2 seconds", True),
            ("lacks memory", "there is not enough memory", False),
        ],
    )
    def test_other_ends(self, monkeypatch: pytest.MonkeyPatch, runtime: str, problem: str, died: bool) -> None:
        monkeypatch.setattr(model_runner, "_CHILD", "tests.sandbox.isolated_objects:Runner")
        outcomes = run_cases(runtime, [Case(b"", None)] * 2, seconds=2.0)
        assert [(outcome.problem, outcome.died) for outcome in outcomes] == [(problem, died)] * (1 if died else 2)


class TestRefusal:
    """What a runtime refuses is told in its words, and the next case is run."""

    def test_a_zero_divisor(self, outcomes_apart: Outcomes, division: Division) -> None:
        bad, good = (division(INT32, np.array([5], np.int32), np.array([b], np.int32)) for b in (0, 2))
        first, second = outcomes_apart("onnxruntime", [(bad, UNUSED), (good, UNUSED)])
        assert not first.died
        assert "division by zero" in str(first.problem)
        assert second.outputs[0].tolist() == [2]

    @pytest.mark.parametrize("runtime", ["onnxruntime", "openvino", "reference"])
    def test_a_file_that_is_no_model(self, require: Callable[[str], None], runtime: str, tmp_path: Path) -> None:
        require(runtime)
        (tmp_path / "model.onnx").write_bytes(b"not a model")
        (outcome,) = run_cases(runtime, [Case(str(tmp_path / "model.onnx"), None)])
        assert outcome.problem is not None
        assert not outcome.died

    def test_a_package_that_is_missing(self, one_line: Callable[..., Any], monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(model_runner, "find_spec", lambda name: None)
        with one_line(ModelError, "pip install 'vinculum-div[openvino]'"):
            check_installed("openvino")
        check_installed("reference")
