"""What is said of runtimes that compute in a known way: the right words of each, and no others."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from tests import fake_runtime
from tests.conformance.arithmetic.answering import answered
from vinculum.conformance.cases.case import Case
from vinculum.conformance.execute.suite import ask
from vinculum.conformance.fingerprint import Finding, Status, findings, fingerprint, selected
from vinculum.sandbox import Limits

A_WHILE = Limits(seconds=60.0)

posix = pytest.mark.skipif(os.name != "posix", reason="Windows has no signals")


@cache
def chosen() -> tuple[Case, ...]:
    """Return the cases that a runtime is asked which covers all of ONNX and OpenVINO."""
    return tuple(selected(fake_runtime.FakeRuntime()))


def found(divider: Any, *element_types: str) -> list[Finding]:
    """Return everything that is found out about a runtime that kills no process, with some element types or all."""
    asked = [case for case in chosen() if case.element_type.name in element_types or not element_types]
    return list(findings(answered(divider, asked)))


def told(findings: Sequence[Finding]) -> dict[str, set[str]]:
    """Return the statements by probe."""
    return {one.probe: {other.statement for other in findings if other.probe == one.probe} for one in findings}


def deviations(findings: Sequence[Finding]) -> dict[str, str]:
    """Return what deviates, by probe and subject."""
    marked = [finding for finding in findings if finding.status is Status.DEVIATES]
    return {f"{one.probe} {one.subject}": "; ".join(filter(None, (one.statement, one.detail))) for one in marked}


class TestRight:
    """Of a runtime that divides rightly nothing is marked, and every probe says something."""

    def test_nothing_is_marked(self) -> None:
        told_of = found(fake_runtime.FakeRuntime())
        assert deviations(told_of) == {}
        assert told(told_of) == {
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
        told_of = found(fake_runtime.Saturates())
        assert deviations(told_of) == {}
        assert "gives MIN or MAX by the dividend's sign" in told(told_of)["x / 0"]
        assert "gives MAX" in told(told_of)["MIN / -1"]

    def test_what_is_not_supported_is_not_marked(self) -> None:
        told_of = found(fake_runtime.LacksBfloat16())
        assert deviations(told_of) == {}
        assert "not supported" in {f.statement for f in told_of if (f.probe, f.subject) == ("division", "bfloat16")}


RECIPROCAL = "computed as a * (1/b), a multiplication by the reciprocal"


class TestWrongDividers:
    """What is wrong is named: not only that it is, but how; and nothing else is marked."""

    @pytest.mark.parametrize(
        ("divider", "expected"),
        [
            (fake_runtime.MultipliesByReciprocal, {"division float": RECIPROCAL}),
            (
                fake_runtime.FlushesOperands,
                {
                    "division float": "flushes subnormal numbers to zero, else correctly rounded; "
                    "subnormal operands count as zero"
                },
            ),
            (
                fake_runtime.FlushesQuotients,
                {
                    "division float": "flushes subnormal numbers to zero, else correctly rounded; "
                    "subnormal quotients become zero"
                },
            ),
            (fake_runtime.InvertsOneDivisor, {"one divisor for all float": RECIPROCAL}),
            (
                fake_runtime.FlushesByOneDivisor,
                {
                    "one divisor for all float": "flushes subnormal numbers to zero, else correctly rounded; "
                    "subnormal quotients become zero"
                },
            ),
            (fake_runtime.ComputesDoubleInFloat, {"division double": "computed in float"}),
            (fake_runtime.ComputesFloatInFloat16, {"division float": "computed in float16"}),
            (
                fake_runtime.CutsBfloat16,
                {"division bfloat16": "computed in float, then cut off instead of rounded"},
            ),
            (
                fake_runtime.NarrowsInt64,
                {"division int64": "computed in int32; dividends: upper bits dropped, divisors: upper bits dropped"},
            ),
            (
                fake_runtime.SaturatesInt64,
                {
                    "division int64": "computed in int32; dividends: too large ones become MIN or MAX, "
                    "divisors: too large ones become MIN or MAX"
                },
            ),
            (fake_runtime.ComputesInt64InDouble, {"division int64": "computed in double"}),
            (
                fake_runtime.TakesUnsignedAsSigned,
                {f"division {name}": "operands taken as signed" for name in ("uint64", "uint32", "uint16", "uint8")},
            ),
            (fake_runtime.RoundsIntegersToNearest, {"division int8": "rounded to nearest, ties to even"}),
            (
                fake_runtime.Floors,
                {f"division {name}": "rounded down" for name in ("int64", "int32", "int16", "int8")},
            ),
            (
                fake_runtime.IgnoresFloor,
                {
                    f"rounding attribute {name}": "floor ignored at run time (truncated), honoured when folded"
                    for name in ("int64", "int32")
                },
            ),
            (
                fake_runtime.FoldsOtherwise,
                {"constants float": f"a constant divisor disagrees with run time; {RECIPROCAL}"},
            ),
            (fake_runtime.DropsAxis, {"axis Div-6": "ignored: the divisor is laid along the last dimension"}),
        ],
        ids=lambda value: value.__name__ if isinstance(value, type) else "",
    )
    def test_named(self, divider: type[fake_runtime.FakeRuntime], expected: dict[str, str]) -> None:
        names = {name for subject in expected for name in subject.split()} | {"float", "int64", "int8"}
        marked = deviations(found(divider(), *names))
        assert expected.items() <= marked.items()
        follow = _CONSEQUENCES.get(divider, ())
        assert not [name for name in marked if name not in expected and not name.startswith(follow)]

    def test_what_is_refused(self) -> None:
        marked = deviations(found(fake_runtime.RaisesAtZero()))
        assert {marked[f"division {name}"] for name in ("float", "double", "float16", "bfloat16")} == {
            "correctly rounded; refused for x / 0: division\nby zero"
        }
        assert {name.split()[0] for name in marked} == {"division", "Reciprocal"}

    def test_what_is_accepted(self) -> None:
        marked = deviations(found(fake_runtime.AcceptsAll()))
        assert all(name.startswith("illegal operands") for name in marked)
        assert marked["illegal operands operands of two element types"].startswith("accepted; bfloat16 by double")
        versions = "Div-1, Div-6, Div-7, Div-13, Div-14, Divide-1"
        assert marked["illegal operands shapes that the version does not join"] == f"accepted; {versions}"

    def test_an_example_shows_it(self) -> None:
        by_name = {
            f"{one.probe} {one.subject}": one for one in found(fake_runtime.MultipliesByReciprocal(), "float", "double")
        }
        assert re.fullmatch(r"(\S+) / \1 = 0.99999994, not 1.0", by_name["division float"].evidence)
        assert by_name["division double"].evidence == ""


# How that begins which follows from being wrong in the way that is named.
_CONSEQUENCES: dict[type[fake_runtime.FakeRuntime], tuple[str, ...]] = {
    fake_runtime.FlushesOperands: ("Reciprocal float",),
    fake_runtime.FlushesQuotients: ("Reciprocal float",),
    fake_runtime.ComputesDoubleInFloat: ("Reciprocal double",),
    fake_runtime.ComputesFloatInFloat16: ("Reciprocal float",),
    fake_runtime.CutsBfloat16: ("Reciprocal bfloat16",),
    fake_runtime.ComputesInt64InDouble: ("rounding attribute int64",),
    fake_runtime.RoundsIntegersToNearest: ("rounding attribute int8",),
    fake_runtime.Floors: ("rounding attribute", "division int4"),
    fake_runtime.IgnoresFloor: ("rounding attribute", "constants int"),
    fake_runtime.DropsAxis: ("axis",),
}


def seeds(quick: int, count: int) -> list[Any]:
    """Return so many seeds, of which the first are for the quick tests."""
    return [*range(quick), *(pytest.param(seed, marks=pytest.mark.exhaustive) for seed in range(quick, count))]


class TestUnknownWays:
    """What no model explains is told in numbers; a way of computing is named only if it gives every quotient."""

    def test_numbers(self) -> None:
        marked = deviations(found(fake_runtime.IsOffByAnUlp(), "float"))
        assert re.fullmatch(
            r"[\d,]+ of [\d,]+ quotients wrong, by no known arithmetic; [\d,]+ of them with ordinary numbers, "
            r"by up to 1 ulp, [\d]+ not finite",
            marked["division float"],
        )
        marked = deviations(found(fake_runtime.IsOddWithIntegers(), "int32"))
        assert marked["division int32"].endswith("quotients wrong, by no known arithmetic")

    def test_where(self) -> None:
        marked = deviations(found(fake_runtime.IsOddAtZero(), "float"))
        assert marked["division float"].endswith("; all of them with zeros, infinities, NaN or subnormal numbers")

    @pytest.mark.parametrize("seed", seeds(1, 6))
    def test_rare_noise_is_seen(self, seed: int) -> None:
        marked = deviations(found(fake_runtime.IsNoisy(seed)))
        for element_type in ("float", "double", "float16", "int64", "int8"):
            assert "quotients wrong, by no known arithmetic" in marked[f"division {element_type}"]

    @pytest.mark.parametrize("seed", seeds(3, 12))
    def test_a_fault_beside_another_is_not_hidden(self, seed: int) -> None:
        divider = fake_runtime.MixesFaults(seed)
        statement = deviations(found(divider, "float"))["division float"]
        assert "quotients wrong, by no known arithmetic" in statement, divider.faults


PLUG_IN = """
import numpy as np

