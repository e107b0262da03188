"""Every ONNX example in each runtime: outputs and divisions are the reference engine's, but for roundings elsewhere."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from vinculum.models import DivisionRecord, load
from vinculum.models.model import Engine
from vinculum.models.values import tensor_dtype

FOLDER = Path(__file__).parents[4] / "examples"


@pytest.mark.parametrize("engine", ["onnxruntime", "openvino"])
@pytest.mark.parametrize("path", sorted(FOLDER.glob("*/*.onnx")), ids=lambda path: f"{path.parent.name}-{path.stem}")
def test_outputs_and_divisions(path: Path, engine: Engine) -> None:
    model = load(path)
    rng = np.random.default_rng(0)
    inputs = {}
    for tensor in model.inputs:
        shape = [size if isinstance(size, int) else 4 for size in tensor.shape or ()]
        inputs[tensor.name] = rng.integers(1, 9, shape).astype(tensor_dtype(tensor))
    records: dict[str, list[DivisionRecord]] = {"reference": [], engine: []}
    wanted, outputs = (model.run(inputs, observer=of.append, engine=name) for name, of in records.items())  # type: ignore[arg-type]
    met, given = ([(r.division, r.quotient.shape) for r in of] for of in records.values())
    assert sorted(given, key=str) == sorted(met, key=str)
    assert {division for division, _ in met} == set(model.divisions)
    for name, array in wanted.items():
        tolerance = 0.01 if array.dtype == np.float16 else 1e-5
        np.testing.assert_allclose(outputs[name], array, tolerance, tolerance, strict=True)
