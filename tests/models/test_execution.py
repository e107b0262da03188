"""A division's label, its errors, and the limits of trial runs."""

from __future__ import annotations

from collections.abc import Callable
from time import sleep
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from vinculum.errors import DivisionByZeroError, ElementTypeError
from vinculum.models.execution import (
    Division,
    DivisionRecord,
    LimitError,
    RunContext,
    check_bytes,
    check_time,
    limited,
    waiting,
    work_time,
)
from vinculum.ops.policies import Policies
from vinculum.spec.element_types import INT32
from vinculum.spec.onnx_div import DIV_14

ONES = np.ones(2, np.int32)


class TestLabel:
    """A message names the node, its operator version, and where it stands."""

    def test_on_one_line_whatever_the_names(self) -> None:
        assert "\n" not in Division("a\nb", "c\nd", DIV_14).label

    def test_the_representation_is_short(self) -> None:
        division = Division("d", "", DIV_14, INT32, (("N", 2), None, ("N", 2)))
        assert repr(division) == "<node 'd' (Div-14): int32 (N, 2), of any rank, (N, 2)>"


def failing(error: BaseException) -> Callable[..., Any]:
    """Return a division that fails."""

    def fail(dividend: object, divisor: object) -> NDArray[Any]:
        raise error

    return fail


class TestErrors:
    """Our own errors keep class, count and index, and gain the node's name."""

    DIVISION = Division("d", "", DIV_14)

    def test_a_zero_divisor(self) -> None:
        error = DivisionByZeroError("3 zeros", count=3, first_index=(1, 2), advice="go on so")
        with pytest.raises(DivisionByZeroError) as caught:
            RunContext(Policies()).divide(self.DIVISION, ONES, ONES, failing(error))
        assert (caught.value.count, caught.value.first_index) == (3, (1, 2))
        assert isinstance(caught.value, ZeroDivisionError)
        assert str(caught.value) == "node 'd' (Div-14): 3 zeros; go on so"  # The advice stays at the end.
        caught.value.advice = "or so"
        assert str(caught.value) == "node 'd' (Div-14): 3 zeros; or so"

    @pytest.mark.parametrize("error", [KeyboardInterrupt(), ElementTypeError("no")], ids=repr)
    def test_no_observer_sees_a_failed_division(self, error: BaseException) -> None:
        seen: list[DivisionRecord] = []
        with pytest.raises(type(error)):
            RunContext(Policies(), seen.append).divide(self.DIVISION, ONES, ONES, failing(error))
        assert seen == []


def test_limits_hold_inside_the_block_only() -> None:
    with limited(60.0, 5):
        check_time()
        check_bytes(5)
        with limited(-1.0, 6):
            check_bytes(6)
            with pytest.raises(LimitError):
                check_time()
        with pytest.raises(LimitError, match="6 bytes"):
            check_bytes(6)
        check_time()
    check_time()
    check_bytes(10**18)


def test_what_another_process_is_waited_for_is_work() -> None:
    before = work_time()
    with waiting():
        sleep(0.05)
    assert work_time() - before > 0.04
