"""What is planted is named, and every case that deviates because of it is given to it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import cache, partial
from itertools import product
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from numpy.typing import NDArray

from tests import fake_runtime
from tests.conformance.asking import answered, asked
from tests.fake_runtime import FakeRuntime
from vinculum.conformance.arithmetic import Answered, Explanation, explain, predicts, written
from vinculum.conformance.cases.case import Case, Expectation, Level
from vinculum.conformance.cases.operation import Operation
from vinculum.conformance.run.judgement import judge
from vinculum.errors import AttributeValueError
from vinculum.sandbox import Answer, End
from vinculum.spec.element_types import DOUBLE, FLOAT, FLOAT16, INT32, ElementType, by_numpy_name
from vinculum.spec.onnx_div import DIV_6, DIV_14
from vinculum.spec.openvino_divide import DIVIDE_1

Array = NDArray[Any]
Floats = Callable[[Array, Array], Array]


class Computes(FakeRuntime):
    """It divides one float type in a way of its own."""

    def __init__(self, dtype: Any, floats: Floats) -> None:
        self._dtype, self._floats = np.dtype(dtype), floats

    def quotients(self, operation: Operation, a: Array, b: Array) -> Any:
        return self._floats(a, b) if a.dtype == self._dtype else super().quotients(operation, a, b)


def flushed(x: Array) -> Array:
    """Return doubles in which zeros stand for the subnormal ones."""
    least = np.float64(2.0**-1022)
    return np.where(np.abs(x) < least, np.copysign(np.zeros_like(x), x), x)


def planted(dividend: bool, divisor: bool, result: str, reciprocal: bool) -> Floats:
    """Return a way to divide doubles; what is flushed before rounding is told by the quotient of twice as many bits."""

    def floats(a: Array, b: Array) -> Array:
        a, b = (flushed(a) if dividend else a), (flushed(b) if divisor else b)
        factor = np.float64(1) / b
        quotient = a * factor if reciprocal else a / b
        if result == "after":
            return flushed(quotient)
        if result == "before":
            scaled = (a * np.float64(2.0**60)) * factor if reciprocal else (a * np.float64(2.0**60)) / b
            tiny = np.abs(scaled) < np.finfo(np.float64).smallest_normal * 2.0**60
            return np.where(tiny, np.copysign(0.0, quotient), quotient)
        return quotient

    return floats


def explained(divider: Any, row: Any, *element_types: str) -> Explanation:
    """Return what explains a runtime that is asked a row's cases, with some element types or all."""
    chosen = [
        case for case in asked(Level.DEFAULT, row) if case.element_type.name in element_types or not element_types
    ]
    return explain(answered(divider, chosen))


def of_type(element_type: ElementType) -> list[Case]:
    """Return the cases of Div-14 of an element type."""
    return [case for case in asked(Level.DEFAULT, DIV_14) if case.element_type is element_type]


def names(explanation: Explanation) -> list[str]:
    return [one.cause.name for one in explanation.explained]


class TestDoubles:
    """Every combination of what may be flushed and a reciprocal, planted in doubles, is named by its own stages."""

    @pytest.mark.parametrize(
        ("dividend", "divisor", "result", "reciprocal"),
        list(product((False, True), (False, True), ("kept", "before", "after"), (False, True))),
    )
    def test_named(self, dividend: bool, divisor: bool, result: str, reciprocal: bool) -> None:
        a, b = "flush(a)" if dividend else "a", "flush(b)" if divisor else "b"
        form = f"{a} * (1/{b})" if reciprocal else f"{a} / {b}"
        form = {"kept": "{}", "before": "flush_unrounded({})", "after": "flush({})"}[result].format(form)
        doubles = [case for case in of_type(DOUBLE) if case.id.matches("*/equal shapes/run-time operands")]
        found = explain(answered(Computes(np.float64, planted(dividend, divisor, result, reciprocal)), doubles))
        assert not found.unexplained
        assert names(found) == ([] if form == "a / b" else [f"arithmetic: {form}"])


def through(wide: Any, floats: Floats) -> Floats:
    return lambda a, b: floats(a.astype(wide), b.astype(wide)).astype(a.dtype)


def by_reciprocal(a: Array, b: Array) -> Array:
    return a * (np.ones_like(b) / b)


class TestWideReciprocals:
    """A reciprocal that is rounded to a wider format than the quotient is named with that format."""

    @pytest.mark.parametrize(
        ("dtype", "wide"), [(np.float32, np.float64), (ml_dtypes.bfloat16, np.float32)], ids=["float", "bfloat16"]
    )
    def test_named(self, dtype: Any, wide: Any) -> None:
        found = explained(
            Computes(dtype, through(wide, by_reciprocal)), DIV_14, by_numpy_name(np.dtype(dtype).name).name
        )
        assert names(found) == [f"arithmetic: a * (1/b) computed in {np.dtype(wide)}"]
        assert not found.unexplained

    def test_one_wrong_quotient_proves_nothing(self) -> None:
        divider = Computes(np.float16, through(np.float32, by_reciprocal))
        found = explained(divider, DIV_14, "float16")
        assert not found.explained
        (told,) = found.refuted
        assert (told.cause.name, told.refuting) == ("arithmetic: a * (1/b) computed in float32", 0)
        assert set(told.cases) == set(found.unexplained)
        known = explain(answered(divider, of_type(FLOAT16)), [told.cause])
        assert not known.unexplained  # It takes less to recognise a cause than to claim it.


