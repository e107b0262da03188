"""What is made of what a runtime hands out: one wrong bit is found, and nothing that it hands out ends us."""

from __future__ import annotations

from typing import Any, cast

import numpy as np
import pytest
from numpy.typing import NDArray

from vinculum.conformance.audit.recomputation import merged, record
from vinculum.conformance.audit.record import NodeRecord
from vinculum.conformance.audit.taps import NOT_TAKEN, Layout, Source, Tap
from vinculum.conformance.cases.operation import Operation
from vinculum.conformance.run.verdict import Kind
from vinculum.models.execution import Division
from vinculum.sandbox import Answer, End, Isolated
from vinculum.spec.rows import find

FLAT = Layout.AS_THEY_ARE


class Divides:
    """A runtime that divides floats exactly when it is asked alone."""

    def call(self, method: str, operation: Operation) -> Answer:
        assert method == "answer"
        return Answer(End.RETURNED, np.divide(*operation.operands))


def recorded(layout: Layout, *handed_out: NDArray[Any]) -> NodeRecord:
    sources = tuple(Source(place=place) for place in range(len(handed_out)))
    tap = Tap(Division("ratio", "", find("Div")), {}, sources, layout=layout)
    return record(tap, {}, handed_out, cast(Isolated, Divides()))


class TestWrongQuotients:
    """Issue 4, item 8: recomputed exactly from the same operands; a bit that is not right is told."""

    @pytest.mark.parametrize("index", [(0, 0), (1, 2)])
    @pytest.mark.parametrize("layout", [Layout.AS_THEY_ARE, Layout.STACKED])
    def test_one_ulp(self, layout: Layout, index: tuple[int, int]) -> None:
        a = np.arange(1, 7, dtype=np.float32).reshape(2, 3)
        quotient = a / np.float32(3)
        quotient[index] = np.nextafter(quotient[index], np.float32(0))
        node = recorded(layout, a, np.full_like(a, 3), quotient)
        assert node.verdict is not None
        assert (node.verdict.kind, node.verdict.differing, node.verdict.largest) == (Kind.ULPS, 1, 1)
        assert node.verdict.example is not None
        assert node.verdict.example.index == index
        assert node.alone is not None
        assert node.alone.kind is Kind.EXACT

    def test_in_a_branch(self) -> None:
        a, shape = np.arange(1, 5, dtype=np.float32), np.array([2, 2])
        node = recorded(Layout.BRANCH, a, shape, a, shape, np.array([1, 1, 2, 1], np.float32), shape)
        assert node.verdict is not None
        assert (node.verdict.kind, node.verdict.differing) == (Kind.WRONG_VALUE, 1)
        assert node.verdict.example is not None
        assert node.verdict.example.index == (1, 0)


class TestSeveralRuns:
    """The worst verdict, and the sums of what each run counts."""

    def test_the_largest_error_is_that_of_all(self) -> None:
        found = []
        for ulps in (1, 5, 2):
            a = np.arange(1, 7, dtype=np.float32)
            quotient = a / np.float32(3)
            quotient.view(np.int32)[3] -= ulps
            found.append(recorded(FLAT, a, np.full_like(a, 3), quotient))
        verdict = merged(found)
        assert verdict is not None
        assert (verdict.kind, verdict.elements, verdict.differing) == (Kind.ULPS, 18, 3)
        assert (verdict.largest, verdict.ulps) == (5, {0: 1, 1: 1, 2: 1})

    def test_the_worst_kind(self) -> None:
        a = np.ones(2, np.float32)
        wrong, right = recorded(FLAT, a, a, a * 0), recorded(FLAT, a, a, a)
        verdict = merged([right, wrong, right])
        assert verdict is not None
        assert (verdict.kind, verdict.elements, verdict.differing) == (Kind.WRONG_VALUE, 6, 2)


class TestNonsense:
    """A runtime may hand out anything: there is no verdict then, and the reason is told."""

    @pytest.mark.parametrize("shape", [np.array([7, 7]), np.array([[2], [2]]), np.array(4), np.array([-9])])
    def test_shapes_of_a_branch(self, shape: NDArray[np.int64]) -> None:
        a, right = np.ones(4, np.float32), np.array([2, 2])
        node = recorded(Layout.BRANCH, a, shape, a, right, a, right)
        assert (node.verdict, node.unobserved) == (None, "the exposed shapes contradict each other")

    def test_a_branch_that_is_not_taken(self) -> None:
        none, shape = np.empty(0, np.float32), np.array(NOT_TAKEN)
        assert recorded(Layout.BRANCH, none, shape, none, shape, none, shape).unobserved == "it is not executed"

    def test_a_stack_of_nothing(self) -> None:
        a = np.ones((), np.float32)
        node = recorded(Layout.STACKED, a, a, a)
        assert (node.verdict, node.unobserved) == (None, "the exposed shapes contradict each other")

    def test_operands_that_do_not_divide(self) -> None:
        node = recorded(FLAT, np.ones(2, np.float32), np.ones(3, np.float32), np.ones(3, np.float32))
        assert node.verdict is None
        assert "its operands cannot be divided" in str(node.unobserved)

    def test_operands_of_two_types(self) -> None:
        node = recorded(FLAT, np.ones(2, np.float32), np.ones(2, np.float16), np.ones(2, np.float32))
        assert node.verdict is None
        assert "its operands cannot be divided" in str(node.unobserved)
