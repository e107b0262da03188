"""Explaining deviations: the cause of a planted divider is named, and gets all of its cases."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from itertools import product

import numpy as np
import pytest

from tests.conformance.asking import answered, asked, judged
from tests.conformance.planted import codes
from tests.conformance.planted.codes import Asked
from tests.conformance.planted.dividers import DIVIDERS, Code, Coded, Planted
from tests.conformance.planted.measuring import cases_of
from tests.fake_runtime import Array, FakeRuntime
from vinculum.conformance.arithmetic import Answered, explain, predicts, written
from vinculum.conformance.arithmetic.catalogue import catalogue
from vinculum.conformance.arithmetic.explain import contradicts
from vinculum.conformance.arithmetic.fitting import Fit, circumstances, dividends_and_divisors
from vinculum.conformance.cases.case import Case, Level
from vinculum.errors import AttributeValueError
from vinculum.sandbox import Answer, End
from vinculum.spec.element_types import BFLOAT16, DOUBLE, FLOAT, INT32, ElementType
from vinculum.spec.onnx_div import DIV_14


def way(dividend: bool, divisor: bool, result: str, reciprocal: bool) -> Code:
    """Return a way to divide doubles. A scaled quotient shows which results are subnormal before rounding."""

    def quotients(x: Asked) -> Array:
        a, b = (codes.flushed(x.a) if dividend else x.a), (codes.flushed(x.b) if divisor else x.b)
        scaled = a * np.float64(2.0**60)
        quotient, large = (y * (1 / b) if reciprocal else y / b for y in (a, scaled))
        if result == "after":
            return codes.flushed(quotient)
        tiny = np.abs(large) < np.finfo(np.float64).smallest_normal * 2.0**60
        return np.where(tiny, np.copysign(0.0, quotient), quotient) if result == "before" else quotient

    return quotients


def of_type(element_type: ElementType) -> list[Case]:
    """Return the cases of Div-14 of an element type."""
    return [case for case in asked(Level.DEFAULT, DIV_14) if case.element_type is element_type]


@pytest.mark.parametrize(
    ("dividend", "divisor", "result", "reciprocal"),
    list(product((False, True), (False, True), ("kept", "before", "after"), (False, True))),
)
def test_every_way_to_divide_doubles_is_named(dividend: bool, divisor: bool, result: str, reciprocal: bool) -> None:
    """Each combination of flushed operands and results, with and without a reciprocal, is named by its form."""
    a, b = "flush(a)" if dividend else "a", "flush(b)" if divisor else "b"
    form = f"{a} * (1/{b})" if reciprocal else f"{a} / {b}"
    form = {"kept": "{}", "before": "flush_unrounded({})", "after": "flush({})"}[result].format(form)
    doubles = [case for case in of_type(DOUBLE) if case.id.matches("*/equal shapes/run-time operands")]
    found = explain(answered(Coded(way(dividend, divisor, result, reciprocal)), doubles))
    assert not found.unexplained
    assert [one.cause.name for one in found.explained] == ([] if form == "a / b" else [f"arithmetic: {form}"])


def test_one_wrong_quotient_proves_nothing() -> None:
    own = DIVIDERS["multiplies float16 by the reciprocal in float"]
    given = answered(Planted({"divider": own.name}), cases_of(own))
    found = explain(given)
    assert not found.explained
    (told,) = found.refuted
    assert (told.cause.name, told.refuting) == ("arithmetic: a * (1/b) computed in float32", 0)
    assert set(told.cases) == set(found.unexplained)
    words = f"consistent with: {told.cause.statement}; but"
    assert told.consistent == f"{words} too few quotients prove it"
    assert replace(told, refuting=40).consistent == f"{words} 40 other cases refute it"
    known = explain(given, [told.cause])
    assert not known.unexplained  # It takes less to recognise a cause than to claim it.


def test_an_alignment_that_a_case_contradicts_explains_no_other() -> None:
    own = DIVIDERS["drops axis of squares"]
    assert not explain(answered(Planted({"divider": own.name}), cases_of(own))).explained


def test_what_a_few_elements_exclude_all_of_them_exclude() -> None:
    """Where cases are divided in several ways, none is missed because only some elements are looked at."""
    random = np.random.default_rng(0)
    ways = random.choice(np.array(catalogue(BFLOAT16)), 2)
    given = []
    for case in of_type(BFLOAT16):
        if (exact := case.expectation.quotient) is not None:
            quotients = random.choice(ways).quotients(*dividends_and_divisors(case.operation))
            given.append(judged(case, Answer(End.RETURNED, quotients.reshape(exact.shape))))
    fit = Fit(BFLOAT16, given)
    fit.causes([one for one in given if one.deviates])
    assert len(fit._verified) > 1
    for way, predicted in fit._verified.items():
        for few, every in zip(fit._few, predicted, strict=True):
            assert not (every & ~few[fit.ways.index(way)]).any()


@pytest.mark.parametrize(("end", "share"), [(End.REFUSED, 0.02), (End.CRASHED, 0.5)], ids=str)
def test_ends_of_random_operations_stay_unexplained(end: End, share: float) -> None:
    random, given = np.random.default_rng(0), list(right_answers())
    for place in np.flatnonzero(random.random(len(given)) < share):
        given[place] = judged(given[place].case, Answer(end, words="out of luck"))
    found = explain(given)
    assert not found.explained
    assert found.unexplained


@pytest.mark.parametrize(
    ("least", "words"),
    [(17, "more than 16 elements"), (50, "more than 33 to 56 elements"), (65, "more than 64 elements")],
)
def test_the_size_from_which_a_runtime_crashes(least: int, words: str) -> None:
    """A rule names the sizes between which the cases cannot tell."""
    given = [
        judged(one.case, Answer(End.CRASHED, words="out of luck"))
        if one.case.expectation.unspecified is not None
        and 0 in one.case.operation.operands[1]
        and one.case.expectation.unspecified.size >= least
        else one
        for one in right_answers()
        if one.case.element_type is INT32
    ]
    (cause,) = explain(given).explained
    assert cause.cause.name == f"rule: crashed: out of luck where x / 0 and {words}"


@cache
def right_answers() -> tuple[Answered, ...]:
    """Return the answers of a right runtime; tests must not change them."""
    return tuple(answered(FakeRuntime(), asked(Level.DEFAULT, DIV_14)))


class TestWritten:
    """A cause made from its name and element types predicts the same cases as before."""

    @pytest.mark.parametrize(
        "divider",
        [
            "spoils the last element",  # Wrong quotients at a place, and of tensors of some lengths.
            "negates where 7 remain after 8",
            "drops axis",
            "flushes in whole packets of 8",
            "divides int32 in float",
            "dies of x / 0 beyond 40",
        ],
    )
    def test_it_is_known_again(self, divider: str) -> None:
        own = DIVIDERS[divider]
        given = answered(Planted({"divider": divider}), cases_of(own))
        found = explain(given).explained
        assert found
        known = [written(one.cause.name, one.cause.element_types) for one in found]
        for one, cause in zip(found, known, strict=True):
            assert set(one.cases) <= {case for case in given if predicts(cause, case, known)}
            assert not any(contradicts(cause, case) for case in given)
            alike = {circumstances(case.case.operation) for case in one.cases}
            there = [case for case in given if circumstances(case.case.operation) in alike and not case.deviates]
            assert not cause.divisions or one.passing == sum(predicts(cause, case) for case in there) > 0
        again = explain(given, known).explained
        assert {one.cause.name: set(one.cases) for one in again} == {one.cause.name: set(one.cases) for one in found}

    @pytest.mark.parametrize("name", ["a * (1/b)", "rule: ", "arithmetic: b / a"])
    def test_what_is_no_cause(self, name: str) -> None:
        with pytest.raises(AttributeValueError, match=r"is not a (cause|known way to divide)"):
            written(name, [FLOAT])
