"""Each peer of the benchmark divides in every shape, in a process of its own."""

from __future__ import annotations

import pytest

from benchmarks.compare.cells import SHAPES, Cell
from benchmarks.compare.measuring import measure
from benchmarks.compare.peers import PEERS
from tests.optional import package_or_skip


@pytest.mark.parametrize("name", PEERS)
def test_every_shape_has_a_time(name: str, request: pytest.FixtureRequest) -> None:
    package_or_skip(request, PEERS[name].packages[0])
    cells = [Cell("Div", "uint8", shape, 1_000) for shape in SHAPES]
    cells += [Cell("Reciprocal", "float32", "equal", 1_000), Cell("Divide", "int32", "equal", 1_000)]
    cells += [Cell("Div", "bfloat16", "row", 1_000)]
    measured = [row.outcomes[name] for row in measure(cells, {name: PEERS[name]}, threads=1, rounds=1).rows]
    *shapes, reciprocal, floor, bfloat16 = measured
    assert all(outcome.exact for outcome in shapes)
    assert reciprocal.samples
    assert bool(floor.samples) is (name not in ("onnxruntime", "numexpr"))
    assert bfloat16.samples or name not in ("numpy", "torch", "openvino", "jax")
