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
from tests.cases import case
from tests.conformance.arithmetic.answering import answered, asked
from tests.fake_runtime import FakeRuntime
from vinculum.conformance.arithmetic import Answered, Explanation, explain, predicts, written
from vinculum.conformance.cases.case import Expectation, Level
from vinculum.conformance.cases.operation import Operation
from vinculum.conformance.run.judgement import judge
from vinculum.errors import AttributeValueError
from vinculum.sandbox import Answer, End
from vinculum.spec.element_types import DOUBLE, FLOAT, INT32, by_numpy_name
from vinculum.spec.onnx_div import DIV_1, DIV_6, DIV_14
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
        doubles = [case for case in asked(Level.DEFAULT, DIV_14) if case.element_type is DOUBLE]
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
        ("dtype", "wide"),
        [(np.float32, np.float64), (ml_dtypes.bfloat16, np.float32)],
        ids=["float", "bfloat16"],
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
        known = explain(answered(divider, asked(Level.DEFAULT, DIV_14)), [told.cause])
        assert not known.unexplained  # It takes less to recognise a cause than to claim it.


class TestMiniatures:
    """Each fault is one cause, and explains every case that it makes deviate."""

    @pytest.mark.parametrize(
        ("divider", "name"),
        [
            (fake_runtime.MultipliesByReciprocal(), "arithmetic: a * (1/b)"),
            (fake_runtime.FlushesOperands(), "arithmetic: flush(a) / flush(b)"),
            (fake_runtime.FlushesQuotients(), "arithmetic: flush(a / b)"),
            (fake_runtime.ComputesDoubleInFloat(), "arithmetic: a / b computed in float32"),
            (fake_runtime.NarrowsInt64(), "arithmetic: int32(a) / int32(b)"),
            (fake_runtime.Floors(), "arithmetic: floor(a / b)"),
            (fake_runtime.Widens(), "rule: gave int64 where a legal operation"),
            (fake_runtime.RaisesAtZero(), "rule: refused where x / 0"),
            (fake_runtime.GivesLists(), "rule: gave no array where a legal operation"),
            (fake_runtime.FailsWithConstants(), "rule: refused where a constant operand"),
            (fake_runtime.ComputesFloatInFloat16(), "arithmetic: a / b computed in float16"),
            (fake_runtime.CutsBfloat16(), "arithmetic: a / b computed in float32, cut off"),
            (fake_runtime.SaturatesInt64(), "arithmetic: saturate_int32(a) / saturate_int32(b)"),
            (fake_runtime.ComputesInt64InDouble(), "arithmetic: a / b computed in float64"),
            (fake_runtime.TakesUnsignedAsSigned(), "arithmetic: signed(a) / signed(b)"),
            (fake_runtime.RoundsIntegersToNearest(), "arithmetic: nearest(a / b)"),
            (fake_runtime.FoldsOtherwise(), "arithmetic: a * (1/b)"),
        ],
        ids=lambda value: type(value).__name__ if isinstance(value, FakeRuntime) else "",
    )
    def test_one_cause(self, divider: FakeRuntime, name: str) -> None:
        floats = [case for case in asked(Level.DEFAULT, DIV_14) if case.element_type is FLOAT]
        others = [case for case in asked(Level.QUICK, DIV_14) if case.element_type is not FLOAT]
        found = explain(answered(divider, [*floats, *others]))
        assert names(found) == [name]
        assert not found.unexplained

    def test_an_ignored_rounding(self) -> None:
        found = explained(fake_runtime.IgnoresFloor(), DIVIDE_1, "int32", "int8")
        # It does not read the attribute by its other name, where it reads it at all.
        assert names(found) == ["arithmetic: trunc(a / b)", "arithmetic: floor(a / b)"]
        assert not found.unexplained

    def test_an_ignored_axis(self) -> None:
        found = explained(fake_runtime.DropsAxis(), DIV_6)
        assert names(found) == ["rule: axis ignored"]
        assert not found.unexplained

    def test_what_is_accepted(self) -> None:
        found = explained(fake_runtime.AcceptsAll(), DIV_1)
        assert not found.unexplained
        assert "rule: accepted where an element type that the version does not list" in names(found)

    @pytest.mark.parametrize("divider", [fake_runtime.IsNoisy(), fake_runtime.IsOffByAnUlp()])
    def test_what_nothing_predicts_stays_unexplained(self, divider: FakeRuntime) -> None:
        found = explained(divider, DIV_14, "float", "int32")
        deviating = sum(len(one.cases) for one in found.explained) + len(found.unexplained)
        assert len(found.unexplained) > deviating / 2

    def test_what_follows_no_rule(self) -> None:
        for end, share in (*product((End.REFUSED, End.CRASHED), (0.01, 0.1, 0.5)), (End.HUNG, 0.1)):
            with case(end.value, share):
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


