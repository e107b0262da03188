"""Every ONNX example in each runtime: divisions equal those of the reference engine, outputs up to rounding."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from tests.runtimes.models.examples import drawn_inputs, each_example
from vinculum.models import DivisionRecord, load
from vinculum.models.model import Engine


@pytest.mark.parametrize("engine", ["onnxruntime", "openvino"])
@each_example()
def test_outputs_and_divisions(path: Path, engine: Engine) -> None:
    model = load(path)
    inputs = drawn_inputs(model)
    records: dict[str, list[DivisionRecord]] = {"reference": [], engine: []}
    wanted, outputs = (model.run(inputs, observer=of.append, engine=name) for name, of in records.items())  # type: ignore[arg-type]
    met, given = ([(r.division, r.quotient.shape) for r in of] for of in records.values())
    assert sorted(given, key=str) == sorted(met, key=str)
    assert {division for division, _ in met} == set(model.divisions)
    for name, array in wanted.items():
        tolerance = 0.01 if array.dtype == np.float16 else 1e-5
        np.testing.assert_allclose(outputs[name], array, tolerance, tolerance, strict=True)
