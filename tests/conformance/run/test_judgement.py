"""Verdicts on answers."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from tests.conformance.asking import array, case
from vinculum.conformance.cases.case import Case
from vinculum.conformance.cases.floats import format_of
from vinculum.conformance.run import judgement
from vinculum.conformance.run.record import READINGS, Example, Gave, Kind, Verdict
from vinculum.reporting.conformance.view import message
from vinculum.sandbox import Answer, End
from vinculum.spec.element_types import (
    BFLOAT16,
    DOUBLE,
    FLOAT,
    FLOAT8E4M3FN,
    FLOAT8E5M2,
    FLOAT16,
    INT4,
    INT8,
    INT32,
    INT64,
    REAL,
    UINT8,
    ElementType,
)
from vinculum.spec.onnx_div import DIV_6
from vinculum.spec.openvino_divide import DIVIDE_1
from vinculum.spec.rows import ROWS
from vinculum.spec.sonnx_div import DIV_REAL
from vinculum.text import shape_text

FLOATS = (BFLOAT16, FLOAT16, FLOAT, DOUBLE, FLOAT8E4M3FN, FLOAT8E5M2)
MIN, MAX = INT64.minimum, INT64.maximum
PLAIN = case(INT32, [[7, -7], [2, 2]], [3, -3])
REFUSAL = case(INT32, [[1], [0, 0]], None)
OPEN = case(INT32, [[7, 7], [2, 0]], [3, 0], unspecified=[False, True])


def judge(asked: Case, answer: Answer) -> Verdict:
    return judgement.judge(asked.operation, asked.expectation, answer)


def returned(value: object) -> Answer:
    return Answer(End.RETURNED, value)


def judged(element_type: ElementType, expected: Any, actual: Any) -> Verdict:
    """Return the verdict on quotients; the operands are all 1."""
    quotient = array(expected, element_type)
    return judge(case(element_type, [np.ones_like(quotient)] * 2, quotient), returned(array(actual, element_type)))


def of_encodings(element_type: ElementType, *encodings: int) -> NDArray[Any]:
    return np.array(encodings, f"u{element_type.bits // 8}").view(array(0, element_type).dtype)


class Lying(np.ndarray[Any, Any]):
    """An array that reports a wrong shape."""

    def __getattribute__(self, name: str) -> Any:
        return (99,) if name == "shape" else super().__getattribute__(name)


LYING, ONE = np.array([3, -3], np.int32).view(Lying), case(INT32, [[7], [2]], [3], unspecified=[False])
EMPTY, SCALAR = case(INT32, [np.zeros((0, 3)), [1, 1, 1]], np.zeros((0, 3))), case(INT32, [7, 2], 3)
BY_ONE_AND_THREE = case(FLOAT, [[1.0, 1.0], [1.0, 3.0]], np.array([1, 1 / 3], np.float32))
ONE_THIRD = Example(
    (1,), ("1.0 (0x3f800000)", "3.0 (0x40400000)"), "0.33333334 (0x3eaaaaab)", "0.33333337 (0x3eaaaaac)"
)
THIRD = case(REAL, [[Fraction(1)], [Fraction(3)]], [Fraction(1, 3)], spec=DIV_REAL)
NINE = (Gave("7", "0", "9"),)
SHAPES: list[tuple[int, ...]] = [(), (1,), (2, 1), (1, 2), (0,)]
DEATHS = {End.CRASHED: Kind.CRASHED, End.HUNG: Kind.HUNG, End.OUT_OF_MEMORY: Kind.OUT_OF_MEMORY}


def ended(end: End, words: str) -> Answer:
    return Answer(end, None, words)


@pytest.mark.parametrize(
    ("asked", "answer", "verdict"),
    [
        *((asked, ended(end, "SIGFPE"), Verdict(kind, "SIGFPE"))
          for asked in (PLAIN, REFUSAL, OPEN) for end, kind in DEATHS.items()),
        *((REFUSAL, ended(end, "shapes differ"), Verdict(Kind.REFUSED_AS_REQUIRED, "shapes differ"))
          for end in (End.REFUSED, End.UNSUPPORTED)),
        (REFUSAL, returned(np.zeros((2, 3), np.int32)), Verdict(Kind.ACCEPTED, "int32 of shape (2, 3)")),
        (REFUSAL, returned([1]), Verdict(Kind.ACCEPTED, "a list, not an array")),
        (REFUSAL, returned(None), Verdict(Kind.ACCEPTED, "a NoneType, not an array")),
        *((asked, ended(End.UNSUPPORTED, "no Div-14"), Verdict(Kind.UNSUPPORTED, "no Div-14"))
          for asked in (PLAIN, OPEN)),
        (PLAIN, ended(End.REFUSED, "no"), Verdict(Kind.REFUSED, "no")),
        (OPEN, ended(End.REFUSED, "division by zero"), Verdict(Kind.UNSPECIFIED, "division by zero")),
        # A mask without an open element leaves nothing open.
        (ONE, ended(End.REFUSED, "no"), Verdict(Kind.REFUSED, "no")),
        (ONE, returned(array([3], INT32)), Verdict(Kind.EXACT, "", 1)),
        *((PLAIN, returned(value), Verdict(Kind.WRONG_TYPE, words, expected="int32")) for value, words in (
            (np.array([3.0, -3.0]), "float64 of shape (2,)"), (np.array([3, -3, 0]), "int64 of shape (3,)"),
            (np.int32(3), "a int32, not an array"), ([3, -3], "a list, not an array"),
            (np.array([3, -3], object), "objects of shape (2,)"))),
        # The order of bytes is no matter of the type, and a class of its own is an array like others.
        *((PLAIN, returned(value), Verdict(Kind.EXACT, "", 2)) for value in (np.array([3, -3], ">i4"), LYING)),
        *((PLAIN, returned(np.zeros(shape, np.int32)),
           Verdict(Kind.WRONG_SHAPE, shape_text(shape), expected="(2,)")) for shape in SHAPES),
        (EMPTY, returned(np.zeros((0, 3), np.int32)), Verdict(Kind.EXACT)),
        (EMPTY, returned(np.zeros((3, 0), np.int32)), Verdict(Kind.WRONG_SHAPE, "(3, 0)", expected="(0, 3)")),
        (SCALAR, returned(np.array(3, np.int32)), Verdict(Kind.EXACT, "", 1)),
        (SCALAR, returned(np.array(4, np.int32)),
         Verdict(Kind.WRONG_VALUE, "", 1, 1, example=Example((), ("7", "2"), "3", "4"))),
        (BY_ONE_AND_THREE, returned(of_encodings(FLOAT, 0x3F800000, 0x3EAAAAAC)),
         Verdict(Kind.ULPS, "", 2, 1, {0: 1}, 1, ONE_THIRD)),
        # Beside what is unspecified quotients must be exact.
        (OPEN, returned(array([3, 9], INT32)), Verdict(Kind.UNSPECIFIED, elements=1, unspecified=NINE)),
        (OPEN, returned(array([4, 9], INT32)),
         Verdict(Kind.WRONG_VALUE, "", 1, 1, example=Example((0,), ("7", "2"), "3", "4"), unspecified=NINE)),
        # Reals are exact rationals.
        *((THIRD, returned(np.array(*value)), Verdict(Kind.WRONG_TYPE, words, expected="exact rationals"))
          for value, words in (([[1 / 3]], "float64 of shape (1,)"), ([[1 / 3], object], "objects of shape (1,)"),
                               ([[2], object], "objects of shape (1,)"))),
    ],
    ids=lambda value: value.kind.value if isinstance(value, Verdict) else "",
)  # fmt: skip
def test_every_verdict_in_its_order(asked: Case, answer: Answer, verdict: Verdict) -> None:
    """A death comes first, then a required refusal, then "not supported", refusals, types, shapes and values."""
    assert judge(asked, answer) == verdict


class TestSpecialValues:
    """All NaN are equal; -0.0 and 0.0 differ."""

    @pytest.mark.parametrize("element_type", [BFLOAT16, FLOAT16, FLOAT, DOUBLE, FLOAT8E5M2], ids=str)
    def test_nan_has_no_sign_and_no_payload(self, element_type: ElementType) -> None:
        form = format_of(element_type)
        one_more = form.largest + 2
        nans = of_encodings(element_type, form.nan, one_more, one_more | form.sign_mask)
        assert judged(element_type, np.full(3, np.nan), nans) == Verdict(Kind.EXACT, "", 3)

    @pytest.mark.parametrize("element_type", FLOATS, ids=str)
    @pytest.mark.parametrize(
        ("expected", "actual"), [(0.0, -0.0), (-0.0, 0.0), (1.0, -1.0), (1.0, np.nan), (np.nan, 1.0)]
    )
    def test_no_ulps_lie_between(self, element_type: ElementType, expected: float, actual: float) -> None:
        verdict = judged(element_type, [2.0, expected], [2.0, actual])
        assert (verdict.kind, message(verdict)) == (Kind.WRONG_VALUE, "1 of 2 quotients are wrong")
        assert (verdict.elements, verdict.differing, verdict.largest) == (2, 1, None)
        assert verdict.ulps == {}


class TestUlps:
    """The distance of two numbers is the difference of their places in the sequence of encodings."""

    @pytest.mark.parametrize("element_type", FLOATS, ids=str)
    def test_every_element_type(self, element_type: ElementType) -> None:
        form = format_of(element_type)
        expected = of_encodings(element_type, 0, 8, 8 | form.sign_mask, form.largest, 8)
        actual = of_encodings(element_type, 1, 6, 9 | form.sign_mask, form.largest - 3, 8)
        verdict = judged(element_type, expected, actual)
        assert verdict.kind is Kind.ULPS
        assert message(verdict) == "4 of 5 quotients are off, by up to 3 ulps"
        assert (verdict.elements, verdict.differing, verdict.largest) == (5, 4, 3)
        assert verdict.ulps == {0: 2, 1: 2}

    @pytest.mark.parametrize("element_type", [FLOAT, DOUBLE, FLOAT16], ids=str)
    def test_a_binade_away_is_a_wrong_value(self, element_type: ElementType) -> None:
        form = format_of(element_type)
        binade = 1 << form.trailing_bits
        for right, given, kind in (
            (3 * binade, 4 * binade - 1, Kind.ULPS),
            (3 * binade, 4 * binade, Kind.WRONG_VALUE),
            (binade - 1, 0, Kind.ULPS),  # The largest subnormal number, flushed to zero.
            (0, binade, Kind.WRONG_VALUE),
        ):
            verdict = judged(element_type, of_encodings(element_type, right), of_encodings(element_type, given))
            assert verdict.kind is kind


class TestExample:
    """The example is a quotient that differs, with its own operands."""

    @pytest.mark.parametrize(
        ("spec", "attributes", "dividend", "divisor", "pair"),
        [
            (None, {}, (2, 3), (3,), (5, 2)),
            (None, {}, (1, 3), (2, 1), (2, 1)),
            (DIV_6, {"broadcast": 1, "axis": 0}, (2, 3), (2,), (5, 1)),
            (DIVIDE_1, {"auto_broadcast": "pdpd", "axis": 0}, (2, 3), (2, 1), (5, 1)),
            (DIVIDE_1, {"auto_broadcast": "pdpd", "axis": 0}, (2, 3), (1, 3), (5, 2)),
        ],
    )
    def test_the_pair_that_broadcasting_joins(
        self, spec: Any, attributes: Any, dividend: Any, divisor: Any, pair: tuple[int, int]
    ) -> None:
        a, b = (np.arange(np.prod(shape, dtype=int)).reshape(shape) for shape in (dividend, divisor))
        chosen = {} if spec is None else {"spec": spec}
        asked = case(INT32, [a, b], np.zeros((2, 3)), attributes=attributes, **chosen)
        wrong = np.zeros((2, 3), np.int32)
        wrong[1, 2] = 9
        assert judge(asked, returned(wrong)).example == Example((1, 2), tuple(map(str, pair)), "0", "9")


class TestUnspecified:
    """Unspecified quotients are summarised, and pass unless the runtime dies."""

    def told(self, element_type: ElementType, pairs: dict[tuple[int, int], int]) -> str:
        a, b = zip(*pairs, strict=True)
        asked = case(element_type, [a, b], np.zeros(len(pairs)), unspecified=[True] * len(pairs))
        verdict = judge(asked, returned(array(list(pairs.values()), element_type)))
        assert (verdict.kind, verdict.elements, verdict.differing) == (Kind.UNSPECIFIED, 0, 0)
        return message(verdict)

    @pytest.mark.parametrize(
        ("element_type", "pairs", "words"),
        [
            (INT64, {(MIN, -1): MIN}, "MIN/-1 gave MIN"),
            (INT8, {(5, 0): -128, (-5, 0): -128, (0, 0): -128}, "x/0 gave MIN"),
            (UINT8, {(5, 0): 0, (6, 0): 0}, "x/0 gave 0"),
            (INT8, {(5, 0): 1, (6, 0): 1, (0, 0): 0, (-9, 0): 0}, "x/0 gave 1 for x > 0, 0/0 gave 0, -9/0 gave 0"),
            (
                INT8,
                {(n, 0): n for n in range(1, 9)},
                "1/0 gave 1, 2/0 gave 2, 3/0 gave 3, x/0 gave 5 more quotients for x > 0",
            ),
            (INT8, {(5, 0): 1, (6, 0): 2, (7, 0): 3}, "5/0 gave 1, 6/0 gave 2, 7/0 gave 3"),
            (INT8, {(7, 0): 0, (8, 0): 0, (-128, -1): -128}, "x/0 gave 0, MIN/-1 gave MIN"),
            (INT4, {(7, 0): 0, (-8, -1): -8}, "MAX/0 gave 0, MIN/-1 gave MIN"),
        ],
    )  # fmt: skip
    def test_in_words(self, element_type: ElementType, pairs: dict[tuple[int, int], int], words: str) -> None:
        assert self.told(element_type, pairs) == words


def test_they_are_of_silence() -> None:
    clauses = [clause for spec in ROWS for clause in spec.clauses]
    for tag, kinds in READINGS.items():
        own = [clause for clause in clauses if clause.tag == tag]
        assert any("the specification is silent here" in clause.basis for clause in own), tag
        assert kinds
        assert all(kind.deviates for kind in kinds)


@pytest.mark.parametrize(
    ("first", "again", "differing"),
    [
        (ended(End.REFUSED, "no"), ended(End.REFUSED, "not at 0x7f"), 0),
        (ended(End.CRASHED, "SIGFPE"), ended(End.CRASHED, "SIGSEGV"), 0),
        (ended(End.REFUSED, "no"), ended(End.UNSUPPORTED, "no"), None),
        (returned([3]), ended(End.REFUSED, "no"), None),
        (returned([3]), returned([4]), 0),
        (returned([3]), returned(None), None),
        (returned([3]), returned(np.array([3])), None),
        (returned(np.array([3, 0], np.int32)), returned(np.array([3, 9], np.int32)), 0),  # The second is open.
        (returned(np.array([3, 0], np.int32)), returned(np.array([4, 0], ">i4")), 1),
        (returned(np.array([3, 0], np.int32)), returned(np.array([3, 0])), None),
        (returned(np.array([3, 0], np.int32)), returned(np.array([[3, 0]], np.int32)), None),
        (returned(np.array([3, 0, 1])), returned(np.array([4, 1, 1])), 2),  # Of another shape nothing is open.
        (returned(np.array([True, True])), returned(np.array([False, True])), 1),
        (returned(of_encodings(FLOAT, 0x7FC00000, 0)), returned(of_encodings(FLOAT, 0xFFC00001, 1)), 0),
    ],
)
def test_how_far_two_answers_are_apart(first: Answer, again: Answer, differing: int | None) -> None:
    assert judgement.apart(first, again, OPEN.expectation) == differing
