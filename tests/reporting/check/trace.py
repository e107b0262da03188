"""The page and the JSON of a trace."""

from __future__ import annotations

from dataclasses import replace
from math import inf, nan

from rich.constrain import Constrain

from tests.reporting.check.findings import HOSTILE, LIBRARY, OWN
from tests.reporting.printing import Told
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


# Each as a sentence.
WHY = (
    EVENT,
    OVERFLOW,
    replace(EVENT, operator="Log", operands=EVENT.operands[:1]),
    replace(EVENT, operator="Reciprocal", operands=EVENT.operands[1:], kind=Kind.ZERO_DIVISOR, result=inf),
    replace(EVENT, element_type="int64", kind=Kind.ZERO_DIVISOR),
    replace(EVENT, operator="MatMul", operands=(Operand(X), Operand(X))),
)
EFFECTS = (Effect("y", "NaN", 2),)
OURS, SAME = EngineTrace("vinculum", (OVERFLOW, EVENT), EFFECTS), EngineTrace("vinculum", (EVENT,), EFFECTS)
DIED = EngineTrace("onnxruntime 1.2", (), (), "crashed: SIGFPE", died=True)
BAD = replace(EVENT, node=HOSTILE, scope=HOSTILE, path=(HOSTILE, HOSTILE), operator=HOSTILE)

TOLD: Told = {
    "why": lambda _: "\n".join(map(why, WHY)),
    "two engines": lambda _: page(traced(OURS, DIED, inputs=(HOLDS,)), INPUTS, 7),
    "two engines, as JSON": lambda _: as_json(traced(OURS, DIED, inputs=(HOLDS,)), INPUTS, 7),
    "the same in both": lambda _: page(traced(SAME, replace(SAME, engine="onnxruntime"))),
    "nothing": lambda _: page(traced(EngineTrace("vinculum", (), ()))),
    "lines that fold": lambda _: Constrain(page(traced(SAME)), 40),
    "hostile names": lambda _: page(traced(EngineTrace("vinculum", (BAD,), (Effect(HOSTILE, "NaN", 1),), ""))),
}
