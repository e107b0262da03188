"""The ONNX examples, and inputs for them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from vinculum.models import Model
from vinculum.models.values import tensor_dtype

FOLDER = Path(__file__).parents[3] / "examples"


def each_example(*without: str) -> pytest.MarkDecorator:
    """Run a test on the path of each ONNX example, except those in some folders."""
    paths = [path for path in sorted(FOLDER.glob("*/*.onnx")) if path.parent.name not in without]
    return pytest.mark.parametrize("path", paths, ids=lambda path: f"{path.parent.name}-{path.stem}")


def drawn_inputs(model: Model) -> dict[str, Any]:
    """Return small numbers, none zero, for each input of a model; its open sizes are 4."""
    rng = np.random.default_rng(0)
    inputs = {}
    for tensor in model.inputs:
        shape = [size if isinstance(size, int) else 4 for size in tensor.shape or ()]
        inputs[tensor.name] = rng.integers(1, 9, shape).astype(tensor_dtype(tensor))
    return inputs
