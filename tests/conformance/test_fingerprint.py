"""The fingerprint: the models of arithmetic, what is said of runtimes that compute in a known way, and real runtimes."""

from __future__ import annotations

import importlib.util
import os
from collections.abc import Iterator
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from numpy.typing import NDArray

from tests.conformance import miniatures, odd_dividers
from vinculum import reference
from vinculum.conformance.fingerprint import PROBES, Finding, Fingerprint, fingerprint, fingerprint_of
from vinculum.conformance.fingerprint.asking import Asker
from vinculum.conformance.fingerprint.float_models import float_models
from vinculum.conformance.fingerprint.integer_models import IntegerModel, Rounding, integer_models
from vinculum.conformance.fingerprint.operands import float_operands, integer_operands, ordinary_count
from vinculum.conformance.question import Question
from vinculum.errors import SpecLookupError
from vinculum.models.isolation import Answer, End, Limits, UnsupportedError
from vinculum.spec.element_types import (
    BFLOAT16,
    DOUBLE,
    FLOAT,
    FLOAT16,
    INT8,
    INT16,
    INT32,
    INT64,
    UINT8,
    UINT16,
    UINT32,
    UINT64,
    ElementType,
)
from vinculum.spec.model import IntegerRounding

Array = NDArray[Any]

FLOATS = (BFLOAT16, FLOAT16, FLOAT, DOUBLE)
INTEGERS = (INT8, INT16, INT32, INT64, UINT8, UINT16, UINT32, UINT64)
DRAWN = 20_000
A_WHILE = Limits(seconds=60.0)

posix = pytest.mark.skipif(os.name != "posix", reason="Windows has no signals")


def meaning(array: Array) -> bytes:
    """Return the encodings of an array, every NaN the same."""
    if array.dtype.kind in "iu":
        return array.tobytes()
    return np.where(np.isnan(array), np.full_like(array, np.nan), array).tobytes()


def drawn_floats(element_type: ElementType) -> tuple[Array, Array]:
    """Return pairs of any encodings, every fifth near zero, and the probing operands."""
    random = np.random.default_rng(1)
    width = f"u{element_type.bits // 8}"
    bits = random.integers(0, 1 << element_type.bits, (2, DRAWN), width)
    near_zero = random.random(bits.shape) < 0.2
    bits[near_zero] = random.integers(0, 40, near_zero.sum(), width)
    probing = float_operands(element_type)
    a, b = (np.concatenate([drawn.view(own.dtype), own]) for drawn, own in zip(bits, probing, strict=True))
    return a, b


def drawn_integers(element_type: ElementType) -> tuple[Array, Array]:
    """Return pairs of integers of every size which every model divides, and the probing operands."""
    random = np.random.default_rng(2)
    wide = (
        random.integers(0, 1 << 63, (2, DRAWN), np.uint64) * np.uint64(2) + random.integers(0, 2, 2, np.uint64)[:, None]
    )
    wide >>= random.integers(0, 64, (2, DRAWN), np.uint64)
    a, b = wide.astype(np.dtype(element_type.numpy))
    # No divisor may be 0 or -1, as such, as signed or in int32.
    low, signed = b.astype(np.int32), b.view(f"i{b.itemsize}")
    kept = (low != 0) & (low != -1) & (signed != -1) & (b != 0)
    probing = integer_operands(element_type)
    return np.concatenate([a[kept], probing[0]]), np.concatenate([b[kept], probing[1]])


