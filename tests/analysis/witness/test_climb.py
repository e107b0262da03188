"""What is tried next follows from what has been tried."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from tests.analysis.hazardous import parsed
from vinculum.analysis.assumptions import read_assumptions
from vinculum.analysis.witness.climb import Tried, _newton
from vinculum.analysis.witness.structured import Candidate, Space
from vinculum.models.onnx.model import model_of


def test_newton_needs_one_step_where_the_divisor_is_linear() -> None:
    proto = parsed("y = Neg(x)", "float[3] x")
    assumptions = read_assumptions(["x=-100:100"], proto)
    space = Space(model_of(proto, Path("m")).inputs, assumptions.ranges, assumptions.sizes, 0)
    runs = []

    def attempt(candidate: Candidate) -> Tried:
        runs.append(candidate)
        divisor: Any = np.array([50.0, float(np.dot([3.0, -2.0, 0.5], candidate.inputs["x"]) - 7.25)])
        return Tried(candidate.inputs, float(np.abs(divisor).min()), divisor)

    first = attempt(Candidate("first", {"x": np.array([1, 2, 3], np.float32)}))
    best = _newton(space, first, attempt)
    assert first.distance > 6
    assert best.distance < 1e-4
