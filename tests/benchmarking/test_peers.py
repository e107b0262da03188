"""The real peers: each computes what it has, exactly or not, and says of the rest why it cannot."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from tests.optional import skip_without
from vinculum.benchmarking.cells import SHAPES, Cell
from vinculum.sandbox import Answer, End, Isolated, Limits

EXACT, INEXACT = True, False
LACKING = None
LIMITS = Limits(seconds=120.0)

# Peer, operator, element type, and what is known of it there.
KNOWN: dict[str, dict[tuple[str, str], bool | None]] = {
    "vinculum": {
        ("Div", "int8"): EXACT,
        ("Div", "bfloat16"): EXACT,
        ("Divide", "int64"): EXACT,
        ("Reciprocal", "float16"): EXACT,
    },
    "limit": {("Div", "int8"): EXACT, ("Div", "float64"): EXACT, ("Reciprocal", "bfloat16"): EXACT},
    "numpy": {
        ("Div", "int32"): LACKING,
        ("Div", "uint16"): EXACT,
        ("Div", "bfloat16"): EXACT,
        ("Divide", "int8"): EXACT,
        ("Reciprocal", "float32"): EXACT,
    },
    "torch": {
        ("Div", "int32"): EXACT,
        ("Div", "uint32"): LACKING,
        ("Div", "bfloat16"): EXACT,
        ("Divide", "int8"): EXACT,
        ("Reciprocal", "float32"): EXACT,
    },
    "onnxruntime": {
        ("Div", "int32"): EXACT,
        ("Div", "float16"): EXACT,
        ("Div", "bfloat16"): LACKING,
        ("Divide", "int32"): LACKING,
        ("Reciprocal", "float64"): EXACT,
    },
    "openvino": {
        ("Div", "int8"): EXACT,
        ("Div", "bfloat16"): EXACT,
        ("Div", "float32"): INEXACT,
        ("Divide", "int8"): INEXACT,
        ("Reciprocal", "float32"): EXACT,
    },
    "numexpr": {
        ("Div", "int32"): EXACT,
        ("Div", "uint64"): INEXACT,
        ("Div", "bfloat16"): LACKING,
        ("Divide", "int32"): LACKING,
        ("Reciprocal", "float32"): EXACT,
    },
    "jax": {
        ("Div", "int8"): EXACT,
        ("Div", "uint64"): EXACT,
        ("Divide", "int16"): EXACT,
        ("Reciprocal", "float64"): EXACT,
    },
}


@contextmanager
def worker(name: str) -> Iterator[Isolated]:
    """Yield the process in which a peer is measured."""
    with Isolated("vinculum.benchmarking.worker:Worker", name, 1, limits=LIMITS) as process:
        yield process


@pytest.fixture(
    scope="module", params=["vinculum", "limit", "numpy", "onnxruntime", "openvino", "numexpr", "jax", "torch"]
)
def peer(request: pytest.FixtureRequest) -> Iterator[tuple[str, Isolated]]:
    """Yield a peer's name and its process."""
    if request.param == "torch":
        request.getfixturevalue("torch_or_skip")
    elif request.param not in ("vinculum", "limit"):
        skip_without(request.param)
    with worker(request.param) as process:
        yield request.param, process


def test_what_each_computes(peer: tuple[str, Isolated]) -> None:
    name, process = peer
    found = {
        (operator, element_type): _known(process.call("prepare", Cell(operator, element_type, "equal", 1_000)))
        for operator, element_type in KNOWN[name]
    }
    assert found == KNOWN[name]


def test_every_shape_and_its_times(peer: tuple[str, Isolated]) -> None:
    _, process = peer
    for shape in SHAPES:
        answer = process.call("prepare", Cell("Div", "uint8", shape, 1_000))
        assert (answer.end, answer.value) == (End.RETURNED, True), (shape, answer)
    samples = process.call("turn").value
    assert 2 <= len(samples) <= 5
    assert min(samples) > 0


def _known(answer: Answer) -> bool | None:
    if answer.end is End.RETURNED:
        return bool(answer.value)
    assert answer.end in (End.REFUSED, End.UNSUPPORTED), answer
    assert answer.words
    return None


def test_nothing_is_measured_before_it_is_prepared() -> None:
    with worker("numpy") as process:
        answer = process.call("turn")
    assert (answer.end, answer.words) == (End.REFUSED, "nothing is prepared")


def test_threads_are_told_before_anything_is_imported() -> None:
    with worker("tests.benchmarking.test_peers:Environment") as process:
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
        import os

        self._found = os.environ.get("OMP_NUM_THREADS")

    def prepare(self, *_: object) -> None:
        raise RuntimeError(f"OMP_NUM_THREADS is {self._found}")