class TestNoRule:
    """What follows no rule that a cause can tell stays unexplained."""

    @pytest.mark.parametrize(("end", "share"), [(End.REFUSED, 0.02), (End.CRASHED, 0.5)], ids=lambda own: str(own))
    def test_ends(self, end: End, share: float) -> None:
        found = at_random(end, share)
        assert not found.explained
        assert found.unexplained


def at_random(end: End, share: float) -> Explanation:
    """Return what explains that some operations of a right runtime end so, drawn by lot."""
    random, given = np.random.default_rng(0), list(right_answers())
    for place in np.flatnonzero(random.random(len(given)) < share):
        own, answer = given[place].case, Answer(end, words="out of luck")
        given[place] = Answered(own, answer, judge(own.operation, own.expectation, answer))
    return explain(given)


@cache
def right_answers() -> tuple[Answered, ...]:
    """Return what a right runtime answers, which no test changes."""
    return tuple(answered(FakeRuntime(), asked(Level.DEFAULT, DIV_14)))


class ByLot(FakeRuntime):
    """It multiplies floats by the reciprocal in some calls, drawn by lot."""

    def __init__(self, share: float) -> None:
        self._random, self._share = np.random.default_rng(5), share

    def quotients(self, operation: Operation, a: Array, b: Array) -> Any:
        inverts = a.dtype == np.float32 and self._random.random() < self._share
        return by_reciprocal(a, b) if inverts else super().quotients(operation, a, b)


def test_what_passing_cases_refute_is_told_with_their_number() -> None:
    """It is no cause, even if it predicts the bits of deviating cases."""
    cases = answered(ByLot(0.5), [case for case in of_type(FLOAT) if case.id.matches("*/run-time operands")])
    found = explain(cases)
    assert not found.explained
    (told,) = found.refuted
    assert told.cause.name == "arithmetic: a * (1/b)"
    assert set(told.cases) == set(found.unexplained)
    refuting = [one for one in cases if not one.deviates and not predicts(told.cause, one)]
    assert 0 < told.refuting <= len(refuting)


def test_the_remainder_in_which_a_process_dies() -> None:
    """ONNX Runtime's int32: four at a time are divided in double, the rest by an instruction that raises SIGFPE."""
    cases = [one for size in (1, 2, 3, 4, 5, 6, 7, 8, 9, 15, 16, 17, 31) for one in around_minimum(size)]
    found = explain(cases)
    assert names(found) == ["rule: crashed: SIGFPE where MIN / -1 in the remainder after packets of 4"]
    assert not found.unexplained


def around_minimum(size: int) -> Iterator[Answered]:
    """Yield what ONNX Runtime answers to int32 operands with MIN / -1 at some place, and to those without."""
    case = next(case for case in asked(Level.QUICK, DIV_14) if case.element_type is INT32)
    for place in (None, 0, size // 2, size - 1):
        a, b = np.full(size, 7, np.int32), np.full(size, 2, np.int32)
        if place is not None:
            a[place], b[place] = -(2**31), -1
        dies = place is not None and place >= size - size % 4
        quotient = np.where(b == 2, 3, a).astype(np.int32)
        operation, expectation = Operation(DIV_14, {}, (a, b), (False, False)), Expectation(quotient, b == -1)
        own = replace(case, asked=partial(_itself, operation), expected=partial(_itself, expectation))
        answer = Answer(End.CRASHED, words="SIGFPE") if dies else Answer(End.RETURNED, quotient)
        yield Answered(own, answer, judge(own.operation, own.expectation, answer))


def _itself(value: Any) -> Any:
    return value


class TestWritten:
    """A cause is had again from its name and element types, and predicts the very cases that it was given."""

    @pytest.mark.parametrize(
        ("divider", "row"),
        [
            (fake_runtime.FlushesOperands(), DIV_14),
            (fake_runtime.DropsAxis(), DIV_6),
            (fake_runtime.AcceptsAll(), DIV_6),
            (fake_runtime.RaisesAtZero(), DIV_14),
            (fake_runtime.IgnoresFloor(), DIVIDE_1),
        ],
        ids=lambda value: type(value).__name__ if isinstance(value, FakeRuntime) else "",
    )
    def test_read_back(self, divider: FakeRuntime, row: Any) -> None:
        found = explained(divider, row, "float", "int32", "int64")
        causes = [written(one.cause.name, one.cause.element_types) for one in found.explained]
        assert [cause.name for cause in causes] == names(found)
        for cause, own in zip(causes, found.explained, strict=True):
            assert own.cases
            assert all(predicts(cause, one, causes) for one in own.cases)

    @pytest.mark.parametrize("name", ["a * (1/b)", "rule: ", "arithmetic: b / a"])
    def test_what_is_no_cause(self, name: str) -> None:
        with pytest.raises(AttributeValueError, match=r"is not a (cause|known way to divide)"):
            written(name, [FLOAT])
