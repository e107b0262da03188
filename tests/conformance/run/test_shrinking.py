"""What a reproducer asks: as few numbers as still show the verdict, and as many as that takes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from tests import fake_runtime
from tests.conformance.judging import case
from tests.fake_runtime import FakeRuntime
from vinculum.conformance.cases.case import Case
from vinculum.conformance.cases.operation import Operation
from vinculum.conformance.run.judgement import judge
from vinculum.conformance.run.suite import shrunk
from vinculum.conformance.run.verdict import Kind
from vinculum.sandbox import Answer, End
from vinculum.spec.element_types import FLOAT, INT32
from vinculum.spec.onnx_div import DIV_6, DIV_14

MANY = 40


class Dies(FakeRuntime):
    """It dies of a zero divisor; the test's process is spared."""

    def look(self, operation: Operation) -> None:
        if np.any(operation.operands[-1] == 0):
            raise SystemExit


def asking(runtime: FakeRuntime, seen: list[Operation]) -> Callable[[Operation], Answer]:
    """Return what asks a runtime in this process and keeps what it was asked."""

    def answer(operation: Operation) -> Answer:
        seen.append(operation)
        try:
            return Answer(End.RETURNED, runtime.answer(operation))
        except SystemExit:
            return Answer(End.CRASHED, None, "SIGFPE")
        except Exception as error:
            return Answer(End.REFUSED, None, str(error))

    return answer


def told(runtime: FakeRuntime, one: Case) -> tuple[list[Any], list[Operation]]:
    """Return the operands that are told, and what the runtime was asked for that."""
    seen: list[Operation] = []
    answer = asking(runtime, seen)
    verdict = judge(one.operation, one.expectation, answer(one.operation))
    assert not verdict.kind.passes
    operation = shrunk(one.operation, one.expectation, verdict, answer) or one.operation
    return [operand.tolist() for operand in operation.operands], seen[1:]


class TestOneNumberEach:
    """The operands keep their shapes and hold one number each where the runtime does the same with them."""

    def test_a_wrong_quotient(self) -> None:
        one = case(INT32, [[6, -7, 8], [2, 2, 2]], [3, -3, 4])
        operands, asked = told(fake_runtime.Floors(), one)
        assert operands == [[-7] * 3, [2] * 3]
        assert len(asked) == 1

    def test_a_death(self) -> None:
        divisors = [1] * MANY
        divisors[7] = 0
        unspecified = np.array(divisors) == 0
        one = case(INT32, [range(MANY), divisors], range(MANY), unspecified=unspecified)
        operands, asked = told(Dies(), one)
        assert operands == [[7] * MANY, [0] * MANY]
        assert len(asked) == 1

    def test_a_refusal(self) -> None:
        one = case(INT32, [range(MANY), [3] * MANY], [n // 3 for n in range(MANY)])

        class Refuses(FakeRuntime):
            def look(self, operation: Operation) -> None:
                raise ValueError("no such thing")

        assert told(Refuses(), one)[0] == [[0] * MANY, [3] * MANY]

    def test_what_is_accepted(self) -> None:
        """Operands that do not fit, and an attribute that is not there."""
        wide = case(INT32, [range(MANY), [3, 2]], None)
        assert told(fake_runtime.AcceptsAll(), wide)[0] == [[0] * MANY, [3, 3]]
        axis = case(INT32, [range(1, MANY), [2]], None, attributes={"axis": 0})
        assert told(fake_runtime.AcceptsAll(), axis)[0] == [[1] * (MANY - 1), [2]]


class FailsOnce(fake_runtime.Floors):
    """It floors the first operation only."""

    asked = 0

    def quotients(self, operation: Operation, a: Any, b: Any) -> Any:
        self.asked += 1
        return super().quotients(operation, a, b) if self.asked == 1 else FakeRuntime.quotients(self, operation, a, b)


class TestAllNumbers:
    """Where one number each shows something else, or would take long, the operation stays as it is."""

    def test_operands_laid_in_a_wrong_way(self) -> None:
        dividends = np.arange(9).reshape(3, 3)
        quotients = dividends // np.array([[1], [2], [3]])
        one = case(INT32, [dividends, [1, 2, 3]], quotients, spec=DIV_6, attributes={"broadcast": 1, "axis": 0})
        operands, asked = told(fake_runtime.DropsAxis(), one)
        assert operands == [dividends.tolist(), [1, 2, 3]]
        assert len(asked) == 1

    def test_a_wrong_quotient_that_does_not_come_again(self) -> None:
        one = case(INT32, [[6, -7, 8], [2, 2, 2]], [3, -3, 4])
        operands, asked = told(FailsOnce(), one)
        assert operands == [[6, -7, 8], [2, 2, 2]]
        assert len(asked) == 1

    def test_another_wrong_quotient(self) -> None:
        class Adds(FakeRuntime):
            def quotients(self, operation: Operation, a: Any, b: Any) -> Any:
                return super().quotients(operation, a, b) + np.int32(len(np.unique(a)))

        one = case(INT32, [[6, 7, 8], [2, 2, 2]], [3, 3, 4])
        assert told(Adds(), one)[0] == [[6, 7, 8], [2, 2, 2]]

    def test_another_refusal(self) -> None:
        class Minds(FakeRuntime):
            def look(self, operation: Operation) -> None:
                raise ValueError(f"{len(set(operation.operands[0].tolist()))} numbers")

        one = case(FLOAT, [range(MANY), [1.0] * MANY], range(MANY))
        assert told(Minds(), one)[0][0] == list(range(MANY))

    def test_a_few_numbers_are_told_as_they_are(self) -> None:
        one = case(INT32, [[1, 2], [0, 1]], [0, 2], unspecified=[True, False], spec=DIV_14)
        assert told(Dies(), one) == ([[1, 2], [0, 1]], [])

    @pytest.mark.parametrize("end", [End.HUNG, End.OUT_OF_MEMORY])
    def test_what_lasts_is_not_asked_again(self, end: End) -> None:
        one = case(INT32, [range(MANY), [1] * MANY], range(MANY))
        verdict = judge(one.operation, one.expectation, Answer(end, None, "too much"))
        assert verdict.kind in (Kind.HUNG, Kind.OUT_OF_MEMORY)
        assert shrunk(one.operation, one.expectation, verdict, lambda _: pytest.fail("asked again")) is None
