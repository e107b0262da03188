"""What is said of runtimes that compute in a known way: the right words of each, and no others."""

from __future__ import annotations

import os
from typing import Any

import pytest

from tests.conformance import miniatures, odd_dividers
from vinculum.conformance.fingerprint import PROBES, Finding, Fingerprint, fingerprint_of
from vinculum.conformance.fingerprint.asking import Asker
from vinculum.conformance.fingerprint.operands import float_operands
from vinculum.conformance.question import Question
from vinculum.models.isolation import Answer, End, Limits, UnsupportedError
from vinculum.spec.element_types import FLOAT

A_WHILE = Limits(seconds=60.0)

posix = pytest.mark.skipif(os.name != "posix", reason="Windows has no signals")


class InPlace:
    """It answers in our own process."""

    def __init__(self, runtime: Any) -> None:
        self._runtime = runtime

    def call(self, method: str, *arguments: object) -> Answer:
        try:
            return Answer(End.RETURNED, getattr(self._runtime, method)(*arguments))
        except UnsupportedError as error:
            return Answer(End.UNSUPPORTED, words=str(error))
        except Exception as error:
            return Answer(End.REFUSED, words=str(error))


def found(divider: Any) -> list[Finding]:
    """Return everything that the probes find out about a runtime that kills no process."""
    asker = Asker(divider, InPlace(divider))
    return [finding for probe in PROBES for finding in probe(asker)]


def deviations(findings: list[Finding] | tuple[Finding, ...]) -> dict[str, str]:
    """Return what is marked, by probe."""
    return {finding.probe: finding.statement for finding in findings if finding.is_deviation}


class TestRight:
    """Of a runtime that divides rightly nothing is marked, and every probe says something."""

    def test_nothing_is_marked(self) -> None:
        findings = found(miniatures.Divider())
        assert deviations(findings) == {}
        assert {finding.probe: finding.statement for finding in findings} == {
            "float": "correctly rounded",
            "double": "correctly rounded",
            "float16": "correctly rounded",
            "bfloat16": "correctly rounded",
            "int64": "exact",
            "int32": "exact",
            "uint64, uint32": "exact",
            "int16, int8, uint16, uint8": "exact",
            "subnormal numbers": "kept",
            "x / x": "always 1",
            "0 / x": "always 0",
            "one divisor for all": "correctly rounded",
            "Reciprocal": "correctly rounded",
            "integer division": "truncated",
            "truncating division": "truncated",
            "floor division": "rounded down",
            "constant folding": "agrees with run time",
            "constant divisor": "agrees with run time",
            "x / 0": "gives 0",
            "x / 0 of constants": "gives 0",
            "MIN / -1": "gives MIN",
            "MIN / -1 of constants": "gives MIN",
            "legacy axis": "honoured",
            "pdpd axis": "honoured",
            "mixed element types": "refused",
            "shapes beyond the rule": "refused",
            "empty tensors": "divided",
            "operator versions": "all are there",
        }

    def test_what_is_not_specified_is_not_marked(self) -> None:
        findings = found(odd_dividers.Saturates())
        assert deviations(findings) == {}
        told = {finding.probe: finding.statement for finding in findings}
        assert "gives MIN or MAX by the dividend's sign" in told["x / 0"]
        assert told["MIN / -1"] == "gives MAX"

    def test_what_is_not_supported_is_not_marked(self) -> None:
        findings = found(miniatures.LacksBfloat16())
        assert deviations(findings) == {}
        assert {f.statement for f in findings if f.probe == "bfloat16"} == {"not supported"}


RECIPROCAL = "computed as a * (1/b)"


