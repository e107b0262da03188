"""What is known of the runtimes that are installed shows in their fingerprints."""

from __future__ import annotations

import os
from collections.abc import Iterable
from io import StringIO
from typing import Any

import pytest
from rich.console import Console

from tests.acceptance.test_known_deviations import KNOWN, quick_mismatches
from tests.optional import needs
from vinculum.conformance.arithmetic import Answered
from vinculum.conformance.cases.case import Case
from vinculum.conformance.execute import suite
from vinculum.conformance.expect import read_known_deviations
from vinculum.conformance.fingerprint import Finding, Fingerprint, Status, fingerprint, fingerprinting, selected
from vinculum.conformance.fingerprint.findings import UNKNOWN
from vinculum.conformance.runtimes.protocol import Runtime
from vinculum.conformance.runtimes.registry import runtime
from vinculum.errors import SpecLookupError
from vinculum.reporting.conformance.fingerprint import page
from vinculum.sandbox import Limits
from vinculum.spec.element_types import (
    BFLOAT16,
    DOUBLE,
    FLOAT,
    FLOAT16,
    INT32,
    INT64,
    UINT8,
    UINT32,
    UINT64,
    ElementType,
)

A_WHILE = Limits(seconds=60.0)

posix = pytest.mark.skipif(os.name != "posix", reason="Windows has no signals")


Told = dict[tuple[str, str], Finding]
"""The findings by probe and subject."""


def told_of(backend: str, *element_types: ElementType) -> Told:
    """Return the findings about a runtime; of what is said twice of a subject, that which deviates."""
    return by_subject(asked(backend, *element_types))


def asked(backend: str, *element_types: ElementType) -> Fingerprint:
    """Return the fingerprint of a runtime, if it is not asked for all element types from the cases of some."""
    cases = [case for case in selected(runtime(backend)) if case.element_type in element_types]
    # One process: each would import the runtime, and compile what the other has compiled too.
    return fingerprint(backend, cases if element_types else None, workers=1, limits=A_WHILE)


def by_subject(found: Fingerprint) -> Told:
    """Return findings by probe and subject."""
    ordered = sorted(found.findings, key=lambda finding: finding.status is Status.DEVIATES)
    return {(finding.probe, finding.subject): finding for finding in ordered}


def deviations(told: Told) -> dict[tuple[str, str], str]:
    """Return what deviates."""
    marked = {key: finding for key, finding in told.items() if finding.status is Status.DEVIATES}
    return {key: "; ".join(filter(None, (one.statement, one.detail))) for key, one in marked.items()}


