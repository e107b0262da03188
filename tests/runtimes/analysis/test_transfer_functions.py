"""Each transfer function alone, on operands at the edges of their types, against ONNX Runtime."""

from __future__ import annotations

import pytest
from onnxruntime.capi.onnxruntime_pybind11_state import Fail, InvalidGraph, NotImplemented

from tests.analysis.operators import TRIALS, Trial
from tests.analysis.trying import complaints, of_every_type, single
from tests.runtimes.analysis.sessions import session

_FLOAT32_ALONE = ("GRU", "ScatterND")
"""What ONNX Runtime takes in float16 or float64 when it reads a model, and refuses when it runs it."""
each_operator = pytest.mark.parametrize("operator", sorted({trial.operator for trial in TRIALS}))


@each_operator
def test_what_is_computed_lies_inside(operator: str) -> None:
    _assert_inside(operator, 1, 12)


@pytest.mark.exhaustive
@each_operator
def test_ten_thousand_times(operator: str) -> None:
    _assert_inside(operator, 2, 10_000)


def _assert_inside(operator: str, seed: int, rounds: int) -> None:
    tried = [(trial, name) for trial, name in of_every_type(operator) if name in trial.types or _is_taken(trial, name)]
    assert tried
    assert [said for trial, name in tried for said in complaints(trial, name, seed, rounds, session)] == []


def _is_taken(trial: Trial, element_type: str) -> bool:
    """Tell whether ONNX Runtime has the operator in another type too."""
    try:
        session(single(trial, element_type))
    except (InvalidGraph, NotImplemented, Fail):
        return False
    return trial.operator not in _FLOAT32_ALONE
