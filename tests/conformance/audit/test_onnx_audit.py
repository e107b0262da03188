"""ONNX models: every division of theirs is found, observed and held against the exact quotient."""

from __future__ import annotations

from collections.abc import Callable
from errno import ENOSPC
from typing import Any

import numpy as np
import pytest

from tests.conformance.audit.models import ALWAYS, FLOAT, INT64, ROWS, Row, f32, loop, ratio, told, verdict_on
from tests.fake_runtime import (
    DiesOfIntegers,
    DropsAxis,
    EverySecondSessionIsOff,
    FakeRuntime,
    RaisesAtZero,
    Sleeps,
)
from tests.models.built_models import text_model
from vinculum.conformance.audit.record import Audit
from vinculum.conformance.run.verdict import Kind
from vinculum.errors import ModelError
from vinculum.sandbox import End

Audited = Callable[..., Audit]


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.what)
def test_what_is_told_of_every_division(audited: Audited, row: Row) -> None:
    """Wherever it stands it is observed, or it is said why not; what is exact is exact, and no output changes."""
    found = audited(row.model, FakeRuntime, row.given)
    assert told(found) == row.expected
    assert (found.changed, found.plain.end, found.exposed.end, found.finds) == ((), End.RETURNED, End.RETURNED, False)


def test_what_is_told_besides(audited: Audited) -> None:
    """The shapes of operands, the version, and hazards in the values that are used."""
    rows = {row.what: row for row in ROWS}

    def nodes(what: str) -> tuple[Any, ...]:
        return audited(rows[what].model, FakeRuntime, rows[what].given).nodes

    assert [one.shapes for one in nodes("every source of an operand")][1:3] == [((2, 2), (1,)), ((1,), (1,))]
    assert [one.division.operator for one in nodes("operator set 7")] == ["Div-7"]
    assert [one.division.operator for one in nodes("operator set 21")] == ["Div-14"]
    assert nodes("an input with a value of its own")[0].hazards[0].first == (1,)
    assert nodes("that input given")[0].hazards[0].first == (0,)
    assert audited(rows["Div-6 with an axis"].model, DropsAxis, rows["Div-6 with an axis"].given).finds


def test_what_cannot_be_stacked(audited: Audited) -> None:
    """What grows from iteration to iteration: the model runs as it is, and that is said."""
    nodes = f"{loop('c', grows=True)} [outer] d = Div(a, a)"
    model = text_model(nodes, "int64 count, float[1] a", "float[] c, float[1] d", constants=ALWAYS)
    found = told(audited(model, FakeRuntime, {"count": np.array(3), "a": f32([2])}))
    why = "inside the body of a Loop; ONNX Runtime does not run the model with its divisions exposed: refused ("
    assert found.pop("Loop:body inner").startswith(why)
    assert found == {"outer": "exact 1"}


class TestNotExact:
    """Quotients that are not exact are counted, measured, and the first is shown with its bits."""

    def test_a_reciprocal(self, audited: Audited) -> None:
        model = text_model("c = Reciprocal(a)", "float[4] a", "float[4] c", opset=13)
        given = {"a": np.array([3, 0, 1e-40, 2], np.float32)}
        found = audited(model, FakeRuntime, given)
        (node,), verdict = found.nodes, verdict_on(found)
        assert (node.division.name, node.division.operator, verdict.kind) == ("c", "Reciprocal-13", Kind.EXACT)
        assert [(h.what, h.count, h.first) for h in node.hazards] == [
            ("divisor zero", 1, (1,)),
            ("divisor subnormal", 1, (2,)),
            ("quotient overflows", 1, (2,)),
        ]


class TestExposure:
    """Whether exposing divisions changes the model's outputs is told."""

    def test_a_runtime_that_does_not_repeat_itself(self, audited: Audited) -> None:
        model = ratio(FLOAT, 2)
        found = audited(model, EverySecondSessionIsOff, {"a": f32([3, 4]), "b": f32([2, 2])})
        (sentence,) = found.changed
        assert "output 'c' differs" in sentence


class TestFiles:
    """Old operator sets, data in other files, and inputs that have values of their own."""

    def test_a_full_disk(self, audited: Audited, monkeypatch: pytest.MonkeyPatch) -> None:
        def full(*_: object) -> None:
            raise OSError(ENOSPC, "No space left on device")

        monkeypatch.setattr("vinculum.conformance.audit.audit.write_model", full)
        model = ratio(FLOAT, 2)
        with pytest.raises(ModelError, match=r"exposed cannot be written: .*No space left"):
            audited(model, FakeRuntime, dict.fromkeys("ab", f32([1, 2])))


class TestZeroAndOverflow:
    """Integers divided by zero and MIN/-1: what the runtime did is recorded, or how it died, and of which node."""

    def test_what_it_dies_of_is_named(self, audited: Audited) -> None:
        nodes = "[harmless] ones = Div(b, b) [fatal] c = Div(a, b) d = Add(c, ones)"
        model = text_model(nodes, "int64[2] a, int64[2] b", "int64[2] d")
        found = audited(model, DiesOfIntegers, {"a": np.array([4, -(2**63)]), "b": np.array([2, -1])})
        assert (found.exposed.end, found.exposed.words, found.finds) == (End.CRASHED, "SIGFPE", True)
        suspect, operands = found.suspects
        assert operands == "'fatal' divides -9223372036854775808 / -1 at (1,), in shape (2,)"
        assert "node 'fatal' (Div-14)" in suspect
        assert "MIN/-1" in suspect
        assert "(1,)" in suspect
        assert [node.verdict for node in found.nodes] == [None, None]

    def test_zero_divisors(self, audited: Audited) -> None:
        model = ratio(INT64, 3)
        given = {"a": np.array([4, 6, 8]), "b": np.array([2, 0, 0])}
        refused = audited(model, RaisesAtZero, given)
        assert (refused.exposed.end, refused.finds) == (End.REFUSED, True)
        assert "first at index (1,)" in refused.suspects[0]
        found = audited(model, FakeRuntime, given)
        assert verdict_on(found).kind is Kind.UNSPECIFIED
        assert [(h.what, h.count, h.first) for h in found.nodes[0].hazards] == [("divisor zero", 2, (1,))]

    def test_a_run_that_takes_too_long(self, audited: Audited) -> None:
        model = ratio(INT64, 1)
        found = audited(model, Sleeps, {"a": np.array([-(2**63)]), "b": np.array([3])}, seconds=1.0)
        assert (found.exposed.end, found.finds) == (End.HUNG, True)