def ask_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Have a runtime asked no case again, whoever wants to know the answer."""
    known: dict[str, Answered] = {}

    def ask(asked: Runtime | None, chosen: Iterable[Case], *words: Any, **options: Any) -> tuple[Answered, ...]:
        cases = {str(case.id): case for case in chosen}
        new = (case for name, case in cases.items() if name not in known)
        known.update((str(one.case.id), one) for one in really_ask(asked, new, *words, **options))
        return tuple(known[name] for name in cases)

    really_ask = suite.ask
    monkeypatch.setattr(suite, "ask", ask)
    monkeypatch.setattr(fingerprinting, "ask", ask)


DEAD = "kills the process (SIGFPE)"
RECIPROCAL = "as a * (1/b), a multiplication by the reciprocal"


# Each runtime is asked in one test: tests that share what it answered may run in processes that each ask it again.
FAULTS = {
    ("division", "float"): f"computed {RECIPROCAL}",
    ("division", "double"): f"computed in float {RECIPROCAL}",
    ("division", "float16"): f"computed in float {RECIPROCAL}",
    ("division", "int64"): "operands narrowed to int32, computed in float; dividends: upper bits dropped",
    ("division", "int32"): "computed in float",
    ("division", "uint32"): "operands taken as signed; computed in float",
    ("rounding attribute", "int32"): "floor ignored at run time (truncated), honoured when folded",
    ("constants", "uint8"): "constant folding disagrees with run time; rounded to nearest, ties to even",
    ("axis", "pdpd"): "ignored",
    ("illegal operands", "shapes that the version does not join"): "accepted; Div-1, Div-6; refused: Div-7",
    ("MIN / -1 of constants", "int64"): DEAD,
}
"""What OpenVINO does on a CPU."""
MARKED = (
    "computed as a * (1/b), a multiplication by the reciprocal",
    "int64, uint64 operands narrowed to int32, computed in float",
    "floor ignored at run time (truncated), honoured when folded",
    "constant folding disagrees with run time",
)
"""What its page marks."""


@posix
@needs("onnxruntime")
def test_onnxruntime() -> None:
    told = told_of("onnxruntime")
    marked = deviations(told)
    assert marked.pop(("empty tensors", "by a zero")) == "refused"
    # Of int32 it depends on the processor's vectors.
    assert {("MIN / -1", "int64"): DEAD}.items() <= marked.items()
    assert {probe for probe, _ in marked} == {"MIN / -1"}
    for element_type in ("float", "double", "float16"):
        assert told["division", element_type].statement == "correctly rounded"
    missing = {subject for (_, subject), one in told.items() if one.status is Status.UNSUPPORTED}
    assert missing == {"bfloat16", "Div-1", "Div-6", "Reciprocal-1"}
    assert told["x / 0", "int64"].statement == "refused"


@posix
@needs("openvino")
@pytest.mark.parametrize(
    "element_types",
    [
        pytest.param((FLOAT, DOUBLE, FLOAT16, INT64, UINT64, INT32, UINT32, UINT8), id="which are divided otherwise"),
        pytest.param((), id="all", marks=pytest.mark.exhaustive),
    ],
)
def test_openvino(element_types: tuple[ElementType, ...], monkeypatch: pytest.MonkeyPatch) -> None:
    """Its quick cases, of which half are asked for the fingerprint, deviate as known, too: it takes long to answer."""
    ask_once(monkeypatch)
    assert quick_mismatches(read_known_deviations(KNOWN / "openvino.toml")) == ()
    found = asked("openvino", *element_types)
    told = by_subject(found)
    marked = deviations(told)
    assert {key: marked.get(key) for key, words in FAULTS.items() if words not in marked.get(key, "")} == {}
    assert told["x / 0", "int32"].statement == "gives MIN"
    assert told["x / 0 of constants", "int32"].statement == "refused"
    assert not [one for one in told.values() if UNKNOWN in one.statement + one.detail]
    console = Console(width=400, file=StringIO(), record=True)
    console.print(page(found))
    lines = [line for line in console.export_text().splitlines() if line.startswith("!")]
    shown = " ".join(" ".join(lines).split())
    assert [words for words in MARKED if words not in shown] == []


class TestOthers:
    """What is known of the libraries shows."""

    @posix
    @pytest.mark.usefixtures("torch_or_skip")
    def test_torch(self) -> None:
        marked = deviations(told_of("torch", INT32, INT64))
        assert {("MIN / -1", "int32"): DEAD, ("MIN / -1", "int64"): DEAD}.items() <= marked.items()
        assert "int32 by int64" in marked["illegal operands", "operands of two element types"]

    def test_numpy(self) -> None:
        told = told_of("numpy")
        assert {probe for probe, _ in deviations(told)} == {"illegal operands"}
        assert told["x / 0", "int32"].statement == "gives 0"

    @needs("jax")
    def test_jax(self) -> None:
        marked = deviations(told_of("jax", FLOAT, DOUBLE, BFLOAT16))
        for element_type in ("float", "double", "bfloat16"):
            assert marked["division", element_type].startswith("flushes subnormal numbers to zero, else correctly")
        assert RECIPROCAL in marked["one divisor for all", "float"]

    def test_the_reference_evaluator(self) -> None:
        told = told_of("onnx-reference")
        assert deviations(told)["axis", "Div-6"].startswith("ignored")
        assert told["x / 0", "int64"].statement == "gives 0"
        assert told["operator versions", "Div-1"].statement == "supported"

    def test_an_unknown_one(self) -> None:
        with pytest.raises(SpecLookupError, match="did you mean 'numpy'"):
            fingerprint("nunpy")
