"""What is said of runtimes: the statements of the causes of their deviations, and how the rest is divided."""

from __future__ import annotations

from typing import Any

import pytest

from tests import fake_runtime
from tests.conformance.arithmetic.answering import answered, asked
from vinculum.conformance.arithmetic import Answered, explain
from vinculum.conformance.cases.case import Level
from vinculum.conformance.fingerprint import Line, fingerprint, lines
from vinculum.conformance.run.planning import plan
from vinculum.conformance.run.record import Selection
from vinculum.spec.onnx_div import DIV_7, DIV_14


def answers(divider: Any, *element_types: str) -> list[Answered]:
    chosen = [case for case in asked(Level.DEFAULT, DIV_14) if case.element_type.name in element_types]
    return answered(divider, chosen)


def told(divider: Any, *element_types: str) -> list[Line]:
    """Return what is said of a runtime that kills no process."""
    given = answers(divider, *element_types)
    return list(lines(given, explain(given)))


def deviations(found: list[Line]) -> set[tuple[str, str]]:
    return {(", ".join(line.element_types), line.statement) for line in found if line.deviates}


class TestLines:
    """Each cause of a deviation is a line, and nothing else is marked."""

    def test_a_right_runtime(self) -> None:
        found = told(fake_runtime.FakeRuntime(), "float", "int32", "uint8")
        assert not deviations(found)
        said = {line.statement: line.element_types for line in found if not line.deviates}
        assert said["correctly rounded"] == ("float",)
        assert said["exact"] == ("int32", "uint8")
        assert said["x/0 gives 0"] == ("int32", "uint8")
        assert said["MIN/-1 gives MIN"] == ("int32",)

    def test_what_is_not_specified_is_told_but_not_marked(self) -> None:
        found = told(fake_runtime.Saturates(), "uint8")
        assert not deviations(found)
        assert "x/0 gives MAX for x > 0" in {line.statement for line in found}

    def test_what_is_not_supported(self) -> None:
        assert told(fake_runtime.LacksBfloat16(), "bfloat16") == [Line(("bfloat16",), "not supported")]

    @pytest.mark.parametrize(
        ("divider", "element_type", "statement"),
        [
            (
                fake_runtime.MultipliesByReciprocal(),
                "float",
                "computed as a * (1/b), a multiplication by the reciprocal",
            ),
            (
                fake_runtime.FlushesOperands(),
                "float",
                "flushes subnormal numbers to zero, else correctly rounded; subnormal operands count as zero",
            ),
            (fake_runtime.ComputesDoubleInFloat(), "double", "computed in float"),
            (fake_runtime.TakesUnsignedAsSigned(), "uint8", "operands taken as signed"),
            (fake_runtime.RaisesAtZero(), "float", "refused for x / 0: division\nby zero"),
        ],
        ids=lambda value: type(value).__name__ if isinstance(value, fake_runtime.FakeRuntime) else "",
    )
    def test_a_cause(self, divider: Any, element_type: str, statement: str) -> None:
        found = told(divider, element_type)
        assert deviations(found) == {(element_type, statement)}
        wrong = any(one.verdict.example for one in answers(divider, element_type) if one.deviates)
        assert [line.example is not None for line in found if line.deviates] == [wrong]

    def test_constants_are_told_apart(self) -> None:
        (line,) = deviations(told(fake_runtime.FoldsOtherwise(), "float"))
        assert line[1].endswith("a multiplication by the reciprocal (with a constant divisor, constant operands)")

    def test_what_is_refuted(self) -> None:
        found = deviations(told(fake_runtime.LosesTheSignOfZero(), "float"))
        assert any("consistent with: " in said and "passing cases refute it" in said for _, said in found)

    def test_what_nothing_explains(self) -> None:
        ((types, statement),) = deviations(told(fake_runtime.IsOffByAnUlp(), "float"))
        assert (types, statement.partition(" ")[2]) == ("float", "cases deviate for no known cause")


class TestSelection:
    """The newest operators are asked; a runtime that has none of them is asked all that it has."""

    def test_newest(self) -> None:
        found = fingerprint(plan("tests.fake_runtime:FloorsInt8", Selection(Level.QUICK)))
        assert deviations(list(found.lines)) == {("int8", "rounded down")}
        assert 0 < found.cases < len(asked(Level.QUICK))

    def test_older(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(fake_runtime.DividesInt8, "covers", lambda self, operation: operation.spec is DIV_7)
        planned = plan("tests.fake_runtime:DividesInt8", Selection(Level.QUICK, ("Div-7/int*",)))
        assert fingerprint(planned).cases == len(list(planned.cases))
