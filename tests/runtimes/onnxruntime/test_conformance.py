"""The conformance suite in ONNX Runtime with the library: no quotient deviates, and nothing ends the process."""

from __future__ import annotations

from vinculum.conformance.cases.case import Level
from vinculum.conformance.run.planning import plan
from vinculum.conformance.run.record import Kind, Selection
from vinculum.conformance.run.suite import survey
from vinculum.onnxruntime import get_library_path

_BEFORE_14, _FROM_7 = ("Div-1", "Div-6", "Div-7", "Div-13"), ("Div-7", "Div-13", "Div-14")
# What only some versions of an operator refuse, and a node does not tell: one schema stands for them all.
ACCEPTED = {
    "an element type that the version does not list": {*_BEFORE_14, "Reciprocal-1", "Reciprocal-6"},
    "axis which the version does not have": {*_FROM_7},
    "broadcast which the version does not have": {*_FROM_7},
    "consumed_inputs that is no list": {"Div-1", "Reciprocal-1"},
    "consumed_inputs which the version does not have": {"Div-6", *_FROM_7, "Reciprocal-6", "Reciprocal-13"},
    "shapes that differ": {"Div-1", "Div-6"},  # as later versions join them, without a broadcast=1
}


def test_every_case_of_the_default_level() -> None:
    """Every quotient is right, and what is accepted and must be refused is one of those."""
    run = survey(plan(f"onnxruntime[operator_library={get_library_path()}]", Selection(Level.DEFAULT)))
    counts = run.counts()
    assert {kind for kind in counts if kind.deviates} == {Kind.ACCEPTED}
    accepted: dict[str, set[str]] = {}
    for result in run.results:
        if result.verdict.kind is Kind.ACCEPTED:
            accepted.setdefault(result.id.scenario, set()).add(result.id.operator)
            assert "broadcast=1" not in result.id.shapes
    assert accepted == ACCEPTED
    assert counts[Kind.EXACT] > 1700
    operators = {result.id.operator for result in run.results if result.verdict.kind is Kind.EXACT}
    assert operators == {f"Div-{version}" for version in (1, 6, 7, 13, 14)} | {
        f"Reciprocal-{version}" for version in (1, 6, 13)
    }
