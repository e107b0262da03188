"""What the terminal shows of findings, and JSON."""

from __future__ import annotations

from dataclasses import replace
from datetime import date
from math import inf
from typing import Any

from tests.reporting.check.findings import ALL, AT_INPUTS, HOSTILE, finding, triage
from tests.reporting.printing import Told
from vinculum.analysis.findings import Search, Severity
from vinculum.analysis.triage import Suppression, sorted_out
from vinculum.reporting.check.page import as_json, page

LONG = tuple(f"v{n}" for n in range(40))
# Of twelve layers the first is told as it is, with five more names, and how many there are.
LAYERS = [finding(node=f"layer_{n}", fingerprint=str(n), cause="model.py:12") for n in range(12)]
SHOWN = (
    finding(Severity.WITNESSED, witness=replace(AT_INPUTS, kind="definition")),
    finding(Severity.WITNESSED, witness=replace(AT_INPUTS, effects=(), confirmed_by=()), cause="model.py:1"),
    finding(Severity.WITNESSED, witness=replace(AT_INPUTS, effects=AT_INPUTS.effects * 4), cause="model.py:2"),
    finding(rule="quotient-overflow", element_type="float16", search=Search(0, 0.0, "an input is missing")),
    finding(
        element_type="float16",
        search=Search(5, inf, "time is up"),
        scope="If:then_branch",
        detail={"least_epsilon": "1"},
    ),
)
ACCEPTED = Suppression("never empty", date(2030, 1, 1), fingerprint=ALL[0].fingerprint)
EXPIRED = Suppression("for the release", date(2026, 1, 1), rule="zero-over-zero")
SEEN = frozenset({("bert.onnx", ALL[1].fingerprint)})
SORTED = sorted_out(triage(*ALL[:3]).report, "bert.onnx", [ACCEPTED], SEEN, date(2026, 1, 1))


def named(name: str) -> Any:
    """Return the page on a finding all of whose names are one."""
    return page(triage(finding(node=name, divisor=name, scope=name, path=(name, name)), model=name))


TOLD: Told = {
    "every severity": lambda _: page(triage(*ALL, Unheard=3)),
    "every severity, as JSON": lambda _: as_json(triage(*ALL, Unheard=3)),
    "other witnesses and searches": lambda _: page(triage(*SHOWN)),
    "a long path": lambda _: page(triage(finding(path=LONG))),
    "hostile names": lambda _: named(HOSTILE),
    "very long names": lambda _: named("n" * 10_000),
    "findings that are alike": lambda _: page(
        triage(*LAYERS, finding(node="head", fingerprint="99", cause="model.py:30"))
    ),
    "suppressed, and in the baseline": lambda _: page(SORTED),
    "suppressed, and in the baseline, as JSON": lambda _: as_json(SORTED),
    "an expired suppression": lambda _: page(
        sorted_out(triage(ALL[0]).report, "m.onnx", [EXPIRED], today=date(2026, 2, 1))
    ),
}
