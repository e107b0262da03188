"""The tester is tested: each deliberately wrong runtime is caught and named, where it is wrong and nowhere else."""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Iterator, Sequence
from fnmatch import fnmatchcase
from functools import cache
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from tests import fake_runtime
from tests.fake_runtime import FakeRuntime
from vinculum.conformance.arithmetic import Answered
from vinculum.conformance.cases.case import Case, Level
from vinculum.conformance.cases.enumeration import cases
from vinculum.conformance.run.suite import ask
from vinculum.conformance.run.verdict import Kind
from vinculum.reporting.conformance.words import message
from vinculum.sandbox import Limits
from vinculum.spec.element_types import BinaryFormat
from vinculum.spec.registry import find, find_version

ROWS = (
    find_version("Div", 6),
    find("Div"),
    find("Reciprocal"),
    find("Divide"),
)
MIB = 1 << 20
PASS = (Kind.EXACT, Kind.REFUSED_AS_REQUIRED, Kind.UNSPECIFIED)

posix = pytest.mark.skipif(os.name != "posix", reason="Windows has no signals")


@cache
def chosen() -> tuple[Case, ...]:
    """Return the quick cases of some rows, and with constants those of one."""
    quick = list(cases(Level.QUICK, ROWS))
    constants = [case for case in cases(Level.DEFAULT, [find("Div")]) if case.id.matches("*/int32/*/constant *")]
    return (*quick, *constants)


def results(
    miniature: type[FakeRuntime], asked: Sequence[Case], seconds: float = 60.0, memory: int = 4096 * MIB
) -> dict[str, Answered]:
    """Return what is found out about a miniature, by the ids of the cases."""
    factory = f"{miniature.__module__}:{miniature.__name__}"
    limits = Limits(seconds=seconds, memory=memory)
    found = ask(miniature(), asked, factory, workers=1, limits=limits)
    assert [result.case.id for result in found] == [case.id for case in asked]
    return {str(result.case.id): result for result in found}


def only(*patterns: str, one_in: int = 0) -> list[Case]:
    """Return the cases whose ids match one of several patterns, and of the others one in so many."""
    return [
        case
        for number, case in enumerate(chosen())
        if any(case.id.matches(pattern) for pattern in patterns) or (one_in and number % one_in == 0)
    ]


def kinds(found: dict[str, Answered], pattern: str) -> set[Kind]:
    """Return the verdicts on the cases whose ids match a pattern; there must be one."""
    matching = {result.verdict.kind for id, result in found.items() if fnmatchcase(id, pattern)}
    assert matching, pattern
    return matching


def passes(case: Case) -> Kind:
    """Return the verdict on a right answer."""
    if case.expectation.quotient is None:
        return Kind.REFUSED_AS_REQUIRED
    return Kind.EXACT if case.expectation.unspecified is None else Kind.UNSPECIFIED


def plainly(case: Case, miniature: FakeRuntime) -> Kind:
    """Return what a miniature's answer, taken in this process, is worth, told more plainly than by `judge`."""
    expected, unspecified = case.expectation.quotient, case.expectation.unspecified
    try:
        actual = miniature.answer(case.operation)
    except Exception:
        return (
            Kind.REFUSED_AS_REQUIRED
            if expected is None
            else Kind.UNSPECIFIED
            if unspecified is not None
            else Kind.REFUSED
        )
    if expected is None:
        return Kind.ACCEPTED
    if not isinstance(actual, np.ndarray) or actual.dtype != expected.dtype:
        return Kind.WRONG_TYPE
    if actual.shape != expected.shape:
        return Kind.WRONG_SHAPE
    if actual.tobytes() == expected.tobytes():
        return passes(case)
    wrong = [
        pair
        for pair, is_open in zip(_pairs(expected, actual), _flags(unspecified, expected.size), strict=True)
        if not is_open and not _same(*pair)
    ]
    if not wrong:
        return passes(case)
    form = case.element_type.binary_format
    return Kind.ULPS if form is not None and all(_next_to(form, *pair) for pair in wrong) else Kind.WRONG_VALUE


def _next_to(form: BinaryFormat, expected: float, actual: float) -> bool:
    """Tell whether two numbers are less than a binade apart; what is subnormal fills the binade next to zero."""
    if not (math.isfinite(expected) and math.isfinite(actual) and _one_sign(expected, actual)):
        return False
    return abs(_binades(form, float(abs(expected))) - _binades(form, float(abs(actual)))) < 1


def _binades(form: BinaryFormat, number: float) -> float:
    smallest = math.ldexp(1.0, form.smallest_exponent)
    if number < smallest:
        return form.smallest_exponent - 1 + number / smallest
    fraction, exponent = math.frexp(number)
    return exponent - 2 + 2 * fraction


