"""A division's label, and its errors."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from vinculum.errors import DivisionByZeroError, ElementTypeError
from vinculum.models.execution import Division, DivisionRecord, RunContext
from vinculum.ops.policies import Policies
from vinculum.spec.element_types import INT32
from vinculum.spec.onnx_div import DIV_14

ONES = np.ones(2, np.int32)


class TestLabel:
    """A message names the node, its operator version, and where it stands."""

    def test_at_the_top_and_below(self) -> None:
        assert Division("d", "", DIV_14).label == "node 'd' (Div-14)"
        assert Division("d", "If:then_branch", DIV_14).label == "node 'd' (Div-14 in If:then_branch)"

    def test_on_one_line_whatever_the_names(self) -> None:
        assert "\n" not in Division("a\nb", "c\nd", DIV_14).label

    def test_the_representation_is_short(self) -> None:
        division = Division("d", "", DIV_14, INT32, (("N", 2), None, ("N", 2)))
        assert repr(division) == "<node 'd' (Div-14): int32 (N, 2), of any rank, (N, 2)>"


class TestErrors:
    """Our own errors keep class, count and index, and gain the node's name."""

    def test_a_zero_divisor(self) -> None:
        def fail(dividend: object, divisor: object) -> NDArray[Any]:
            raise DivisionByZeroError("3 zeros", count=3, first_index=(1, 2))

        with pytest.raises(DivisionByZeroError, match=r"^node 'd' \(Div-14\): 3 zeros$") as caught:
            RunContext(Policies()).divide(Division("d", "", DIV_14), ONES, ONES, fail)
        assert (caught.value.count, caught.value.first_index) == (3, (1, 2))
        assert isinstance(caught.value, ZeroDivisionError)

    def test_the_advice_stays_at_the_end(self) -> None:
        def fail(dividend: object, divisor: object) -> NDArray[Any]:
            raise DivisionByZeroError("3 zeros", count=3, first_index=(1, 2), advice="go on so")

        with pytest.raises(DivisionByZeroError) as caught:
            RunContext(Policies()).divide(Division("d", "", DIV_14), ONES, ONES, fail)
        assert str(caught.value) == "node 'd' (Div-14): 3 zeros; go on so"
        caught.value.advice = "or so"
        assert str(caught.value) == "node 'd' (Div-14): 3 zeros; or so"

    def test_others_pass_unlabelled(self) -> None:
        def fail(dividend: object, divisor: object) -> NDArray[Any]:
            raise KeyboardInterrupt

        with pytest.raises(KeyboardInterrupt):
            RunContext(Policies()).divide(Division("d", "", DIV_14), ONES, ONES, fail)

    def test_no_observer_sees_a_failed_division(self) -> None:
        seen: list[DivisionRecord] = []

        def fail(dividend: object, divisor: object) -> NDArray[Any]:
            raise ElementTypeError("no")

        with pytest.raises(ElementTypeError):
            RunContext(Policies(), seen.append).divide(Division("d", "", DIV_14), ONES, ONES, fail)
        assert seen == []
