"""ONNX Runtime's own operators on operands at the edges of their types: what it computes lies in what is known."""

from __future__ import annotations

import numpy as np
import onnxruntime
import pytest

from tests.analysis.operators import OF_ITS_OWN, OF_ONNXRUNTIME
from tests.analysis.trying import complaints, of_every_type
from tests.cases import case
from tests.runtimes.analysis.sessions import is_taken, session
from vinculum.analysis.transfer.operators import TABLE as EVERY
from vinculum.analysis.transfer.operators.contrib import TABLE

FAULTY = ("GroupQueryAttention", "MatMulNBits")
"""What ONNX Runtime 1.27 and 1.28 compute wrongly, 1.29 does not: NaN, infinities and 1e18 out of numbers up to 1."""
TRIED = {trial.operator for trial in OF_ONNXRUNTIME}


@pytest.mark.parametrize("rounds", [30, pytest.param(10_000, marks=pytest.mark.exhaustive)])
@pytest.mark.parametrize("operator", sorted(TRIED))
def test_what_is_computed_lies_inside(operator: str, rounds: int) -> None:
    if operator in FAULTY and tuple(map(int, onnxruntime.__version__.split(".")[:2])) < (1, 29):
        pytest.skip(f"ONNX Runtime {onnxruntime.__version__} computes {operator} wrongly")
    for trial, element_type in of_every_type(operator, OF_ONNXRUNTIME):
        if element_type != "float64" and (element_type == "float32" or is_taken(trial, element_type)):
            with case(trial, element_type), np.errstate(all="ignore"):
                assert next(complaints(trial, element_type, 3, rounds, session, tame_every=3), "") == ""


def test_every_one_is_tried() -> None:
    assert TRIED - {OF_ITS_OWN} == set(TABLE) - {
        "QLinearConv",  # ONNX's own of this name has no other arithmetic; quantisers write that.
        "QLinearReduceMean",  # ONNX Runtime has no kernel of it for a CPU.
    }
    assert ("", OF_ITS_OWN) in EVERY