class TestModels:
    """A model is a way of computing; the first one of each type is the right one, and operands tell all others apart."""

    @pytest.mark.parametrize("element_type", FLOATS, ids=str)
    def test_the_first_is_the_reference(self, element_type: ElementType) -> None:
        a, b = float_operands(element_type)
        model = float_models(element_type)[0]
        assert model.is_exact
        assert meaning(model.quotients(a, b)) == meaning(reference.divide(a, b, element_type))

    @pytest.mark.parametrize("rounding", IntegerRounding)
    @pytest.mark.parametrize("element_type", INTEGERS, ids=str)
    def test_truncating_and_floor_are_the_reference(self, element_type: ElementType, rounding: IntegerRounding) -> None:
        a, b = integer_operands(element_type)
        own = {IntegerRounding.TRUNCATING: Rounding.TRUNCATED, IntegerRounding.FLOOR: Rounding.FLOORED}[rounding]
        expected = reference.divide(a, b, element_type, rounding=rounding)
        assert np.array_equal(IntegerModel(element_type, own).quotients(a, b), expected)

    @pytest.mark.parametrize("element_type", FLOATS, ids=str)
    def test_probing_operands_tell_float_models_apart(self, element_type: ElementType) -> None:
        models = float_models(element_type)
        probing, drawn = float_operands(element_type), drawn_floats(element_type)
        told = {meaning(model.quotients(*probing)) for model in models}
        assert len(told) == len({meaning(model.quotients(*drawn)) for model in models})
        assert len(told) > 40

    @pytest.mark.parametrize("element_type", INTEGERS, ids=str)
    def test_probing_operands_tell_integer_models_apart(self, element_type: ElementType) -> None:
        models = integer_models(element_type)
        probing, drawn = integer_operands(element_type), drawn_integers(element_type)
        told = {meaning(model.quotients(*probing)) for model in models}
        assert len(told) == len({meaning(model.quotients(*drawn)) for model in models})
        assert len(told) >= 8

    @pytest.mark.parametrize("element_type", FLOATS, ids=str)
    def test_ordinary_operands_are_normal_throughout(self, element_type: ElementType) -> None:
        count = ordinary_count(element_type)
        a, b = (operand[:count] for operand in float_operands(element_type))
        least = ml_dtypes.finfo(a.dtype).smallest_normal  # type: ignore[no-untyped-call]  # ml_dtypes' own stub
        for numbers in (a, b, reference.divide(a, b, element_type), reference.reciprocal(b, element_type)):
            assert (np.abs(numbers) >= least).all()
            assert np.isfinite(numbers).all()


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
    miniatures.MultipliesByReciprocal: {"0 / x"},
    miniatures.FlushesOperands: {"x / x", "0 / x", "Reciprocal"},
    miniatures.FlushesQuotients: {"Reciprocal"},
    miniatures.ComputesDoubleInFloat: {"x / x", "0 / x", "Reciprocal"},
    odd_dividers.ComputesFloatInFloat16: {"x / x", "0 / x", "Reciprocal"},
    odd_dividers.CutsBfloat16: {"Reciprocal"},
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


def _told(backend: str, package: str) -> Iterator[dict[str, list[Finding]]]:
    if importlib.util.find_spec(package) is None:
        pytest.skip(f"{package} is not installed, and optional")
    told: dict[str, list[Finding]] = {}
    for finding in fingerprint(backend, limits=A_WHILE).findings:
        told.setdefault(finding.probe, []).append(finding)
    yield told


@pytest.fixture(scope="module")
def onnxruntime() -> Iterator[dict[str, list[Finding]]]:
    yield from _told("onnxruntime", "onnxruntime")


@pytest.fixture(scope="module")
def openvino() -> Iterator[dict[str, list[Finding]]]:
    yield from _told("openvino", "openvino")


def statement(told: dict[str, list[Finding]], probe: str) -> str:
    """Return what is marked of a probe."""
    assert all(finding.is_deviation for finding in told[probe])
    return "\n".join(finding.statement for finding in told[probe])


class TestOnnxRuntime:
    """What is known of ONNX Runtime on a CPU shows."""

    def test_floats_are_right(self, onnxruntime: dict[str, list[Finding]]) -> None:
        for probe in ("float", "double", "float16"):
            assert [(f.statement, f.is_deviation) for f in onnxruntime[probe]] == [("correctly rounded", False)]

    def test_bfloat16_and_old_versions_are_not_there(self, onnxruntime: dict[str, list[Finding]]) -> None:
        assert onnxruntime["bfloat16"][0].statement == "not supported"
        assert onnxruntime["operator versions"][0].statement == "Div-1, Div-6, Reciprocal-1 not supported"

    @posix
    @pytest.mark.parametrize("probe", ["MIN / -1", "MIN / -1 of constants"])
    def test_min_by_minus_one_kills(self, onnxruntime: dict[str, list[Finding]], probe: str) -> None:
        assert "int64: kills the process: SIGFPE" in statement(onnxruntime, probe)

    def test_zero_divisors_are_refused(self, onnxruntime: dict[str, list[Finding]]) -> None:
        assert onnxruntime["x / 0"][0].statement == "refused"

    def test_empty_by_zero_is_refused(self, onnxruntime: dict[str, list[Finding]]) -> None:
        assert statement(onnxruntime, "empty tensors") == "int64[0] by a zero: refused"


