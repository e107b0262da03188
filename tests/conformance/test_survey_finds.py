"""What is known of the runtimes at the versions that the tests pin: the survey finds every fault of it by itself.

A class a paragraph of the last part of our readings; a test a statement.
"""

from __future__ import annotations

from collections.abc import Mapping
from fnmatch import fnmatchcase
from importlib import import_module
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, version_converter

from vinculum.conformance.cases.case import Level
from vinculum.conformance.execute.planning import plan
from vinculum.conformance.execute.run import Selection
from vinculum.conformance.execute.suite import survey
from vinculum.conformance.oracle.verdict import Gave, Kind, Verdict

MINIMUM = "MIN divided by -1/equal shapes of 1 element"
RUN_TIME, FOLDED = "run-time operands", "constant operands"

Verdicts = Mapping[str, Verdict]


def verdicts(backend: str, *patterns: str) -> Verdicts:
    """Return what a survey of these cases finds, by their ids."""
    selection = Selection(Level.DEFAULT, patterns)
    return {str(result.id): result.verdict for result in survey(plan(backend, selection), workers=1).results}


def matching(found: Verdicts, pattern: str) -> list[Verdict]:
    """Return the verdicts on the cases whose ids match; there must be one."""
    chosen = [verdict for id, verdict in found.items() if fnmatchcase(id, pattern)]
    assert chosen, pattern
    return chosen


def kinds(found: Verdicts, pattern: str) -> set[Kind]:
    """Return the verdicts on the cases whose ids match."""
    return {verdict.kind for verdict in matching(found, pattern)}


def one(found: Verdicts, pattern: str) -> Verdict:
    """Return the verdict on the one case whose id matches."""
    (verdict,) = matching(found, pattern)
    return verdict


def example(verdict: Verdict) -> tuple[str, ...]:
    """Return the numbers of a verdict's example, without their encodings: operands, what is right, what was given."""
    shown = verdict.example
    assert shown is not None
    return tuple(text.partition(" ")[0] for text in (*shown.operands, shown.expected, shown.actual))


class TestOnnxRuntime:
    """It dies of MIN/-1; it lacks versions, bfloat16 and an empty dividend with divisor 0."""

    @pytest.fixture(scope="class")
    @classmethod
    def found(cls) -> Verdicts:
        pytest.importorskip("onnxruntime", reason="the extra 'onnxruntime' is not installed")
        return verdicts(
            "onnxruntime",
            f"Div-14/int64/{MINIMUM}/*",
            "Div-14/int32/MIN divided by -1/*/run-time operands",
            "Div-[167]/float/ordinary numbers/*",
            "Div-14/bfloat16/ordinary numbers/*/run-time operands",
            "Div-14/int64/an empty dividend and a divisor of 0/*/run-time operands",
        )

    @pytest.mark.parametrize("placement", [RUN_TIME, FOLDED])
    def test_int64_kills_the_process_at_run_time_and_at_load(self, found: Verdicts, placement: str) -> None:
        verdict = one(found, f"Div-14/int64/{MINIMUM}/{placement}")
        assert (verdict.kind, verdict.said) == (Kind.CRASHED, "SIGFPE")

    def test_int32_kills_it_in_some_shapes(self, found: Verdicts) -> None:
        assert kinds(found, "Div-14/int32/MIN divided by -1/*") == {Kind.CRASHED, Kind.UNSPECIFIED}
        assert one(found, f"Div-14/int32/{MINIMUM}/{RUN_TIME}").said == "SIGFPE"
        assert one(found, "Div-14/int32/MIN divided by -1/equal shapes of 16 elements/*").unspecified == (
            Gave("MIN", "-1", "MIN"),
        )

    def test_no_div_before_7(self, found: Verdicts) -> None:
        for version, kind in ((1, Kind.UNSUPPORTED), (6, Kind.UNSUPPORTED), (7, Kind.EXACT)):
            assert kinds(found, f"Div-{version}/float/*") == {kind}
        assert "Could not find an implementation for Div(6)" in one(found, "Div-6/float/*").said

    def test_no_bfloat16(self, found: Verdicts) -> None:
        assert kinds(found, "Div-14/bfloat16/*") == {Kind.UNSUPPORTED}

    def test_an_empty_dividend_with_divisor_0_is_refused(self, found: Verdicts) -> None:
        for verdict in matching(found, "*/an empty dividend and a divisor of 0/*"):
            assert verdict.kind is Kind.REFUSED
            assert verdict.said.endswith("Integer division by zero")