class Ready:
    def covers(self, operation):
        return operation.spec.title == "Div-14" and operation.operands[0].dtype == np.float32

    def start(self):
        self.divide = np.divide

    def answer(self, operation):
        with np.errstate(all="ignore"):
            return self.divide(*operation.operands)
"""


class TestPlugIn:
    """A runtime of another package is started before it is asked."""

    def test_it_is_started(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        info = tmp_path / "ready-1.0.dist-info"
        info.mkdir()
        (info / "METADATA").write_text("Metadata-Version: 2.1\nName: ready\nVersion: 1.0\n")
        (info / "entry_points.txt").write_text("[vinculum.backends]\nready = ready:Ready\n")
        (tmp_path / "ready.py").write_text(PLUG_IN)
        monkeypatch.syspath_prepend(tmp_path)
        told_of = fingerprint("ready", limits=A_WHILE).findings
        assert told(told_of)["division"] == {"correctly rounded", "not supported"}


class TestIsolation:
    """A runtime that kills its process is found out like any other, and costs a restart."""

    @posix
    def test_a_signal_is_told(self) -> None:
        factory = "tests.fake_runtime:DiesOfMinByMinusOne"
        edges = [case for case in chosen() if case.expectation.unspecified is not None]
        told_of = list(findings(ask(None, edges, factory, limits=A_WHILE)))
        assert {name: words for name, words in deviations(told_of).items() if name.startswith("MIN")} == {
            f"MIN / -1 {name}": "kills the process (SIGFPE)" for name in ("int8", "int16", "int32", "int64")
        }

    def test_progress_is_told(self) -> None:
        steps: list[tuple[int, str]] = []
        some = [case for case in selected(fake_runtime.FakeRuntime()) if case.element_type.name == "int8"][:20]
        made = fingerprint(
            "numpy", some, limits=A_WHILE, advance=lambda done, id: steps.append((done, id.element_type))
        )
        assert steps == [(place, "int8") for place in range(1, len(steps) + 1)]
        assert len(steps) == len(some)
        assert (made.backend, made.title) == ("numpy", "NumPy")
