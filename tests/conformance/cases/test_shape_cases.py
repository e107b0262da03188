"""Pairs of shapes, against the rules and the documents' examples; a wrong alignment of any two ranks shows."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import pytest

from tests.cases import case as subcase
from tests.fake_runtime import Array, FakeRuntime
from vinculum.conformance.cases.case import Case, Level
from vinculum.conformance.cases.enumeration import cases
from vinculum.conformance.cases.operation import Operation
from vinculum.conformance.cases.shape_cases import SHAPE_PAIRS, shape_pairs, shape_words
from vinculum.conformance.cases.values import dividends, divisors
from vinculum.conformance.run.judgement import judge
from vinculum.errors import AttributeValueError, BroadcastError, VinculumError
from vinculum.sandbox import Answer, End
from vinculum.spec.element_types import FLOAT, INT32
from vinculum.spec.model import Broadcasting
from vinculum.spec.onnx_div import DIV_1, DIV_6
from vinculum.spec.openvino_divide import DIVIDE_1
from vinculum.spec.rows import ROWS
from vinculum.spec.sonnx_div import DIV_INT
from vinculum.tensors.broadcasting import join

DOCUMENTED = (2, 3, 4, 5)
RANKS = range(6)


def words(row: Any) -> set[str]:
    """Return what the ids call the shape pairs of a row."""
    return {shape_words(shapes, len(row.inputs)) for shapes in shape_pairs(row)}


class TestThePairs:
    """They say of each pair of shapes what the rule says."""

    @pytest.mark.parametrize("rule", SHAPE_PAIRS, ids=lambda rule: rule.name)
    def test_the_rule_joins_what_they_say(self, rule: Broadcasting) -> None:
        for entry in SHAPE_PAIRS[rule]:
            with subcase(entry):
                if entry.aligned is None:
                    with pytest.raises((BroadcastError, AttributeValueError)):
                        join(rule, entry.dividend, entry.divisor, entry.attributes.get("axis"))
                    continue
                alignment = join(rule, entry.dividend, entry.divisor, entry.attributes.get("axis"))
                assert alignment.shape == np.broadcast_shapes(entry.dividend, entry.aligned)
                # The divisor's dimensions that are not repeated stand where NumPy has them.
                aligned = (1,) * (len(alignment.shape) - len(entry.aligned)) + entry.aligned
                repeated = [size != 1 and at == 1 for size, at in zip(alignment.shape, aligned, strict=True)]
                for size, at, along in zip(alignment.shape, repeated, alignment.b, strict=True):
                    assert size == 1 or at == (along is None)

    @pytest.mark.parametrize("rule", SHAPE_PAIRS, ids=lambda rule: rule.name)
    def test_every_rule_has_both_kinds(self, rule: Broadcasting) -> None:
        assert {entry.aligned is None for entry in SHAPE_PAIRS[rule]} == {True, False}

    @pytest.mark.parametrize("rule", [Broadcasting.LIMITED, Broadcasting.PDPD], ids=lambda rule: rule.name)
    @pytest.mark.parametrize("element_type", [FLOAT, INT32], ids=str)
    def test_a_wrong_axis_shows(self, rule: Broadcasting, element_type: Any) -> None:
        """Laid at any other place where its shape fits too, the divisor gives other quotients."""
        places = 0
        for entry in SHAPE_PAIRS[rule]:
            if entry.aligned is None or len(entry.divisor) in (0, len(entry.dividend)) or 0 in entry.dividend:
                continue
            a, b = dividends(entry.dividend, element_type), divisors(entry.divisor, element_type)
            if b.size == 1:
                continue
            right = a // b.reshape(entry.aligned)
            for trailing in range(len(entry.dividend) - len(entry.divisor) + 1):
                aligned = entry.divisor + (1,) * trailing
                onto = entry.dividend[len(entry.dividend) - len(aligned) :][: len(entry.divisor)]
                same_place = aligned == entry.aligned[len(entry.aligned) - len(aligned) :] and len(aligned) >= len(
                    entry.aligned
                )
                if onto == entry.divisor and not same_place:
                    places += 1
                    assert not np.array_equal(a // b.reshape(aligned), right), entry
        assert places >= 2


class MisalignsRanks(FakeRuntime):
    """It lays the operand of lower rank at the first dimensions, where two ranks meet and it fits there."""

    def __init__(self, ranks: tuple[int, int]) -> None:
        self._ranks = ranks

    def laid(self, operation: Operation) -> tuple[Array, Array]:
        a, b = operation.operands
        if (a.ndim, b.ndim) != self._ranks or operation.attributes.get("axis") not in (None, -1):
            return super().laid(operation)
        a, b = (x.reshape(x.shape + (1,) * (max(self._ranks) - x.ndim)) for x in (a, b))
        joined, other = np.broadcast_arrays(a, b)
        return joined, other


class DropsAxisOfRanks(FakeRuntime):
    """It lays the divisor at the last dimensions, whatever the axis, where two ranks meet."""

    def __init__(self, ranks: tuple[int, int]) -> None:
        self._ranks = ranks

    def axis(self, operation: Operation) -> int | None:
        a, b = operation.operands
        return None if (a.ndim, b.ndim) == self._ranks else super().axis(operation)


@cache
def of_default_level(title: str) -> list[Case]:
    """Return the cases of float that the default level runs of an operator version."""
    return [case for case in cases(Level.DEFAULT) if case.id.matches(f"{title}/float/*")]


def is_caught(divider: FakeRuntime, title: str, only: str = "*") -> bool:
    """Return whether a divider fails a case of float in which quotients are expected."""
    for case in of_default_level(title):
        if case.expectation.quotient is not None and case.id.matches(f"*{only}*"):
            try:
                answer = Answer(End.RETURNED, divider.answer(case.operation))
            except (VinculumError, ValueError) as error:
                answer = Answer(End.REFUSED, str(error))
            if not judge(case.operation, case.expectation, answer).kind.passes:
                return True
    return False


class TestEveryPairOfRanks:
    """At the default level a wrong alignment of any two ranks gives wrong quotients, a wrong shape, or is refused."""

    @pytest.mark.parametrize("ranks", [(a, b) for a in RANKS for b in RANKS if a != b and min(a, b)], ids=str)
    def test_multidirectional(self, ranks: tuple[int, int]) -> None:
        assert is_caught(MisalignsRanks(ranks), "Div-14")
        assert is_caught(MisalignsRanks(ranks), "Divide-1")

    @pytest.mark.parametrize("ranks", [(a, b) for a in RANKS for b in range(1, a)], ids=str)
    def test_onto_the_dividend(self, ranks: tuple[int, int]) -> None:
        assert is_caught(MisalignsRanks(ranks), "Div-6", "broadcast=1")
        assert is_caught(MisalignsRanks(ranks), "Divide-1", "auto_broadcast=pdpd")
        assert is_caught(DropsAxisOfRanks(ranks), "Div-6")
        assert is_caught(DropsAxisOfRanks(ranks), "Divide-1")

    @pytest.mark.parametrize("title", ["Div-1", "Div-6", "Div-14", "Divide-1", "SONNX Div (float)"])
    def test_square_shapes_of_all_ranks_are_there(self, title: str) -> None:
        """Fits or refusals: each is decided by the rule that is asked."""
        level = Level.FULL if title == "Div-1" else Level.DEFAULT
        (row,) = (row for row in ROWS if row.title == title)
        met = {
            tuple(operand.ndim for operand in case.operation.operands)
            for case in cases(level, [row])
            if case.element_type is FLOAT and all({3} >= set(x.shape) for x in case.operation.operands)
        }
        assert met >= {(a, b) for a in RANKS for b in RANKS}

    def test_a_right_divider_passes(self) -> None:
        assert not any(is_caught(FakeRuntime(), title) for title in ("Div-6", "Div-14", "Divide-1"))


class TestTheDocumentsExamples:
    """They are among the shape pairs."""

    @pytest.mark.parametrize("row", [DIV_1, DIV_6], ids=lambda row: row.title)
    def test_div_6(self, row: Any) -> None:
        expected = [
            "a scalar, broadcast=1",
            "(1, 1), broadcast=1",
            "(5,), broadcast=1",
            "(4, 5), broadcast=1",
            "(3, 4), broadcast=1, axis=1",
            "(2,), broadcast=1, axis=0",
        ]
        assert {f"{DOCUMENTED} by {divisor}" for divisor in expected} <= words(row)

    def test_divide_1(self) -> None:
        expected = [
            f"{DOCUMENTED} by (3, 4), auto_broadcast=pdpd, axis=1",
            f"{DOCUMENTED} by (3, 1), auto_broadcast=pdpd, axis=1",
            f"{DOCUMENTED} by (4, 5), auto_broadcast=pdpd, axis=-1",
            f"{DOCUMENTED} by (4, 5), auto_broadcast=pdpd, axis=2",
            f"{DOCUMENTED} by (5,), auto_broadcast=pdpd, axis=3",
            f"{DOCUMENTED} by (1, 3), auto_broadcast=pdpd, axis=0",
            "(8, 1, 6, 1) by (7, 1, 5), auto_broadcast=pdpd, axis=1",
            "(8, 1, 6, 1) by (7, 1, 5)",
        ]
        assert set(expected) <= words(DIVIDE_1)


class TestWhatARowSelects:
    """A row has the shape pairs of the rules that its attributes select, and writes down what selects them."""

    def test_each_rule_of_several(self) -> None:
        written = {shapes.attributes.get("auto_broadcast") for shapes in shape_pairs(DIVIDE_1)}
        assert written == {None, "none", "numpy", "pdpd"}

    def test_an_axis_without_broadcast_is_onnx_own(self) -> None:
        alone = {
            row.title for row in ROWS for shapes in shape_pairs(row) if shapes.tried == "an axis without broadcast"
        }
        assert alone == {"Div-1", "Div-6"}

    def test_sonnx_joins_equal_shapes_only(self) -> None:
        assert all(shapes.aligned in (None, shapes.dividend) for shapes in shape_pairs(DIV_INT))
