"""Cases of shapes: a wrong alignment of any two ranks fails a case."""

from __future__ import annotations

import numpy as np
import pytest

from tests.conformance.asking import answered, asked
from tests.fake_runtime import Array, FakeRuntime
from vinculum.conformance.cases.case import Level
from vinculum.conformance.cases.operation import Operation
from vinculum.spec.rows import ROWS

RANKS = range(6)


class MisalignsRanks(FakeRuntime):
    """For two given ranks it aligns the operand of lower rank at the first dimensions, if it fits there."""

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
    """For two given ranks it ignores the axis."""

    def __init__(self, ranks: tuple[int, int]) -> None:
        self._ranks = ranks

    def axis(self, operation: Operation) -> int | None:
        a, b = operation.operands
        return None if (a.ndim, b.ndim) == self._ranks else super().axis(operation)


def is_caught(divider: FakeRuntime, title: str, only: str = "*") -> bool:
    """Tell whether a divider fails a case of float that expects quotients."""
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
