"""The tester is tested: each way in which a job can go wrong is seen, and the next case finds the worker well."""

from __future__ import annotations

import sys
import zlib
from base64 import b85decode
from collections.abc import Iterator
from random import Random

import pytest
from onnx import ModelProto

from tests.fuzz.mutations import mutate_bytes, mutate_proto
from tests.fuzz.subject import ONE_CASE, Case, Subject
from tests.fuzz.test_readers import WHOLE

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="only Linux limits the memory of a process")


@pytest.fixture(scope="class")
def subject(tmp_path_factory: pytest.TempPathFactory, request: pytest.FixtureRequest) -> Iterator[Subject]:
    """Return a worker for the job that the test, or its class, names."""
    folder = tmp_path_factory.mktemp("subject")
    with Subject(request.param, folder, seconds=0.2 if request.param == "hang" else ONE_CASE) as started:
        yield started


class TestWrongJobs:
    """Deliberately wrong jobs: each fails with its reason and the case."""

    @pytest.mark.parametrize(
        ("subject", "words"),
        [
            ("raise_foreign", "KeyError: 0"),
            ("raise_two_lines", "not one line: ModelError"),
            ("die", "crashed: SIGFPE"),
            ("devour", "MemoryError"),
        ],
        indirect=["subject"],
    )
    def test_each_is_seen(self, subject: Subject, words: str) -> None:
        for _ in range(2):
            with pytest.raises(AssertionError) as caught:
                subject.outcome(WHOLE)
            assert words in str(caught.value)
            assert repr(WHOLE) in str(caught.value)

    @pytest.mark.parametrize("subject", ["hang"], indirect=True)
    def test_a_job_that_never_ends(self, subject: Subject) -> None:
        assert [subject.outcome(WHOLE) for _ in range(2)] == ["slow", "slow"]


def test_the_text_of_a_case_makes_it_again() -> None:
    assert eval(repr(WHOLE), {"Case": Case, "zlib": zlib, "b85decode": b85decode}) == WHOLE


class TestMutations:
    """They change nearly every file, and leave most of it as it was."""

    def test_bytes(self) -> None:
        mutated = [mutate_bytes(WHOLE.content, Random(seed)) for seed in range(200)]
        assert sum(content != WHOLE.content for content in mutated) > 180

    def test_fields(self) -> None:
        mutated = [mutate_proto(WHOLE.content, Random(seed)) for seed in range(200)]
        assert sum(content != WHOLE.content for content in mutated) > 150
        assert sum(bool(ModelProto.FromString(content).graph.node) for content in mutated) > 150
