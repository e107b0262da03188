"""The processes in which peers are measured."""

from __future__ import annotations

from vinculum.benchmarking.cells import SHAPES, Cell
from vinculum.sandbox import End, Isolated, Limits


def worker(name: str) -> Isolated:
    """Return the process in which a peer is measured, a context manager."""
    return Isolated("vinculum.benchmarking.worker:Worker", name, 1, limits=Limits(seconds=120.0))


def exact_shapes(name: str) -> list[str]:
    """Have a peer divide bytes of every shape; return those in which it is exact, if it gives a few times."""
    with worker(name) as process:
        answers = {shape: process.call("prepare", Cell("Div", "uint8", shape, 1_000)) for shape in SHAPES}
        samples = process.call("turn").value
    assert {answer.end for answer in answers.values()} == {End.RETURNED}, answers
    assert 2 <= len(samples) <= 5
    assert min(samples) > 0
    return [shape for shape, answer in answers.items() if answer.value]