@pytest.mark.usefixtures("torch_or_skip")
class TestPyTorch:
    """It dies of MIN/-1, in int32 and int64."""

    def test_int32_and_int64_kill_the_process(self) -> None:
        found = verdicts("torch", f"Div-14/int*/{MINIMUM}/*")
        dies = {id.split("/")[1]: verdict.said for id, verdict in found.items() if verdict.kind is Kind.CRASHED}
        assert dies == {"int32": "SIGFPE", "int64": "SIGFPE"}
        assert kinds(found, "Div-14/int8/*") == kinds(found, "Div-14/int16/*") == {Kind.UNSPECIFIED}


class TestOpenVino:
    """Its floats are products, its wide types narrow ones, attributes are lost, and folding differs from run time."""

    @pytest.fixture(scope="class")
    @classmethod
    def found(cls) -> Verdicts:
        pytest.importorskip("openvino", reason="the extra 'openvino' is not installed")
        return verdicts(
            "openvino",
            f"Div-14/int64/{MINIMUM}/*",
            "Div-14/float/ordinary numbers/*/run-time operands",
            "Div-14/float/x divided by itself/*/run-time operands",
            "Div-14/float/zero divided by subnormals/*/run-time operands",
            "Div-14/float/whole numbers divided by their factors/*/run-time operands",
            "Div-14/double/ordinary numbers/*/run-time operands",
            "Div-14/int64/numbers next to 2^32/*/run-time operands",
            "Div-14/int32/numbers next to 2^24/*/run-time operands",
            "Div-14/int32/one less than a multiple/*/run-time operands",
            "Div-14/uint32/the top bit set/*/run-time operands",
            "Div-14/uint64/the top bit set/*/run-time operands",
            "Divide-1 floor/int32/floor and truncation differ/*",
            "Div-6/int32/distinct numbers/(3, 3) by (3,), broadcast=1, axis=0/run-time operands",
            "Div-6/int32/an axis out of range/*",
            "Divide-1/float/distinct numbers/(3, 3) by (3,), auto_broadcast=pdpd, axis=0/run-time operands",
        )

    def test_folded_min_by_minus_one_kills_the_process(self, found: Verdicts) -> None:
        assert one(found, f"*/{MINIMUM}/{RUN_TIME}").kind is Kind.UNSPECIFIED
        folded = one(found, f"*/{MINIMUM}/{FOLDED}")
        assert (folded.kind, folded.said) == (Kind.CRASHED, "SIGFPE")

    def test_about_a_quarter_of_float_quotients_is_one_ulp_off(self, found: Verdicts) -> None:
        verdict = one(found, "Div-14/float/ordinary numbers/*")
        assert (verdict.kind, verdict.largest) == (Kind.ULPS, 1)
        assert 0.2 < verdict.differing / verdict.elements < 0.33

    def test_x_by_x_is_not_1(self, found: Verdicts) -> None:
        verdict = one(found, "Div-14/float/x divided by itself/*")
        assert verdict.differing > 100
        assert example(verdict)[2:] == ("1.0", "inf")

    def test_zero_by_a_subnormal_is_nan(self, found: Verdicts) -> None:
        verdict = one(found, "Div-14/float/zero divided by subnormals/*")
        assert verdict.kind is Kind.WRONG_VALUE
        assert example(verdict) == ("0.0", "1e-45", "0.0", "nan")

    def test_whole_quotients_are_not_whole(self, found: Verdicts) -> None:
        """165/15 is among them, which made shapes off by one."""
        verdict = one(found, "Div-14/float/whole numbers divided by their factors/*")
        assert (verdict.kind, verdict.largest) == (Kind.ULPS, 1)
        assert example(verdict) == ("21.0", "7.0", "3.0", "3.0000002")

    def test_double_is_computed_in_float(self, found: Verdicts) -> None:
        verdict = one(found, "Div-14/double/ordinary numbers/*")
        assert (verdict.kind, verdict.differing) == (Kind.ULPS, verdict.elements)
        assert 1 << 28 <= (verdict.largest or 0) < 1 << 31  # 29 bits are lost, and a rounding or two

    def test_int64_is_computed_in_int32(self, found: Verdicts) -> None:
        verdict = one(found, "Div-14/int64/numbers next to 2^32/*")
        assert verdict.kind is Kind.WRONG_VALUE
        assert example(verdict) == (str(2**32 - 3), "1", str(2**32 - 3), "-3")

    def test_int32_is_computed_in_float(self, found: Verdicts) -> None:
        assert example(one(found, "*/int32/numbers next to 2^24/*")) == (str(2**24), str(2**24 + 1), "0", "1")
        verdict = one(found, "*/int32/one less than a multiple/*")
        assert verdict.differing > 0.9 * verdict.elements

    @pytest.mark.parametrize("bits", [32, 64])
    def test_the_top_bit_is_a_sign(self, found: Verdicts, bits: int) -> None:
        verdict = one(found, f"Div-14/uint{bits}/the top bit set/*")
        assert verdict.kind is Kind.WRONG_VALUE
        assert verdict.differing > 0.9 * verdict.elements

    def test_floor_is_ignored_at_run_time_and_honoured_when_folded(self, found: Verdicts) -> None:
        at_run_time = one(found, f"Divide-1 floor/int32/*/{RUN_TIME}")
        assert at_run_time.kind is Kind.WRONG_VALUE
        assert example(at_run_time) == ("-16", "3", "-6", "-5")
        assert one(found, f"Divide-1 floor/int32/*/{FOLDED}").kind is Kind.EXACT

    def test_an_axis_gives_wrong_numbers_without_an_error(self, found: Verdicts) -> None:
        """That of its own pdpd does, where an illegal one of ONNX is accepted; a legal one of ONNX is not lost."""
        assert one(found, "Divide-1/float/*, auto_broadcast=pdpd, axis=0/*").kind is Kind.WRONG_VALUE
        assert one(found, "Div-6/int32/an axis out of range/*").kind is Kind.ACCEPTED
        assert one(found, "Div-6/int32/distinct numbers/*").kind is Kind.EXACT


