"""Files of runs: reading gives what was written, answers are explained anew, and other files are refused."""

from __future__ import annotations

import json
import lzma
import sys
import zlib
from base64 import b64encode
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import ml_dtypes
import msgspec
import numpy as np
import pytest

from tests.conformance.asking import case, same_bits
from tests.reporting.conformance.reports import exact, hostile, report
from vinculum.conformance.cases.case import CaseId, Level
from vinculum.conformance.run import file as module
from vinculum.conformance.run.file import answered, as_json, kept, read_runs, schema, value
from vinculum.conformance.run.planning import plan
from vinculum.conformance.run.record import Cause, KeptAnswer, Kind, Run, Selection, Verdict
from vinculum.conformance.run.suite import explained, survey
from vinculum.errors import ModelError
from vinculum.sandbox import Answer, End
from vinculum.spec.element_types import FLOAT


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "run.json"


class TestRoundTrip:
    """Every report can be made from the file alone."""

    def test_what_was_written_is_read(self, file: Path) -> None:
        escaped = json.dumps(msgspec.to_builtins(hostile())).replace("\\ud800", "\\ufffd")
        tame = msgspec.convert(json.loads(escaped), type=Run, strict=False)
        runs = (report(), exact(), tame)
        file.write_text(as_json(runs), encoding="utf-8")
        assert read_runs(file) == runs
        assert as_json(read_runs(file)) == file.read_text("utf-8")
        file.write_bytes(lzma.compress(file.read_bytes(), preset=0))
        assert read_runs(file) == runs

    def test_the_schema(self) -> None:
        names = {name.rpartition("/")[2] for name in schema()["$defs"]}
        assert {"RunFile", "Run", "Result", "CaseId", "Verdict", "Cause", "Selection"} <= names


NO_RUN = "is not a run of the conformance suite .*--save"
RESULTS = report().results


@pytest.mark.parametrize(
    ("text", "words"),
    [
        *((text, NO_RUN) for text in ("", "{", "[]", "\x00", '{"runs": [{"backend": 3}]}', '{"runs": 7}')),
        ('{"format": "x", "runs": []}', NO_RUN),
        (as_json(()), "holds no run; give a file written by --save"),
        # Its cases would be neither explained nor counted as unexplained.
        (as_json([replace(report(), causes=())]),
         "gives a case the cause 'arithmetic.*which its run does not list"),
        (as_json([report()]).replace("vinculum run 2", "vinculum run 1"), NO_RUN),
        (as_json([replace(report(), results=(*RESULTS, RESULTS[0]))]), "has the case 'Div-.* twice"),
    ],
    ids=lambda value: value[:20],
)  # fmt: skip
def test_what_is_no_run_is_refused(file: Path, text: str, words: str) -> None:
    """The message is one line and names the file."""
    file.write_text(text, encoding="utf-8")
    with pytest.raises(ModelError, match=f"run.json' {words}") as caught:
        read_runs(file)
    assert "\n" not in str(caught.value)