class WrongFloats(FakeRuntime):
    """It divides floats of one type as a function says that gets operands and right quotients."""

    def __init__(self, floats: Callable[[Array, Array, Array], Array], dtype: Any = np.float32) -> None:
        self._floats, self._dtype = floats, np.dtype(dtype)

    def quotients(self, operation: Operation, a: Array, b: Array) -> Any:
        right = np.asarray(super().quotients(operation, a, b))
        return self._floats(a, b, right) if a.dtype == self._dtype else right


def at_places(places: Callable[[int], Any], floats: Floats) -> WrongFloats:
    """Return a runtime that divides some elements in another way, chosen by the number of all."""

    def divided(a: Array, b: Array, right: Array) -> Array:
        chosen = np.zeros(right.size, np.bool_)
        chosen[places(right.size)] = True
        return np.where(chosen.reshape(right.shape), floats(a, b), right)

    return WrongFloats(divided)


def estimated(a: Array, b: Array, right: Array) -> Array:
    """Return products with estimates of reciprocals, improved by one step of Newton's."""
    mantissa, exponent = np.frexp(b.astype(np.float64))
    estimate = np.ldexp(np.round(2048 / mantissa) / 2048, -exponent).astype(np.float32)
    better = estimate * (np.float32(2) - b * estimate)
    return np.where((b == 0) | ~np.isfinite(better), right, a * better)


class ByLot(FakeRuntime):
    """It multiplies floats by the reciprocal in some calls, drawn by lot."""

    def __init__(self, share: float) -> None:
        self._random, self._share = np.random.default_rng(5), share

    def quotients(self, operation: Operation, a: Array, b: Array) -> Any:
        inverts = a.dtype == np.float32 and self._random.random() < self._share
        return by_reciprocal(a, b) if inverts else super().quotients(operation, a, b)


class WrongInTheSecondCall(FakeRuntime):
    """It is wrong in the second call only."""

    calls = 0

    def quotients(self, operation: Operation, a: Array, b: Array) -> Any:
        self.calls += a.dtype == np.float32
        right = super().quotients(operation, a, b)
        return right * np.float32(1.001) if self.calls == 2 else right


def saturated(a: Array, b: Array, right: Array) -> Array:
    overflows = np.isinf(right) & np.isfinite(a) & (b != 0)
    return np.where(overflows, np.copysign(np.finfo(a.dtype).max, right), right)