class TestTheOnnxReference:
    """It ignores versions: there is no axis and no check of types, and x/0 is 0."""

    @pytest.fixture(scope="class")
    @classmethod
    def found(cls) -> Verdicts:
        return verdicts(
            "onnx-reference",
            "Div-6/float/distinct numbers/(2, 3, 4, 5) by (3, 4), broadcast=1, axis=1/run-time operands",
            "Div-6/int32/distinct numbers/(3, 3) by (3,), broadcast=1, axis=0/run-time operands",
            "Div-1/int32/an element type that the version does not list/*",
            "Div-14/int*/zero divisors/*/run-time operands",
        )

    def test_axis_is_lost(self, found: Verdicts) -> None:
        assert "could not be broadcast" in one(found, "*/(2, 3, 4, 5) by (3, 4), broadcast=1, axis=1/*").said
        square = one(found, "*/(3, 3) by (3,), broadcast=1, axis=0/*")
        assert (square.kind, square.differing, square.elements) == (Kind.WRONG_VALUE, 6, 9)

    def test_types_are_not_checked(self, found: Verdicts) -> None:
        assert one(found, "Div-1/int32/*").kind is Kind.ACCEPTED

    def test_x_by_zero_is_zero(self, found: Verdicts) -> None:
        verdicts = matching(found, "*/zero divisors/*")
        assert {(verdict.kind, verdict.unspecified) for verdict in verdicts} == {
            (Kind.UNSPECIFIED, (Gave("x", "0", "0"),))
        }


class TestOnnxItself:
    """What no survey can find, since no division of a runtime is asked: ONNX's own tests, and its converter."""

    def test_its_own_tests_hold_none_of_the_hard_numbers(self) -> None:
        """No divisor of 0, no infinity, NaN, subnormal number or smallest integer; 0 as a dividend there is."""
        import_module("onnx.backend.test.case.node.div")  # It registers its cases.
        registered: Any = import_module("onnx.backend.test.case.node")
        operands = [
            inputs
            for case in registered._NodeTestCases
            if case.name.startswith("test_div") and "mod" not in case.name
            for inputs, _ in case.data_sets or []
        ]
        assert len(operands) >= 8
        for a, b in operands:
            assert np.all(b != 0)
            for x in (a, b):
                limits: Any = np.finfo(x.dtype) if x.dtype.kind == "f" else np.iinfo(x.dtype)
                if x.dtype.kind == "f":
                    assert np.all(np.isfinite(x) & (np.abs(x) >= limits.smallest_normal))
                else:
                    assert not limits.min or np.all(x != limits.min)

    @staticmethod
    def division(opset: int, a: tuple[int, ...], b: tuple[int, ...], **attributes: Any) -> onnx.ModelProto:
        """Return a model of one Div."""
        shapes: dict[str, tuple[int, ...] | None] = {"A": a, "B": b, "C": None}
        infos = [helper.make_tensor_value_info(name, TensorProto.FLOAT, shape) for name, shape in shapes.items()]
        graph = helper.make_graph([helper.make_node("Div", ["A", "B"], ["C"], **attributes)], "g", infos[:2], infos[2:])
        return helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)])

    def test_its_converter_fails_on_the_documents_own_example(self) -> None:
        example = self.division(6, (2, 3, 4, 5), (3, 4), broadcast=1, axis=1)
        with pytest.raises(RuntimeError, match="assert_numpy_multibroadcastable"):
            version_converter.convert_version(example, 7)

    def test_its_converter_makes_an_illegal_division(self) -> None:
        """Div-6 stretches no dimension of 1."""
        converted = version_converter.convert_version(self.division(7, (2, 3), (2, 1)), 6)
        (node,) = converted.graph.node
        assert [(attribute.name, attribute.i) for attribute in node.attribute] == [("broadcast", 1)]
