"""Which division is a risk where, and what is said of it."""

from __future__ import annotations

import numpy as np
import pytest

from tests.cases import case
from tests.models.built_models import one_line
from vinculum.errors import ModelError
from vinculum.ops.policies import Policies
from vinculum.repair import Runtime
from vinculum.repair.bounds import Bounds, Never, Values
from vinculum.repair.decision import Decision, Facts, Operator, decided
from vinculum.spec.element_types import BFLOAT16, DOUBLE, FLOAT, INT8, INT32, INT64, UINT8, UINT32, ElementType

PLAIN = Policies("zero", "wrap")
SATURATED = Policies("saturate", "saturate")


def facts(
    element_type: ElementType,
    dividend: list[int] | None = None,
    divisor: list[int] | None = None,
    operator: Operator = "Div",
) -> Facts:
    """Return what is known of a division, None for an operand that is not constant."""
    a, b = (None if x is None else np.array(x) for x in (dividend, divisor))
    return Facts(operator, 17, element_type, Bounds(frozenset({"inverse"}), dividend=a, divisor=b))


def assess(division: Facts, runtime: Runtime, policies: Policies) -> Decision:
    """Return the decision about a division."""
    return decided(Decision("n", "", "Div-14", None, None, ""), division, runtime, policies)


SAFE = (
    (facts(INT64, None, [1, 7]), "no divisor is 0 and no divisor is -1"),
    (facts(INT64, [5], [-1, 7]), "no divisor is 0 and no dividend of -1 is MIN"),
    (facts(UINT8, None, [1, 255]), "no divisor is 0"),
    (facts(INT64, None, []), "no divisor is 0 and no divisor is -1"),
    (facts(FLOAT), "a division of floats cannot crash"),
    (facts(DOUBLE), "a division of floats cannot crash"),
    (facts(INT8, None, [-1, 7], "Mod"), "no divisor is 0 and MIN mod -1 is computed"),  # In int.
    (facts(INT32, None, [-1, 7], "Fmod"), "no divisor is 0 and MIN mod -1 is computed"),  # In double.
)
"""Issue 3, point 5: a constant non-zero divisor needs nothing, without -1 where there is MIN/-1."""
RISKY = (
    (facts(INT64), "the divisor may be 0; the quotient may be MIN/-1, which kills the process"),
    (facts(UINT8), "the divisor may be 0"),
    (facts(INT8, None, [0, 2]), "the constant divisor holds 0"),
    (facts(INT8, None, [-1, 2]), "the quotient may be MIN/-1, which ONNX does not define"),  # In int.
    (facts(INT8, [-128], [-1, 2]), "the quotient may be MIN/-1, which ONNX does not define"),
    (facts(INT32, [1], [2]), "ONNX Runtime fuses 1/b*c to c/b, with integers too"),
    (facts(BFLOAT16), "ONNX Runtime has no kernel for bfloat16"),
    (facts(INT64, None, [-1, 2], "Mod"), "it may be MIN mod -1, which kills ONNX Runtime before 1.32"),
    (facts(UINT8, None, None, "Fmod"), "the divisor may be 0"),
    (facts(INT64, None, [2], "Fmod"), "ONNX Runtime computes it in float64, wrong above 2^53"),
    (facts(INT32, None, [2], "FloorDiv"), "ONNX has no floor division of integers"),
)
"""What cannot be told is risky, and the reason names the risk."""


def test_the_reason_on_onnxruntime() -> None:
    for is_safe, group in ((True, SAFE), (False, RISKY)):
        for division, why in group:
            with case(division, why):
                found = assess(division, "onnxruntime", PLAIN)
                assert (found.why, found.what is None) == (why, is_safe)


GUARDED: tuple[tuple[frozenset[Never], Values, bool], ...] = (
    (frozenset(), None, False),
    (frozenset({"zero"}), None, True),
    (frozenset({"zero", "inverse"}), None, False),
    (frozenset(), np.array([2]), True),
    (frozenset(), np.array([0]), True),
)
"""What is proved of a division, a constant divisor, and whether a runtime may fuse it as a product with an inverse."""


def test_a_guard_before_the_division_prevents_its_fusion() -> None:
    """A divisor that may be 0 is replaced by a node between; a constant is not."""
    for never, divisor, may_be_inverse in GUARDED:
        with case(never, divisor):
            assert Facts("Div", 17, INT32, Bounds(never, divisor=divisor)).may_be_inverse is may_be_inverse


WITHIN = "exact where operands and result lie"
NARROWED = f"OpenVINO's CPU device narrows it to int32: {WITHIN} within"
PORTABLE = f"on OpenVINO {WITHIN} strictly within int32; elsewhere for all values"
ROUNDED = "its quotients are not all correctly rounded"
CURED = "these lines before compile_model make them exact: from vinculum.openvino import exact_divisions; "


@pytest.mark.parametrize(
    ("element_type", "runtime", "note"),
    [
        (FLOAT, "onnxruntime", None),
        (FLOAT, "portable", f"on OpenVINO {ROUNDED}"),
        (DOUBLE, "openvino", f"OpenVINO computes it in float32 by a product with 1/b; {ROUNDED}"),
        (FLOAT, "openvino", f"OpenVINO computes it by a product with 1/b; {ROUNDED}; {CURED}exact_divisions(model)"),
        (INT64, "openvino", NARROWED),
        (INT32, "openvino", None),
        (INT64, "portable", PORTABLE),
        (INT64, "onnxruntime", None),
    ],
    ids=str,
)
def test_notes(element_type: ElementType, runtime: Runtime, note: str | None) -> None:
    assert assess(facts(element_type), runtime, PLAIN).note == note


class TestDone:
    """What is done where it is risky, in words."""

    @pytest.mark.parametrize("runtime", ["openvino", "portable"])
    def test_rounding_is_a_risk_on_openvino(self, runtime: Runtime) -> None:
        assert assess(facts(INT32, None, [7]), runtime, PLAIN).what == "truncated exactly by the remainder"

    @pytest.mark.parametrize(
        ("division", "policies", "what"),
        [
            (facts(INT8), PLAIN, "x/0 gives 0, MIN/-1 gives MIN; in int32"),
            (facts(INT8), SATURATED, "x/0 gives MIN, 0 or MAX by the sign of x, MIN/-1 gives MAX; in int32"),
            (facts(UINT32), SATURATED, "x/0 gives MAX, 0/0 gives 0; in int64"),
            (facts(INT32, operator="Mod"), SATURATED, "x mod 0 gives 0, MIN mod -1 gives 0"),
        ],
        ids=str,
    )
    def test_what_is_done(self, division: Facts, policies: Policies, what: str) -> None:
        assert assess(division, "onnxruntime", policies).what == what


class TestRefused:
    """What a runtime cannot be made to give is refused in one line."""

    @pytest.mark.parametrize(
        ("division", "policies", "words"),
        [
            (facts(INT64, None, [2**31]), PLAIN, "the constant divisor holds 2147483648"),
            (facts(INT64, [-(2**31) - 1]), PLAIN, "the constant dividend holds -2147483649"),
            (facts(UINT32, None, [2**32 - 1]), PLAIN, "narrows uint32 to int32"),
            (facts(INT64), SATURATED, "give --zero-divisor zero"),
        ],
        ids=str,
    )
    def test_openvino(self, division: Facts, policies: Policies, words: str) -> None:
        with one_line(ModelError, words):
            assess(division, "openvino", policies)

    def test_saturation_is_no_matter_without_zeros(self) -> None:
        assert assess(facts(INT64, None, [3]), "openvino", SATURATED).what is not None