class TestOpenvino:
    """What is known of OpenVINO on a CPU shows."""

    @pytest.mark.parametrize(
        ("probe", "words"),
        [
            ("float", "computed as a * (1/b)"),
            ("double", "computed in float as a * (1/b)"),
            ("x / x", "float, double: not always 1"),
            ("0 / x", "nan where x is subnormal"),
            ("int64", "computed in int32 (upper bits dropped), that in float"),
            ("int32", "computed in float"),
            ("uint64, uint32", "uint32: operands taken as signed"),
            ("floor division", "floor attribute ignored at run time (truncated), honoured when folded"),
            ("constant folding", "(float): correctly rounded"),
            ("constant folding", "int8, uint8): rounded to nearest, ties to even"),
            ("constant folding", "(uint64, uint32): quotients narrowed to int32 (larger ones become MIN or MAX)"),
            ("pdpd axis", "ignored"),
            ("shapes beyond the rule", "accepted"),
        ],
    )
    def test_fault(self, openvino: dict[str, list[Finding]], probe: str, words: str) -> None:
        assert words in statement(openvino, probe)

    @posix
    def test_min_by_minus_one_kills_when_folded(self, openvino: dict[str, list[Finding]]) -> None:
        assert "int64: kills the process: SIGFPE" in statement(openvino, "MIN / -1 of constants")

    def test_zero_divisors(self, openvino: dict[str, list[Finding]]) -> None:
        assert "int32: gives MIN" in openvino["x / 0"][0].statement
        assert "int32, int64: refused" in openvino["x / 0 of constants"][0].statement

    def test_every_quotient_is_explained(self, openvino: dict[str, list[Finding]]) -> None:
        assert not [f for findings in openvino.values() for f in findings if "no known way" in f.statement]


class TestOthers:
    """What is known of the libraries shows."""

    @posix
    def test_torch(self) -> None:
        told = next(_told("torch", "torch"))
        assert statement(told, "MIN / -1").endswith("int32, int64: kills the process: SIGFPE")
        assert statement(told, "mixed element types") == "accepted"
        assert told["floor division"][0].statement == "rounded down"

    def test_numpy(self) -> None:
        told = next(_told("numpy", "numpy"))
        assert [name for name, findings in told.items() if findings[0].is_deviation] == ["mixed element types"]
        assert told["x / 0"][0].statement == "gives 0"
        assert "integer division" not in told

    def test_jax(self) -> None:
        told = next(_told("jax", "jax"))
        assert "float, double, bfloat16: flushed" in statement(told, "subnormal numbers")

    def test_the_reference_evaluator(self) -> None:
        told = next(_told("onnx-reference", "onnx"))
        assert statement(told, "legacy axis").startswith("ignored")
        assert told["x / 0"][0].statement == "gives 0"
        assert told["operator versions"][0].statement == "all are there"

    def test_an_unknown_one(self) -> None:
        with pytest.raises(SpecLookupError, match="did you mean 'numpy'"):
            fingerprint("nunpy")


def test_a_question_is_asked_once() -> None:
    asked: list[Question] = []

    class Counts(miniatures.Divider):
        def look(self, question: Question) -> None:
            asked.append(question)

    found(Counts())
    standard = [q for q in asked if q.operands[0].size == float_operands(FLOAT)[0].size and len(q.operands) == 2]
    keys = [(q.operands[0].dtype, q.constant) for q in standard]
    assert len(keys) == len(set(keys))
