"""The peers of the benchmark: each divides in every shape, in a process of its own."""

from __future__ import annotations

from importlib.util import find_spec

import pytest

from benchmarks.compare.cells import SHAPES, Cell
from benchmarks.compare.measuring import measure
from benchmarks.compare.peers import PEERS
from tests.optional import skip_or_fail


@pytest.mark.parametrize("name", PEERS)
def test_every_shape_has_a_time(name: str, request: pytest.FixtureRequest) -> None:
    if find_spec(PEERS[name].packages[0]) is None:
        skip_or_fail(request, name)
    cells = [Cell("Div", "uint8", shape, 1_000) for shape in SHAPES]
    cells += [Cell("Reciprocal", "float32", "equal", 1_000), Cell("Divide", "int32", "equal", 1_000)]
    *shapes, reciprocal, floor = measure(cells, {name: PEERS[name]}, threads=1, rounds=1).rows
    assert all(row.outcomes[name].exact for row in shapes)
    assert reciprocal.outcomes[name].samples
    assert bool(floor.outcomes[name].samples) is (name not in ("onnxruntime", "numexpr"))


@pytest.mark.parametrize("name", ["numpy", "torch", "openvino", "jax"])
def test_bfloat16(name: str, request: pytest.FixtureRequest) -> None:
    if find_spec(PEERS[name].packages[0]) is None:
        skip_or_fail(request, name)
    (row,) = measure([Cell("Div", "bfloat16", "row", 1_000)], {name: PEERS[name]}, threads=1, rounds=1).rows
    assert row.outcomes[name].samples
