"""Bad input: whatever is in a file, it runs or an error of ours comes out; no signal, and memory is bounded.

`tests/models/test_damaged_files.py` damages two small models at every place; here the examples, and in the long part
ONNX's own node tests, are damaged at random, in a process whose memory is limited.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from random import Random

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.fuzz.mutations import mutate_bytes, mutate_proto
from tests.fuzz.subject import EXAMPLES, Case, Subject
from tests.onnx_cases import node_cases

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="only Linux limits the memory of a process")

ONNX = sorted(path.relative_to(EXAMPLES).as_posix() for path in EXAMPLES.glob("*/*.onnx"))
NAME = "openvino_rounding/div.onnx"
WHOLE = Case(NAME, (EXAMPLES / NAME).read_bytes())
LARGEST = 20_000  # Bytes; a few node tests hold large weights.
OPSETS = (0, 1, 5, 6, 7, 8, 9, 11, 12, 13, 14, 18, 22)
Mutation = Callable[[bytes, Random], bytes]

randoms = st.randoms(use_true_random=False)
bounded = settings(
    derandomize=True,
    database=None,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)


def check(subject: Subject, name: str, mutation: Mutation, random: Random) -> None:
    """Hand a damaged file to the subject, which fails if anything but an error of ours comes out."""
    content = mutation((EXAMPLES / name).read_bytes(), random)
    case = Case(name, content, random.choice(OPSETS))
    assert subject.outcome(case) != "slow", repr(case)


@pytest.fixture(scope="module")
def reader(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Subject]:
    """Return a process that loads and runs models."""
    with Subject("run", tmp_path_factory.mktemp("reader")) as subject:
        yield subject


@pytest.fixture(scope="module")
def converter(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Subject]:
    """Return a process that converts models."""
    with Subject("convert", tmp_path_factory.mktemp("converter")) as subject:
        yield subject


class TestRightJob:
    """Whole files run, damaged ones are refused, and the files around stay whole."""

    def test_a_whole_file(self, reader: Subject) -> None:
        assert reader.outcome(WHOLE) == "accepted"

    def test_a_damaged_file(self, reader: Subject) -> None:
        assert reader.outcome(Case(NAME, b"\xff" * 9)) == "refused"
        assert reader.outcome(WHOLE) == "accepted"

    def test_a_file_that_no_example_has(self, reader: Subject) -> None:
        assert reader.outcome(Case("other.onnx", WHOLE.content)) == "accepted"


class TestLoadingAndRunning:
    """No exception outside of our classes, no signal, memory bounded."""

    @settings(bounded, max_examples=40)
    @given(name=st.sampled_from(ONNX), random=randoms)
    def test_bytes(self, reader: Subject, name: str, random: Random) -> None:
        check(reader, name, mutate_bytes, random)

    @settings(bounded, max_examples=60)
    @given(name=st.sampled_from(ONNX), random=randoms)
    def test_fields_of_onnx_models(self, reader: Subject, name: str, random: Random) -> None:
        check(reader, name, mutate_proto, random)


class TestConverting:
    """What loads is converted, verified and written, or refused by an error of ours."""

    @settings(bounded, max_examples=16)
    @given(name=st.sampled_from(ONNX), random=randoms)
    def test_onnx_models(self, converter: Subject, name: str, random: Random) -> None:
        check(converter, name, mutate_proto, random)


def node_models() -> list[bytes]:
    """Return the models of ONNX's own node tests, one of nearly every operator."""
    contents = [case.model.SerializeToString() for case in node_cases()]
    return [content for content in contents if len(content) < LARGEST]


@pytest.mark.exhaustive
class TestLong:
    """The same for about two hours, each time with other damage; ``--one-in`` takes a part."""

    CASES = 500_000
    SLOW, LARGEST_PART_SLOW = 20.0, 0.001  # Loops over what an attribute or a dimension asks for are not bounded.

    @pytest.mark.parametrize("job", ["run", "convert"])
    def test_random_damage(self, job: str, request: pytest.FixtureRequest, tmp_path: Path) -> None:
        cases = self.CASES // (1 if job == "run" else 5) // int(request.config.getoption("--one-in"))
        random, nodes, slow = Random(), node_models(), []
        with Subject(job, tmp_path, self.SLOW) as subject:
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
        assert len(slow) <= 1 + cases * self.LARGEST_PART_SLOW