def _pairs(expected: NDArray[Any], actual: NDArray[Any]) -> Iterator[tuple[Any, Any]]:
    return zip(*map(_numbers, (expected, actual)), strict=True)


def _numbers(array: NDArray[Any]) -> list[Any]:
    """Return integers as int; every float that is narrower is a float64, and so a float."""
    if "int" in array.dtype.name:
        return [int(number) for number in array.flat]
    numbers: list[Any] = array.astype(np.float64).ravel().tolist()
    return numbers


def _flags(unspecified: NDArray[np.bool_] | None, size: int) -> list[bool]:
    return [False] * size if unspecified is None else unspecified.ravel().tolist()


def _same(expected: Any, actual: Any) -> bool:
    return (expected == actual and _one_sign(expected, actual)) or (expected != expected and actual != actual)


def _one_sign(expected: Any, actual: Any) -> bool:
    return math.copysign(1, expected) == math.copysign(1, actual)


class TestRightRuntimes:
    """A right runtime passes every case, whatever it prints, and whatever it does where nothing is specified."""

    @pytest.mark.parametrize(
        ("miniature", "asked"),
        [
            (FakeRuntime, ("*",)),
            (fake_runtime.Prints, ("Div-14/float/*",)),
            (fake_runtime.OtherNan, ("*/float/*",)),
            (fake_runtime.SaturatesByZero, ("Div*/int*", "Div*/uint*")),
        ],
    )
    def test_all_passes(self, miniature: type[FakeRuntime], asked: tuple[str, ...]) -> None:
        found = results(miniature, only(*asked))
        for case in only(*asked):
            verdict = found[str(case.id)].verdict
            assert (case.id, verdict.kind, verdict.said) == (case.id, passes(case), verdict.said)

    def test_what_it_does_where_nothing_is_specified(self) -> None:
        for miniature, words in ((FakeRuntime, "x/0 gave 0"), (fake_runtime.SaturatesByZero, "x/0 gave 1")):
            found = results(miniature, only("Div-14/int32/zero divisors/*"))
            said = {message(found[id].verdict) for id in found if fnmatchcase(id, "Div-14/int32/zero divisors/*")}
            assert said == {words}


WRONG = [
    (fake_runtime.Floors, "Div-14/int32/floor and truncation differ/*", Kind.WRONG_VALUE),
    (fake_runtime.Floors, "Div-6/int64/floor and truncation differ/*", Kind.WRONG_VALUE),
    (fake_runtime.Floors, "Divide-1 truncating/int64/floor and truncation differ/*", Kind.WRONG_VALUE),
    (fake_runtime.Truncates, "Divide-1 floor/int32/floor and truncation differ/*", Kind.WRONG_VALUE),
    (fake_runtime.MultipliesByReciprocal, "Div-14/float/quotients hard to round/*", Kind.ULPS),
    (fake_runtime.MultipliesByReciprocal, "Div-14/float/zeros, infinities and NaN/*", Kind.WRONG_VALUE),
    (fake_runtime.FlushesOperands, "Div-14/float/zeros, infinities and NaN/*", Kind.WRONG_VALUE),
    (fake_runtime.FlushesQuotients, "Div-14/float/zeros, infinities and NaN/*", Kind.ULPS),
    (fake_runtime.LosesTheSignOfZero, "Reciprocal-13/float/zeros, infinities and NaN/*", Kind.WRONG_VALUE),
    (fake_runtime.ComputesDoubleInFloat, "Div-14/double/ordinary numbers/*", Kind.ULPS),
    (fake_runtime.ComputesDoubleInFloat, "Div-14/double/zeros, infinities and NaN/*", Kind.WRONG_VALUE),
    (fake_runtime.NarrowsInt64, "Div-14/int64/numbers at the edges of the type/*", Kind.WRONG_VALUE),
    (fake_runtime.DropsAxis, "Div-6/float/distinct numbers/(3, 3) by (3,), broadcast=1, axis=0/*", Kind.WRONG_VALUE),
    (
        fake_runtime.DropsAxis,
        "Div-6/float/distinct numbers/(2, 3, 4, 5) by (3, 4), broadcast=1, axis=1/*",
        Kind.REFUSED,
    ),
    (fake_runtime.AcceptsAll, "Div-6/float/shapes that differ/(2, 3) by (3,)/*", Kind.ACCEPTED),
    (fake_runtime.AcceptsAll, "Div-14/float/shapes that do not broadcast/(2, 3) by (2,)/*", Kind.ACCEPTED),
    (fake_runtime.Transposes, "Div-14/float/empty tensors/(0, 3) by (3,)/*", Kind.WRONG_SHAPE),
    (fake_runtime.Transposes, "Div-6/float/distinct numbers/(3, 3) by (3,), broadcast=1, axis=0/*", Kind.WRONG_VALUE),
    (fake_runtime.Widens, "Div-14/int32/*ordinary numbers*/*", Kind.WRONG_TYPE),
    (fake_runtime.GivesLists, "Div-14/float/*hard to round*/*", Kind.WRONG_TYPE),
    (fake_runtime.SpoilsTheLast, "Div-14/int64/floor and truncation differ/*", Kind.WRONG_VALUE),
    (fake_runtime.RaisesAtZero, "Div-14/float/zeros, infinities and NaN/*", Kind.REFUSED),
    (fake_runtime.FailsWithConstants, "Div-14/int32/floor and truncation differ/*/constant *", Kind.REFUSED),
]


