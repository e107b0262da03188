"""What the terminal and JSON tell of a trace: everything at every width, and no name obeyed."""

from __future__ import annotations

import json
from dataclasses import replace
from math import inf, nan

import pytest

from tests.cases import case
from tests.reporting.check.findings import HOSTILE, LIBRARY, OWN
from tests.reporting.printing import printed
from vinculum.analysis.findings import Effect
from vinculum.analysis.tracing.record import EngineTrace, Event, Kind, Operand, Summary, TraceReport
from vinculum.reporting.check.trace import as_json, page, why
from vinculum.reporting.models.run import InputReport

X = Summary("x", "float32", (2, 3), 1, 0, 0, 0.0, 3.0, 24)
HOLDS = Summary("mask", "float32", (2, 3), 0, 2, 1, -1.0, inf, 24)
EVENT = Event(
    Kind.NAN,
    "ratio",
    "Div",
    "",
    3,
    "y",
    (1, 0),
    nan,
    2,
    6,
    "float32",
    (Operand(X, (1, 0), 0.0), Operand(replace(X, name="d"), (1, 0), 0.0)),
    ("mask", "d", "y"),
    (OWN, LIBRARY),
)
OVERFLOW = replace(
    EVENT,
    kind=Kind.INFINITY,
    operator="Mul",
    result=inf,
    operands=(Operand(X, (1, 0), 3e38), Operand(X, (1, 0), 10.0)),
    place=1,
)


INPUTS = (InputReport("x", "float", (2, 3), "seed", None, {}),)


def traced(*traces: EngineTrace, inputs: tuple[Summary, ...] = ()) -> TraceReport:
    return TraceReport(inputs, traces, 5, "model.onnx")


class TestWhy:
    """A node, what it was given, and what came of it, in a sentence."""

    def test_sentences(self) -> None:
        for event, words in (
            (EVENT, "0 / 0 = nan at (1, 0), in 2 of 6 places."),
            (OVERFLOW, "3e+38 * 10 = inf at (1, 0), in 2 of 6 places; the largest float32 is 3.40282e+38."),
            (replace(EVENT, operator="Log", operands=EVENT.operands[:1]), "Log(0) = nan at (1, 0), in 2 of 6 places."),
            (
                replace(EVENT, operator="Reciprocal", operands=EVENT.operands[1:], kind=Kind.ZERO_DIVISOR, result=inf),
                "1 / 0 = inf at (1, 0), in 2 of 6 places.",
            ),
            (replace(EVENT, element_type="int64", kind=Kind.ZERO_DIVISOR), "0 / 0 at (1, 0), in 2 of 6 places."),
            (
                replace(EVENT, operator="MatMul", operands=(Operand(X), Operand(X))),
                "it makes NaN at (1, 0), in 2 of 6 places.",
            ),
        ):
            with case(words):
                assert why(event) == words


class TestPage:
    """Each engine, its events, its outputs."""

    @pytest.mark.parametrize("width", [40, 80, 120])
    def test_every_width(self, width: int) -> None:
        ours = EngineTrace("vinculum", (OVERFLOW, EVENT), (Effect("y", "NaN", 2),))
        theirs = EngineTrace("onnxruntime 1.2", (), (), "crashed: SIGFPE", died=True)
        told = "".join("".join(printed(page(traced(ours, theirs, inputs=(HOLDS,)), INPUTS, 7), width)).split())
        for words in (
            "model.onnx: 5 nodes, inputs drawn from seed 7",
            "Input 'mask' itself holds NaN in 2 places and infinities in 1 place.",
            "first infinity ratio (Mul)",
            "first NaN ratio (Div) /home/someone/project/export.py:20",
            "d: 0 at (1, 0); float32 (2, 3) in [0, 3], 1 zero",
            "Path: mask -> d -> y",
            "Output 'y': NaN in 2 places.",
            "In onnxruntime 1.2",
            "It crashed: crashed: SIGFPE.",
        ):
            assert "".join(words.split()) in told

    def test_the_same_is_said_once(self) -> None:
        both = [EngineTrace(name, (EVENT,), (Effect("y", "NaN", 2),)) for name in ("vinculum", "onnxruntime")]
        lines = printed(page(traced(*both)), 120)
        assert sum("0 / 0" in line for line in lines) == 1
        assert "The same nodes go wrong, at the same elements." in "\n".join(lines)

    def test_lines_that_fold_stay_below_their_node(self) -> None:
        lines = printed(page(traced(EngineTrace("vinculum", (EVENT,)))), 40)
        (first,) = (place for place, line in enumerate(lines) if "0 / 0" in line)
        assert [line for line in lines[first:] if not line.startswith("    ")] == []

    def test_hostile_names(self) -> None:
        bad = replace(EVENT, node=HOSTILE, scope=HOSTILE, path=(HOSTILE, HOSTILE), operator=HOSTILE)
        shown = traced(EngineTrace("vinculum", (bad,), (Effect(HOSTILE, "NaN", 1),), ""))
        assert "".join(printed(page(shown))).isprintable()

    def test_json_has_no_infinities(self) -> None:
        data = as_json(traced(EngineTrace("vinculum", (EVENT, OVERFLOW)), inputs=(HOLDS,)), INPUTS, 7)
        read = json.loads(json.dumps(data, allow_nan=False))
        assert [event["result"] for event in read["engines"][0]["events"]] == ["nan", "inf"]
        assert read["inputs_not_finite"][0]["high"] == "inf"