class TestRefuted:
    """What passing cases of the same circumstances refute is no cause, even if it predicts bits of deviating ones."""

    @pytest.mark.parametrize(
        "divider",
        [
            WrongFloats(lambda a, b, right: np.where(right == 0, np.zeros_like(right), right)),
            WrongFloats(saturated, np.float16),
            WrongFloats(estimated),
            WrongFloats(lambda a, b, right: np.where(a == b, np.float32(1), right)),
            ByLot(0.5),
            ByLot(0.05),
            WrongInTheSecondCall(),
        ],
        ids=["+0 for -0", "MAX for overflow", "estimates", "x / x = 1", "race", "rare race", "second call"],
    )
    def test_no_cause(self, divider: FakeRuntime) -> None:
        found = explained(divider, DIV_14, "float", "float16", "int32")
        assert found.unexplained
        assert names(found) == []

    def test_how_many_refute_it_is_counted(self) -> None:
        divider = ByLot(0.5)
        cases = answered(divider, [case for case in asked(Level.DEFAULT, DIV_14) if case.element_type is FLOAT])
        found = explain(cases)
        (told,) = found.refuted
        assert told.cause.name == "arithmetic: a * (1/b)"
        assert set(told.cases) == set(found.unexplained)
        refuting = [one for one in cases if not one.deviates and not predicts(told.cause, one)]
        assert 0 < told.refuting <= len(refuting)

    def test_rounding_toward_zero_is_named(self) -> None:
        def cut(a: Array, b: Array, right: Array) -> Array:
            beyond = np.abs(right.astype(np.float64)) > np.abs(a.astype(np.float64) / b)
            return np.where(beyond, np.nextafter(right, np.float32(0)), right)

        found = explained(WrongFloats(cut), DIV_14, "float", "int32")
        assert names(found) == ["arithmetic: a / b computed in float64, cut off"]
        assert found.explained[0].cause.statement == "cut off instead of rounded"
        assert not found.unexplained


class TestPlaces:
    """What depends on the position of an element, or on the number of all, is named by it."""

    @pytest.mark.parametrize(
        ("places", "name"),
        [
            (lambda size: slice(size - size % 8, size), "the remainder after packets of 8"),
            (lambda size: slice(0, size - size % 8), "packets of 8"),
        ],
        ids=["remainder", "packets"],
    )
    def test_arithmetic(self, places: Callable[[int], Any], name: str) -> None:
        found = explained(at_places(places, by_reciprocal), DIV_14, "float", "int32")
        assert names(found) == [f"arithmetic: a * (1/b) where {name}"]
        assert not found.unexplained
        cause = written(names(found)[0], [FLOAT])
        assert all(predicts(cause, one) for one in found.explained[0].cases)

    @pytest.mark.parametrize(
        ("places", "name"),
        [
            (lambda size: slice(0, size if size % 8 == 7 else 0), "tensors of 8 k + 7 elements"),
            (lambda size: slice(size - 1, size), "the last element"),
        ],
        ids=["length", "last"],
    )
    def test_where_no_arithmetic_is_known(self, places: Callable[[int], Any], name: str) -> None:
        random = np.random.default_rng(1)
        noisy = at_places(places, lambda a, b: random.standard_normal(a.shape).astype(a.dtype))
        found = explained(noisy, DIV_14, "float", "int32")
        assert names(found) == [f"rule: wrong quotients where {name}"]
        assert not found.unexplained
        cause = written(names(found)[0], [FLOAT])
        assert all(predicts(cause, one) for one in found.explained[0].cases)

    def test_the_remainder_in_which_a_process_dies(self) -> None:
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

    def test_a_cause_predicts_nothing_of_a_right_runtime(self) -> None:
        cause = explained(fake_runtime.MultipliesByReciprocal(), DIV_14, "float").explained[0].cause
        floats = [case for case in asked(Level.DEFAULT, DIV_14) if case.element_type is FLOAT]
        right = [one for one in right_answers() if predicts(cause, one)]
        wrong = [one for one in answered(fake_runtime.MultipliesByReciprocal(), floats) if predicts(cause, one)]
        assert len(right) < len(wrong)
        assert not predicts(cause, next(one for one in answered(FakeRuntime(), asked(Level.QUICK, DIV_14))))

    @pytest.mark.parametrize("name", ["a * (1/b)", "rule: ", "arithmetic: b / a"])
    def test_what_is_no_cause(self, name: str) -> None:
        with pytest.raises(AttributeValueError, match=r"is not a (cause|known way to divide)"):
            written(name, [FLOAT])