class TestWrongQuotients:
    """What gives wrong quotients, types or shapes, or refuses, is caught in the very cases in which it does so."""

    @pytest.mark.parametrize("miniature", dict.fromkeys(miniature for miniature, _, _ in WRONG))
    def test_it_is_caught_and_named(self, miniature: type[FakeRuntime]) -> None:
        expected = {pattern: kind for wrong, pattern, kind in WRONG if wrong is miniature}
        asked = only(*expected, one_in=8)
        found = results(miniature, asked)
        for pattern, kind in expected.items():
            assert (pattern, kinds(found, pattern)) == (pattern, {kind})
        for case in asked:
            assert (case.id, found[str(case.id)].verdict.kind) == (case.id, plainly(case, miniature()))

    def test_the_last_of_many_is_the_example(self) -> None:
        found = results(fake_runtime.SpoilsTheLast, only("Div-14/int64/floor*"))
        (verdict,) = (
            found[id].verdict for id in found if fnmatchcase(id, "Div-14/int64/floor and truncation differ/*")
        )
        assert verdict.differing == 1
        assert verdict.example is not None
        assert verdict.example.index == (verdict.elements - 1,)
        assert verdict.example.actual == "5"

    def test_a_reciprocal_is_one_ulp_off(self) -> None:
        found = results(fake_runtime.MultipliesByReciprocal, only("Div-14/float/ordinary*"))
        (verdict,) = (
            found[id].verdict for id in found if fnmatchcase(id, "Div-14/float/ordinary numbers/equal shapes/*")
        )
        assert verdict.largest == 1
        assert verdict.ulps == {0: verdict.differing}

    def test_what_is_lacked_is_no_fault_in_a_division(self) -> None:
        asked = only("*/bfloat16/*", one_in=8)
        found = results(fake_runtime.LacksBfloat16, asked)
        for case in asked:
            lacking = case.element_type.name == "bfloat16"
            kind = Kind.UNSUPPORTED if lacking and case.expectation.quotient is not None else passes(case)
            if lacking or not any(operand.dtype.name == "bfloat16" for operand in case.operation.operands):
                assert (case.id, found[str(case.id)].verdict.kind) == (case.id, kind)


def divides_min_alone(case: Case) -> bool:
    dividend = case.operation.operands[0]
    return case.element_type.name == "int64" and bool(dividend.size == 1 and dividend == case.element_type.minimum)


def check_deaths(found: dict[str, Answered], dies: Callable[[Case], bool], kind: Kind, words: str) -> None:
    """Check that those cases of which a miniature dies, and no others, end so."""
    count = 0
    for answered in found.values():
        case, verdict = answered.case, answered.verdict
        if case.expectation.quotient is not None and dies(case):
            expected = (kind, words)
            count += 1
        else:
            expected = (passes(case), verdict.said)
        assert (case.id, verdict.kind, verdict.said) == (case.id, *expected)
    assert count


class TestDeaths:
    """What kills its process is named so, once for each time; all else is judged as ever."""

    @staticmethod
    def divides_min_by_minus_one(case: Case) -> bool:
        if not case.element_type.minimum or len(case.operation.operands) < 2:
            return False
        a, b = case.operation.operands
        return bool(np.any(a == case.element_type.minimum) and np.any((a == case.element_type.minimum) & (b == -1)))

    @staticmethod
    def divides_nothing(case: Case) -> bool:
        return case.operation.operands[0].size == 0 or case.operation.operands[-1].size == 0

    @posix
    def test_it_dies_of_min_by_minus_one(self) -> None:
        found = results(fake_runtime.DiesOfMinByMinusOne, only("Div-14/int*", "Divide-1*/int*/MIN*"))
        check_deaths(found, self.divides_min_by_minus_one, Kind.CRASHED, "SIGFPE")

    @pytest.mark.parametrize(
        ("miniature", "words"), [(fake_runtime.Exits, "exit code 7"), (fake_runtime.ExitsPastPython, "exit code 9")]
    )
    def test_it_exits(self, miniature: type[FakeRuntime], words: str) -> None:
        found = results(miniature, only("Div-14/int*"))  # It starts again for every death.
        check_deaths(found, self.divides_nothing, Kind.CRASHED, words)
