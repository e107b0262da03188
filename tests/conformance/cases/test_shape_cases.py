"""Pairs of shapes, against the rules and the documents' examples; a wrong alignment of any two ranks shows."""

from __future__ import annotations

import numpy as np
import pytest

from tests.cases import case as subcase
from tests.conformance.asking import answered, asked
from tests.fake_runtime import Array, FakeRuntime
from vinculum.conformance.cases.case import Level
from vinculum.conformance.cases.operation import Operation
from vinculum.conformance.cases.shape_cases import SHAPE_PAIRS
from vinculum.errors import AttributeValueError, BroadcastError
from vinculum.spec.model import Broadcasting
from vinculum.spec.rows import ROWS
from vinculum.tensors.broadcasting import join

RANKS = range(6)


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


def is_caught(divider: FakeRuntime, title: str, only: str = "*") -> bool:
    """Return whether a divider fails a case of float in which quotients are expected."""
    row = next(row for row in ROWS if row.title == title)
    chosen = (case for case in asked(Level.DEFAULT, row) if case.id.matches(f"{title}/float/*{only}*"))
    expected = (case for case in chosen if case.expectation.quotient is not None)
    return any(one.deviates for case in expected for one in answered(divider, [case]))


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

    def test_a_right_divider_passes(self) -> None:
        assert not any(is_caught(FakeRuntime(), title) for title in ("Div-6", "Div-14", "Divide-1"))