class TestWrongDividers:
    """What is wrong is named: not only that it is, but how; and nothing else is marked."""

    @pytest.mark.parametrize(
        ("divider", "expected"),
        [
            (
                miniatures.MultipliesByReciprocal,
                {"float": RECIPROCAL, "x / x": "float: not always 1; double, float16, bfloat16: always 1"},
            ),
            (
                miniatures.FlushesOperands,
                {"subnormal numbers": "float: flushed: subnormal operands count as zero"},
            ),
            (
                miniatures.FlushesQuotients,
                {"subnormal numbers": "float: flushed: subnormal results become zero"},
            ),
            (odd_dividers.InvertsOneDivisor, {"one divisor for all": f"float: {RECIPROCAL}"}),
            (miniatures.ComputesDoubleInFloat, {"double": "computed in float"}),
            (odd_dividers.ComputesFloatInFloat16, {"float": "computed in float16"}),
            (odd_dividers.CutsBfloat16, {"bfloat16": "computed in float, then cut off instead of rounded"}),
            (miniatures.NarrowsInt64, {"int64": "computed in int32 (upper bits dropped)"}),
            (odd_dividers.SaturatesInt64, {"int64": "computed in int32 (larger ones become MIN or MAX)"}),
            (odd_dividers.ComputesInt64InDouble, {"int64": "computed in double"}),
            (odd_dividers.TakesUnsignedAsSigned, {"uint64, uint32": "operands taken as signed"}),
            (
                odd_dividers.RoundsIntegersToNearest,
                {"int16, int8, uint16, uint8": "int8: rounded to nearest, ties to even"},
            ),
            (miniatures.Floors, {"integer division": "rounded down at run time, rounded down when folded"}),
            (
                odd_dividers.IgnoresFloor,
                {"floor division": "floor attribute ignored at run time (truncated), honoured when folded"},
            ),
            (
                odd_dividers.FoldsOtherwise,
                {"constant folding": f"disagrees with run time (float): {RECIPROCAL}"},
            ),
            (miniatures.DropsAxis, {"legacy axis": "ignored: the divisor is laid along the last dimension"}),
            (miniatures.AcceptsAll, {"mixed element types": "accepted", "shapes beyond the rule": "accepted"}),
        ],
        ids=lambda value: value.__name__ if isinstance(value, type) else "",
    )
    def test_named(self, divider: type[miniatures.Divider], expected: dict[str, str]) -> None:
        marked = deviations(found(divider()))
        for probe, statement in expected.items():
            assert statement in marked[probe]
        others = {name for name in marked if name not in expected}
        assert others <= _CONSEQUENCES.get(divider, set())

    def test_what_no_model_explains_is_told_in_numbers(self) -> None:
        marked = deviations(found(odd_dividers.IsOffByAnUlp()))
        assert marked["float"] == "50% of quotients off, by up to 1 ulp; no known way of computing gives these"
        marked = deviations(found(odd_dividers.IsOddWithIntegers()))
        assert marked["int32"].endswith("quotients wrong; no known way of computing gives these")

    def test_what_a_model_explains_in_part_is_told_with_the_rest(self) -> None:
        marked = deviations(found(odd_dividers.IsOddAtZero()))
        assert marked["float"].startswith("correctly rounded; but 4 of ")
        assert marked["float"].endswith("are off, and no known way of computing gives these")

    def test_an_example_shows_it(self) -> None:
        findings = {finding.probe: finding for finding in found(miniatures.MultipliesByReciprocal())}
        assert findings["x / x"].evidence == "41.0 / 41.0 = 0.99999994, not 1.0"
        assert findings["double"].evidence == ""


# What follows from being wrong in the way that is named.
_CONSEQUENCES: dict[type[miniatures.Divider], set[str]] = {
    miniatures.MultipliesByReciprocal: {"0 / x", "one divisor for all"},
    miniatures.FlushesOperands: {"x / x", "0 / x", "Reciprocal"},
    miniatures.FlushesQuotients: {"Reciprocal"},
    miniatures.ComputesDoubleInFloat: {"x / x", "0 / x", "Reciprocal", "one divisor for all"},
    odd_dividers.ComputesFloatInFloat16: {"x / x", "0 / x", "Reciprocal", "one divisor for all"},
    odd_dividers.CutsBfloat16: {"Reciprocal", "one divisor for all"},
    odd_dividers.ComputesInt64InDouble: {"floor division"},
    odd_dividers.TakesUnsignedAsSigned: {"int16, int8, uint16, uint8"},
    odd_dividers.RoundsIntegersToNearest: {"integer division", "truncating division", "floor division", "MIN / -1"},
    miniatures.Floors: {"int64", "int32", "int16, int8, uint16, uint8", "truncating division"},
    odd_dividers.IgnoresFloor: {"constant folding"},
    odd_dividers.FoldsOtherwise: {"constant divisor"},
    miniatures.DropsAxis: {"pdpd axis"},
}


class TestIsolation:
    """A runtime that kills its process is found out like any other, and costs a restart."""

    @posix
    def test_a_signal_is_told(self) -> None:
        marked = deviations(_isolated("DiesOfMinByMinusOne").findings)
        assert marked == {
            "MIN / -1": "kills the process: SIGFPE",
            "MIN / -1 of constants": "kills the process: SIGFPE",
        }

    def test_progress_is_told(self) -> None:
        steps: list[tuple[int, str]] = []
        fingerprinted = _isolated("Divider", lambda done, words: steps.append((done, words)))
        assert [done for done, _ in steps] == list(range(1, len(PROBES) + 1))
        assert "minimum by minus one" in {words for _, words in steps}
        assert not deviations(fingerprinted.findings)
        assert (fingerprinted.backend, fingerprinted.title) == ("mine", "Miniature")


def _isolated(name: str, advance: Any = None) -> Fingerprint:
    divider = getattr(miniatures, name)()
    maker = f"tests.conformance.miniatures:{name}"
    return fingerprint_of(divider, "mine", maker, limits=A_WHILE, advance=advance)


def test_a_question_is_asked_once() -> None:
    asked: list[Question] = []

    class Counts(miniatures.Divider):
        def look(self, question: Question) -> None:
            asked.append(question)

    found(Counts())
    standard = [q for q in asked if q.operands[0].size == float_operands(FLOAT)[0].size and len(q.operands) == 2]
    keys = [(q.operands[0].dtype, q.constant) for q in standard]
    assert len(keys) == len(set(keys))