def test_what_is_packed(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Packed content that is damaged, cut off or too large is refused."""
    packed = lzma.compress(as_json([exact()]).encode())
    damaged = bytearray(packed)
    damaged[len(packed) // 2] ^= 1
    for content in (bytes(damaged), *(packed[:size] for size in range(6, len(packed), 501))):
        file.write_bytes(content)
        with pytest.raises(ModelError, match=f"run.json' {NO_RUN}"):
            read_runs(file)
    file.write_bytes(packed)
    with monkeypatch.context() as without:
        without.setitem(sys.modules, "lzma", None)
        with pytest.raises(ModelError, match="this Python was built without lzma: unpack it first"):
            read_runs(file)
    monkeypatch.setattr(module, "_LARGEST", len(packed))
    file.write_bytes(packed)
    with pytest.raises(ModelError, match=f"or larger than {len(packed):,} bytes"):
        read_runs(file)


ONE = case(FLOAT, [[1.0, 2.0], [2.0, 2.0]], [0.5, 1.0])


def run(backend: str, *only: str) -> Run:
    return survey(plan(f"tests.fake_runtime:{backend}", Selection(Level.QUICK, only)))


class TestKept:
    """An array is restored bit for bit; an answer equal to the expected quotient needs no data."""

    @pytest.mark.parametrize(
        "array",
        [
            np.array([0.5, np.nan], np.float32),
            np.array([1, 2, 3], np.float32),
            np.array([-0.5, -1], np.float32),
            np.array([0.5, 1]),
            np.array([[0.5], [1]], np.float32),
            np.array([[1, -2]], ">i4"),
            np.zeros((2, 0, 3), np.uint8),
            np.array(True),
            np.array([1.5, -3], ml_dtypes.bfloat16),
            np.array([-8, 7], ml_dtypes.int4),
            np.array([1.5], ml_dtypes.float8_e5m2),
            np.array([Fraction(1, 3), Fraction(-7)], object),
            np.arange(12, dtype=np.float32).reshape(3, 4)[::2, ::-1],
        ],
    )
    def test_an_array(self, array: np.ndarray[Any, Any]) -> None:
        found = kept(ONE, Answer(End.RETURNED, array))
        assert found is not None
        assert same_bits(value(found, ONE.expectation.quotient), array.astype(array.dtype.newbyteorder("=")))

    def test_the_expected_one(self) -> None:
        quotient = ONE.expectation.quotient
        assert quotient is not None
        assert kept(ONE, Answer(End.RETURNED, quotient.copy())) == KeptAnswer()

    @pytest.mark.parametrize("other", [[1, 2], None, np.array(["a"]), np.array([1, None]), np.zeros(2, "i4,i4")])
    def test_what_is_no_array_of_numbers(self, other: object) -> None:
        assert kept(ONE, Answer(End.RETURNED, other)) is None

    @pytest.mark.parametrize(
        ("damaged", "words"),
        [
            ({"data": "@"}, "cannot be decompressed"),
            ({"data": b64encode(b"no").decode()}, "cannot be decompressed"),
            ({"data": b64encode(zlib.compress(bytes(1 << 20))).decode()}, "has not the 8 bytes"),
            ({"shape": (-2,)}, "is not a tensor"),
            ({"shape": (1,) * 65}, "is not a tensor"),
            ({"shape": (1 << 28,)}, "has not the 1073741824 bytes"),  # The most.
            ({"shape": (1 << 40,)}, "is too large"),
            ({"type": "object"}, "is not a tensor"),
            ({"type": "str"}, "is not a tensor"),
            ({"type": "__import__"}, "is not a tensor"),
            ({"type": "real"}, "an element|elements"),
        ],
    )
    def test_damaged(self, damaged: dict[str, Any], words: str) -> None:
        whole = {"type": "float32", "shape": (2,), "data": b64encode(zlib.compress(bytes(8))).decode()}
        with pytest.raises(ModelError, match=words):
            value(KeptAnswer(**{**whole, **damaged}), None)


class TestAnswered:
    """A run is rebuilt, judged and explained without its runtime."""

    @pytest.mark.parametrize("backend", ["Floors", "FlushesOperands", "GivesLists", "AcceptsAll", "LosesTheSignOfZero"])
    def test_everything_is_found_again(self, backend: str) -> None:
        whole = run(backend, "Div-6/int*", "Div-6/float/*", "SONNX Div (int)/int8/*")
        assert any(one.verdict.kind.deviates for one in whole.results)
        results = tuple(
            replace(one, verdict=Verdict(Kind.EXACT, one.verdict.said), cause="") if one.answer else one
            for one in whole.results
        )
        bare = replace(whole, results=results)
        assert explained(bare, answered(bare)) == whole

    def test_a_case_that_the_suite_no_longer_has(self) -> None:
        """Such a case keeps its verdict and cause."""
        whole = run("Floors", "Div-14/int32/*")
        old = next(one for one in whole.results if one.cause)
        gone = replace(old, id=CaseId("Div-99", "", "int32", "a", "b", "c"), cause="rule: old")
        changed = replace(old, digest="0" * 16, cause="rule: old")
        cause = Cause("rule: old", "as it was", ("int32",), 1)
        for other in (gone, changed):
            results = tuple(other if one is old else one for one in whole.results)
            old_run = replace(whole, results=results, causes=(*whole.causes, cause))
            again = explained(old_run, answered(old_run))
            assert next(one for one in again.results if one.id == other.id) == other
            assert cause in again.causes
            assert len(answered(again)) == len(whole.results) - 1

    def test_a_damaged_answer(self) -> None:
        whole = run("Floors", "Div-14/int32/*")
        at, old = next((n, one) for n, one in enumerate(whole.results) if one.answer and one.answer.data)
        damaged = replace(old, answer=KeptAnswer(type="int32", shape=(2,), data="@"))
        with pytest.raises(ModelError, match=r"the answer to 'Div-14/int32/.*is damaged: its data cannot be"):
            answered(replace(whole, results=(*whole.results[:at], damaged, *whole.results[at + 1 :])))
