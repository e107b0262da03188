"""What is said of runtimes that compute in a known way: the right words of each, and no others."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from tests.conformance import miniatures, odd_dividers
from vinculum.conformance.fingerprint import PROBES, Finding, Fingerprint, Standing, fingerprint_of
from vinculum.conformance.fingerprint.asking import Asker
from vinculum.conformance.fingerprint.operands import float_operands
from vinculum.conformance.question import Question
from vinculum.sandbox import Answer, End, Limits, UnsupportedError
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
    with ThreadPoolExecutor(1) as pool:
        asker = Asker(divider, [InPlace(divider)], pool)
        return [finding for probe in PROBES for finding in probe(asker)]


def told(findings: Sequence[Finding]) -> dict[str, set[str]]:
    """Return the statements by probe."""
    return {one.probe: {other.statement for other in findings if other.probe == one.probe} for one in findings}


def deviations(findings: Sequence[Finding]) -> dict[str, str]:
    """Return what deviates, by probe and subject."""
    marked = [finding for finding in findings if finding.standing is Standing.DEVIATES]
    return {f"{one.probe} {one.subject}": "; ".join(filter(None, (one.statement, one.detail))) for one in marked}


class TestRight:
    """Of a runtime that divides rightly nothing is marked, and every probe says something."""

    def test_nothing_is_marked(self) -> None:
        findings = found(miniatures.Divider())
        assert deviations(findings) == {}
        assert told(findings) == {
            "division": {"correctly rounded", "exact"},
            "Reciprocal": {"correctly rounded"},
            "rounding attribute": {"honoured"},
            "constants": {"divided as at run time"},
            "axis": {"honoured"},
            "illegal operands": {"refused"},
            "empty tensors": {"divided"},
            "operator versions": {"supported"},
            "x / 0": {"gives 0"},
            "MIN / -1": {"gives MIN"},
        }

    def test_what_is_not_specified_is_not_marked(self) -> None:
        findings = found(odd_dividers.Saturates())
        assert deviations(findings) == {}
        assert "gives MIN or MAX by the dividend's sign" in told(findings)["x / 0"]
        assert told(findings)["MIN / -1"] == {"gives MAX"}

    def test_what_is_not_supported_is_not_marked(self) -> None:
        findings = found(miniatures.LacksBfloat16())
        assert deviations(findings) == {}
        assert "not supported" in {f.statement for f in findings if (f.probe, f.subject) == ("division", "bfloat16")}


RECIPROCAL = "computed as a multiplication by the reciprocal, a * (1/b)"


class TestWrongDividers:
    """What is wrong is named: not only that it is, but how; and nothing else is marked."""

    @pytest.mark.parametrize(
        ("divider", "expected"),
        [
            (miniatures.MultipliesByReciprocal, {"division float": RECIPROCAL}),
            (
                miniatures.FlushesOperands,
                {
                    "division float": "flushes subnormal numbers to zero, else correctly rounded; "
                    "subnormal operands count as zero"
                },
            ),
            (
                miniatures.FlushesQuotients,
                {
                    "division float": "flushes subnormal numbers to zero, else correctly rounded; "
                    "subnormal quotients become zero"
                },
            ),
            (odd_dividers.InvertsOneDivisor, {"one divisor for all float": RECIPROCAL}),
            (miniatures.ComputesDoubleInFloat, {"division double": "computed in float"}),
            (odd_dividers.ComputesFloatInFloat16, {"division float": "computed in float16"}),
            (
                odd_dividers.CutsBfloat16,
                {"division bfloat16": "computed in float, then cut off instead of rounded"},
            ),
            (
                miniatures.NarrowsInt64,
                {"division int64": "computed in int32; dividends: upper bits dropped, divisors: upper bits dropped"},
            ),
            (
                odd_dividers.SaturatesInt64,
                {
                    "division int64": "computed in int32; dividends: too large ones become MIN or MAX, "
                    "divisors: too large ones become MIN or MAX"
                },
            ),
            (odd_dividers.ComputesInt64InDouble, {"division int64": "computed in double"}),
            (
                odd_dividers.TakesUnsignedAsSigned,
                {f"division {name}": "operands taken as signed" for name in ("uint64", "uint32", "uint16", "uint8")},
            ),
            (odd_dividers.RoundsIntegersToNearest, {"division int8": "rounded to nearest, ties to even"}),
            (
                miniatures.Floors,
                {f"division {name}": "rounded down" for name in ("int64", "int32", "int16", "int8")},
            ),
            (
                odd_dividers.IgnoresFloor,
                {
                    f"rounding attribute {name}": "floor ignored at run time (truncated), honoured when folded"
                    for name in ("int64", "int32")
                },
            ),
            (
                odd_dividers.FoldsOtherwise,
                {"constants float": f"a constant divisor disagrees with run time; {RECIPROCAL}"},
            ),
            (miniatures.DropsAxis, {"axis Div-6": "ignored: the divisor is laid along the last dimension"}),
            (miniatures.AcceptsAll, {"illegal operands (2, 3) by (2,)": "accepted"}),
        ],
        ids=lambda value: value.__name__ if isinstance(value, type) else "",
    )
    def test_named(self, divider: type[miniatures.Divider], expected: dict[str, str]) -> None:
        marked = deviations(found(divider()))
        assert expected.items() <= marked.items()
        assert {name for name in marked if name not in expected} <= _CONSEQUENCES.get(divider, set())

    def test_an_example_shows_it(self) -> None:
        findings = {f"{one.probe} {one.subject}": one for one in found(miniatures.MultipliesByReciprocal())}
        assert findings["division float"].evidence == "41.0 / 41.0 = 0.99999994, not 1.0"
        assert findings["division double"].evidence == ""


# What follows from being wrong in the way that is named.
_CONSEQUENCES: dict[type[miniatures.Divider], set[str]] = {
    miniatures.FlushesOperands: {"Reciprocal float"},
    miniatures.FlushesQuotients: {"Reciprocal float"},
    miniatures.ComputesDoubleInFloat: {"Reciprocal double"},
    odd_dividers.ComputesFloatInFloat16: {"Reciprocal float"},
    odd_dividers.CutsBfloat16: {"Reciprocal bfloat16"},
    odd_dividers.ComputesInt64InDouble: {"rounding attribute int64"},
    miniatures.Floors: {"rounding attribute int64", "rounding attribute int32"},
    odd_dividers.IgnoresFloor: {"constants int64"},
    miniatures.DropsAxis: {"axis pdpd"},
    miniatures.AcceptsAll: {
        f"illegal operands {operands}"
        for operands in (
            "float by double",
            "int64 by int32",
            "int32 by float",
            "Div-6 of (2, 3) by (3,), broadcast=0",
            "Div-6 of (1, 3) by (2, 3)",
            "auto_broadcast=none of (2, 3) by (3,)",
        )
    },
}


def seeds(quick: int, count: int) -> list[Any]:
    """Return so many seeds, of which the first are for the quick tests."""
    return [*range(quick), *(pytest.param(seed, marks=pytest.mark.exhaustive) for seed in range(quick, count))]


class TestUnknownWays:
    """What no model explains is told in numbers; a way of computing is named only if it gives every quotient."""

    def test_numbers(self) -> None:
        marked = deviations(found(odd_dividers.IsOffByAnUlp()))
        assert re.fullmatch(
            r"[\d,]+ of 1,[\d]+ quotients wrong, in no way that is known; [\d,]+ of them with ordinary numbers, "
            r"by up to 1 ulp, [\d]+ not finite",
            marked["division float"],
        )
        marked = deviations(found(odd_dividers.IsOddWithIntegers()))
        assert marked["division int32"].endswith("quotients wrong, in no way that is known")

    def test_where(self) -> None:
        marked = deviations(found(odd_dividers.IsOddAtZero()))
        assert marked["division float"].endswith("; all of them with zeros, infinities, NaN or subnormal numbers")

    @pytest.mark.parametrize("seed", seeds(2, 6))
    def test_rare_noise_is_seen(self, seed: int) -> None:
        marked = deviations(found(odd_dividers.IsNoisy(seed)))
        for element_type in ("float", "double", "float16", "int64", "int8"):
            assert "quotients wrong, in no way that is known" in marked[f"division {element_type}"]

    @pytest.mark.parametrize("seed", seeds(6, 12))
    def test_a_fault_beside_another_is_not_hidden(self, seed: int) -> None:
        divider = odd_dividers.MixesFaults(seed)
        statement = deviations(found(divider))["division float"]
        assert "quotients wrong, in no way that is known" in statement, divider.faults


class TestIsolation:
    """A runtime that kills its process is found out like any other, and costs a restart."""

    @posix
    def test_a_signal_is_told(self) -> None:
        assert set(deviations(_isolated("DiesOfMinByMinusOne").findings).items()) == {
            (f"MIN / -1 {name}", "kills the process (SIGFPE)") for name in ("int8", "int16", "int32", "int64")
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
