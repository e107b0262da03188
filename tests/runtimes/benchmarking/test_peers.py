"""The peers that are runtimes: each divides in every shape."""

from __future__ import annotations

from importlib.util import find_spec

import pytest

from tests.benchmarking.workers import exact_shapes
from tests.optional import skip_or_fail
from vinculum.benchmarking.cells import SHAPES


@pytest.mark.parametrize("name", ["onnxruntime", "openvino", "jax", "torch"])
def test_every_shape_and_its_times(name: str, request: pytest.FixtureRequest) -> None:
    if find_spec(name) is None:
        skip_or_fail(request, name)
    assert set(exact_shapes(name)) <= set(SHAPES)
