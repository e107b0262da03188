"""What is known of the runtimes that are installed shows in their fingerprints."""

from __future__ import annotations

import os
from io import StringIO

import pytest
from rich.console import Console

from tests.optional import needs, skip_without
from vinculum.conformance.fingerprint import Finding, Fingerprint, Standing, fingerprint
from vinculum.conformance.fingerprint.findings import UNKNOWN
from vinculum.errors import SpecLookupError
from vinculum.reporting.fingerprint_page import page
from vinculum.sandbox import Limits

A_WHILE = Limits(seconds=60.0)

posix = pytest.mark.skipif(os.name != "posix", reason="Windows has no signals")


Told = dict[tuple[str, str], Finding]
"""The findings by probe and subject."""


def told_of(backend: str) -> Told:
    """Return the findings about a runtime; of what is said twice of a subject, that which deviates."""
    return by_subject(fingerprint(backend, limits=A_WHILE))


def by_subject(found: Fingerprint) -> Told:
    """Return findings by probe and subject."""
    ordered = sorted(found.findings, key=lambda finding: finding.standing is Standing.DEVIATES)
    return {(finding.probe, finding.subject): finding for finding in ordered}


@pytest.fixture(scope="module")
def onnxruntime() -> Told:
    skip_without("onnxruntime")
    return told_of("onnxruntime")


@pytest.fixture(scope="module")
def fingerprint_of_openvino() -> Fingerprint:
    skip_without("openvino")
    return fingerprint("openvino", limits=A_WHILE)


@pytest.fixture(scope="module")
def openvino(fingerprint_of_openvino: Fingerprint) -> Told:
    return by_subject(fingerprint_of_openvino)


def deviations(told: Told) -> dict[tuple[str, str], str]:
    """Return what deviates."""
    marked = {key: finding for key, finding in told.items() if finding.standing is Standing.DEVIATES}
    return {key: "; ".join(filter(None, (one.statement, one.detail))) for key, one in marked.items()}


DEAD = "kills the process (SIGFPE)"
RECIPROCAL = "as a * (1/b), a multiplication by the reciprocal"


class TestOnnxRuntime:
    """What is known of ONNX Runtime on a CPU shows, and nothing else is marked."""

    @posix
    def test_what_deviates(self, onnxruntime: Told) -> None:
        marked = deviations(onnxruntime)
        assert marked.pop(("empty tensors", "by a zero")) == "refused"
        # Of int32 it depends on the processor's vectors.
        assert {("MIN / -1", "int64"): DEAD}.items() <= marked.items()
        assert {probe for probe, _ in marked} == {"MIN / -1"}

    def test_floats_are_right(self, onnxruntime: Told) -> None:
        for element_type in ("float", "double", "float16"):
            assert onnxruntime["division", element_type].statement == "correctly rounded"

    def test_what_is_not_there(self, onnxruntime: Told) -> None:
        missing = {subject for (_, subject), one in onnxruntime.items() if one.standing is Standing.UNSUPPORTED}
        assert missing == {"bfloat16", "Div-1", "Div-6", "Reciprocal-1"}

    def test_zero_divisors_are_refused(self, onnxruntime: Told) -> None:
        assert onnxruntime["x / 0", "int64"].statement == "refused"


class TestOpenvino:
    """What is known of OpenVINO on a CPU shows."""

    @pytest.mark.parametrize(
        ("probe", "subject", "words"),
        [
            ("division", "float", f"computed {RECIPROCAL}"),
            ("division", "double", f"computed in float {RECIPROCAL}"),
            ("division", "float16", f"computed in float {RECIPROCAL}"),
            ("division", "int64", "operands narrowed to int32, computed in float; dividends: upper bits dropped"),
            ("division", "int32", "computed in float"),
            ("division", "uint32", "operands taken as signed; computed in float"),
            ("rounding attribute", "int32", "floor ignored at run time (truncated), honoured when folded"),
            ("constants", "uint8", "constant folding disagrees with run time; rounded to nearest, ties to even"),
            ("axis", "pdpd", "ignored"),
            ("illegal operands", "shapes that the version does not join", "accepted; Div-1, Div-6; refused: Div-7"),
        ],
    )
    def test_fault(self, openvino: Told, probe: str, subject: str, words: str) -> None:
        assert words in deviations(openvino)[probe, subject]

    @posix
    def test_min_by_minus_one_kills_when_folded(self, openvino: Told) -> None:
        assert deviations(openvino)["MIN / -1 of constants", "int64"] == DEAD

    def test_zero_divisors(self, openvino: Told) -> None:
        assert openvino["x / 0", "int32"].statement == "gives MIN"
        assert openvino["x / 0 of constants", "int32"].statement == "refused"

    def test_the_page_marks_them(self, fingerprint_of_openvino: Fingerprint) -> None:
        console = Console(width=400, file=StringIO(), record=True)
        console.print(page(fingerprint_of_openvino))
        marked = "\n".join(line for line in console.export_text().splitlines() if line.startswith("!"))
        for words in (
            "computed as a * (1/b), a multiplication by the reciprocal",
            "int64, uint64 operands narrowed to int32, computed in float",
            "floor ignored at run time (truncated), honoured when folded",
            "constant folding disagrees with run time",
        ):
            assert words in " ".join(marked.split())

    def test_every_quotient_is_explained(self, openvino: Told) -> None:
        assert not [one for one in openvino.values() if UNKNOWN in one.statement + one.detail]


class TestOthers:
    """What is known of the libraries shows."""

    @posix
    @pytest.mark.usefixtures("torch_or_skip")
    def test_torch(self) -> None:
        marked = deviations(told_of("torch"))
        assert {("MIN / -1", "int32"): DEAD, ("MIN / -1", "int64"): DEAD}.items() <= marked.items()
        assert "int32 by int64" in marked["illegal operands", "operands of two element types"]

    def test_numpy(self) -> None:
        told = told_of("numpy")
        assert {probe for probe, _ in deviations(told)} == {"illegal operands"}
        assert told["x / 0", "int32"].statement == "gives 0"

    @needs("jax")
    def test_jax(self) -> None:
        marked = deviations(told_of("jax"))
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
