"""What is known of the runtimes that are installed shows in their fingerprints."""

from __future__ import annotations

import importlib.util
import os

import pytest

from vinculum.conformance.fingerprint import Finding, fingerprint
from vinculum.errors import SpecLookupError
from vinculum.models.isolation import Limits

A_WHILE = Limits(seconds=60.0)

posix = pytest.mark.skipif(os.name != "posix", reason="Windows has no signals")


Told = dict[str, list[Finding]]


def told_of(backend: str) -> Told:
    """Return the findings about a runtime by probe."""
    told: Told = {}
    for finding in fingerprint(backend, limits=A_WHILE).findings:
        told.setdefault(finding.probe, []).append(finding)
    return told


@pytest.fixture(scope="module")
def onnxruntime() -> Told:
    if importlib.util.find_spec("onnxruntime") is None:
        pytest.skip("ONNX Runtime is optional: pip install 'vinculum[onnxruntime]'")
    return told_of("onnxruntime")


@pytest.fixture(scope="module")
def openvino() -> Told:
    if importlib.util.find_spec("openvino") is None:
        pytest.skip("OpenVINO is optional: pip install 'vinculum[openvino]'")
    return told_of("openvino")


def statement(told: Told, probe: str) -> str:
    """Return what is marked of a probe."""
    assert all(finding.is_deviation for finding in told[probe])
    return "\n".join(finding.statement for finding in told[probe])


class TestOnnxRuntime:
    """What is known of ONNX Runtime on a CPU shows."""

    def test_floats_are_right(self, onnxruntime: Told) -> None:
        for probe in ("float", "double", "float16"):
            assert [(f.statement, f.is_deviation) for f in onnxruntime[probe]] == [("correctly rounded", False)]

    def test_bfloat16_and_old_versions_are_not_there(self, onnxruntime: Told) -> None:
        assert onnxruntime["bfloat16"][0].statement == "not supported"
        assert onnxruntime["operator versions"][0].statement == "Div-1, Div-6, Reciprocal-1 not supported"

    @posix
    @pytest.mark.parametrize("probe", ["MIN / -1", "MIN / -1 of constants"])
    def test_min_by_minus_one_kills(self, onnxruntime: Told, probe: str) -> None:
        assert "int64: kills the process: SIGFPE" in statement(onnxruntime, probe)

    def test_zero_divisors_are_refused(self, onnxruntime: Told) -> None:
        assert onnxruntime["x / 0"][0].statement == "refused"

    def test_empty_by_zero_is_refused(self, onnxruntime: Told) -> None:
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
    def test_fault(self, openvino: Told, probe: str, words: str) -> None:
        assert words in statement(openvino, probe)

    @posix
    def test_min_by_minus_one_kills_when_folded(self, openvino: Told) -> None:
        assert "int64: kills the process: SIGFPE" in statement(openvino, "MIN / -1 of constants")

    def test_zero_divisors(self, openvino: Told) -> None:
        assert "int32: gives MIN" in openvino["x / 0"][0].statement
        assert "int32, int64: refused" in openvino["x / 0 of constants"][0].statement

    def test_every_quotient_is_explained(self, openvino: Told) -> None:
        assert not [f for findings in openvino.values() for f in findings if "no known way" in f.statement]


class TestOthers:
    """What is known of the libraries shows."""

    @posix
    @pytest.mark.usefixtures("torch_or_skip")
    def test_torch(self) -> None:
        told = told_of("torch")
        assert statement(told, "MIN / -1").endswith("int32, int64: kills the process: SIGFPE")
        assert statement(told, "mixed element types") == "accepted"
        assert told["floor division"][0].statement == "rounded down"

    def test_numpy(self) -> None:
        told = told_of("numpy")
        assert [name for name, findings in told.items() if findings[0].is_deviation] == ["mixed element types"]
        assert told["x / 0"][0].statement == "gives 0"
        assert "integer division" not in told

    def test_jax(self) -> None:
        if importlib.util.find_spec("jax") is None:
            pytest.skip("JAX is optional: pip install 'vinculum[jax]'")
        told = told_of("jax")
        assert "float, double, bfloat16: flushed" in statement(told, "subnormal numbers")
        assert "float, double, float16: computed as a * (1/b)" in statement(told, "one divisor for all")

    def test_the_reference_evaluator(self) -> None:
        told = told_of("onnx-reference")
        assert statement(told, "legacy axis").startswith("ignored")
        assert told["x / 0"][0].statement == "gives 0"
        assert told["operator versions"][0].statement == "all are there"

    def test_an_unknown_one(self) -> None:
        with pytest.raises(SpecLookupError, match="did you mean 'numpy'"):
            fingerprint("nunpy")
