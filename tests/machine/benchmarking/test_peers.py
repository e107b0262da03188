"""The peers that are no runtimes, each in its process."""

from __future__ import annotations

import os

import pytest

from tests.benchmarking.workers import exact_shapes, worker
from vinculum.benchmarking.cells import SHAPES, Cell
from vinculum.sandbox import End


@pytest.mark.parametrize("name", ["vinculum", "limit", "numpy", "numexpr"])
def test_every_shape_and_its_times(name: str) -> None:
    assert exact_shapes(name) == list(SHAPES)


@pytest.mark.parametrize(
    ("operator", "element_type"), [("Div", "bfloat16"), ("Divide", "int64"), ("Reciprocal", "float16")]
)
def test_ours_is_exact(operator: str, element_type: str) -> None:
    with worker("vinculum") as process:
        assert process.call("prepare", Cell(operator, element_type, "equal", 1_000)).value


@pytest.mark.parametrize(
    ("name", "operator", "element_type"), [("numpy", "Div", "int32"), ("numexpr", "Divide", "int32")]
)
def test_what_a_peer_has_not_is_told(name: str, operator: str, element_type: str) -> None:
    with worker(name) as process:
        answer = process.call("prepare", Cell(operator, element_type, "equal", 1_000))
    assert answer.end in (End.REFUSED, End.UNSUPPORTED)
    assert answer.words


def test_nothing_is_measured_before_it_is_prepared() -> None:
    with worker("numpy") as process:
        answer = process.call("turn")
    assert (answer.end, answer.words) == (End.REFUSED, "nothing is prepared")


def test_threads_are_told_before_anything_is_imported() -> None:
    with worker(f"{__name__}:Environment") as process:
        answer = process.call("prepare", Cell("Div", "uint8", "equal", 16))
    assert answer.words == "OMP_NUM_THREADS is 1"


class Environment:
    """A peer that tells what it finds."""

    title = "Environment"
    packages = ("numpy",)
    install = "pip install numpy"
    most_threads = None

    def __init__(self) -> None:
        self._found: str | None = None

    def start(self, threads: int) -> None:
        self._found = os.environ.get("OMP_NUM_THREADS")

    def prepare(self, *_: object) -> None:
        raise RuntimeError(f"OMP_NUM_THREADS is {self._found}")
