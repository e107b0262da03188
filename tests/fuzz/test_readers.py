"""Whatever a file contains, it runs or is refused by an error of ours: no signal, and bounded memory.

`tests/models/test_damaged_files.py` damages two small models in every place. Here the examples, and in the long part
ONNX's own node tests, are damaged at random, and read in a process with little memory.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from random import Random

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from onnx import ModelProto

from tests.fuzz.mutations import mutate_bytes, mutate_proto
from tests.fuzz.subject import EXAMPLES, Case, Subject, answer
from tests.onnx_cases import node_cases
from vinculum.errors import ModelError

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="only Linux limits the memory of a process")

ONNX = sorted(path.relative_to(EXAMPLES).as_posix() for path in EXAMPLES.glob("*/*.onnx"))
NAME = "openvino_rounding/div.onnx"
WHOLE = Case(NAME, (EXAMPLES / NAME).read_bytes())
LARGEST = 20_000  # Bytes; a few node tests hold large weights.
OPSETS = (0, 1, 5, 6, 7, 8, 9, 11, 12, 13, 14, 18, 22)
Mutation = Callable[[bytes, Random], bytes]

damaged = given(name=st.sampled_from(ONNX), random=st.randoms(use_true_random=False))
bounded = settings(
    derandomize=True,
    database=None,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)


def check(subject: Subject, name: str, mutation: Mutation, random: Random) -> None:
    """Damage a file; fail if it is slow, or raises anything but an error of ours."""
    content = mutation((EXAMPLES / name).read_bytes(), random)
    case = Case(name, content, random.choice(OPSETS))
    assert subject.outcome(case) != "slow", repr(case)


@pytest.fixture(scope="module")
def reader(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Subject]:
    """Return a process that loads and runs models."""
    with Subject("run", tmp_path_factory.mktemp("reader")) as subject:
        yield subject


def test_whole_files_run_and_damaged_ones_are_refused(reader: Subject) -> None:
    for case in (WHOLE, Case("other.onnx", WHOLE.content), WHOLE):
        assert reader.outcome(case) == "accepted"
        assert reader.outcome(Case(NAME, b"\xff" * 9)) == "refused"


@settings(bounded, max_examples=40)
@damaged
def test_bytes(reader: Subject, name: str, random: Random) -> None:
    check(reader, name, mutate_bytes, random)


@settings(bounded, max_examples=60)
@damaged
def test_fields_of_onnx_models(reader: Subject, name: str, random: Random) -> None:
    check(reader, name, mutate_proto, random)


@pytest.fixture(scope="module")
def converter(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Subject]:
    """Return a process that converts models, verifies them and writes them."""
    with Subject("convert", tmp_path_factory.mktemp("converter")) as subject:
        yield subject


@settings(bounded, max_examples=16)
@damaged
def test_conversions(converter: Subject, name: str, random: Random) -> None:
    check(converter, name, mutate_proto, random)


CASES = 500_000
SLOW, LARGEST_PART_SLOW = 20.0, 0.001  # An attribute or a dimension may ask for a long loop.


@pytest.mark.exhaustive
@pytest.mark.parametrize("job", ["run", "convert"])
def test_random_damage_for_long(job: str, request: pytest.FixtureRequest, tmp_path: Path) -> None:
    """The same for about two hours, with different damage in each run; ``--one-in`` takes a part."""
    cases = CASES // (1 if job == "run" else 5) // int(request.config.getoption("--one-in"))
    contents = [case.model.SerializeToString() for case in node_cases()]  # One of nearly every operator.
    nodes = [content for content in contents if len(content) < LARGEST]
    random, slow = Random(), []
    with Subject(job, tmp_path, SLOW) as subject:
        for _ in range(cases):
            if random.randint(0, 1):
                name, content = "node.onnx", random.choice(nodes)
            else:
                name = random.choice(ONNX)
                content = (EXAMPLES / name).read_bytes()
            mutation = random.choice((mutate_proto, mutate_proto, mutate_proto, mutate_bytes))
            case = Case(name, mutation(content, random), random.choice(OPSETS))
            if subject.outcome(case) == "slow":
                slow.append(case)
    print(f"{cases} cases; slow: {slow}")
    assert len(slow) <= 1 + cases * LARGEST_PART_SLOW


@pytest.mark.parametrize(
    ("error", "words"), [(KeyError(0), "KeyError: 0"), (ModelError("one\ntwo"), "not one line: ModelError")]
)
def test_other_errors_are_found(error: Exception, words: str) -> None:
    def job(file: Path, opset: int) -> None:
        raise error

    kind, said = answer(job, Path(NAME), 0)
    assert kind == "escaped"
    assert words in said


def test_mutations_change_nearly_every_file_and_leave_most_of_it() -> None:
    cut, changed = ([f(WHOLE.content, Random(seed)) for seed in range(200)] for f in (mutate_bytes, mutate_proto))
    assert sum(content != WHOLE.content for content in cut) > 180
    assert sum(content != WHOLE.content for content in changed) > 150
    assert sum(bool(ModelProto.FromString(content).graph.node) for content in changed) > 150
