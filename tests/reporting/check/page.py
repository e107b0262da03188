"""The page and the JSON of findings."""

from __future__ import annotations

from dataclasses import replace
from datetime import date
from math import inf
from typing import Any

from onnx import ModelProto

from tests.analysis import hazardous
from tests.reporting.check.findings import ALL, AT_INPUTS, HOSTILE, finding, triage
from tests.reporting.printing import Told
from vinculum.analysis import check
from vinculum.analysis.accuracy import Accuracy, Bound
from vinculum.analysis.findings import Search, Severity
from vinculum.analysis.places import explained
from vinculum.analysis.triage import Suppression, sorted_out
from vinculum.repair.fixing import Comparison, Fix, Fixed, Remedy
from vinculum.repair.fixing.remedies import Where
from vinculum.reporting.check.page import as_json, explanation, fix_page, page

LONG = tuple(f"v{n}" for n in range(40))
# Of twelve layers, the first is shown in full, and five others by name.
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
    """Return the page on a finding that has one name for everything."""
    return page(triage(finding(node=name, divisor=name, scope=name, path=(name, name)), model=name))


BOUND = Bound("ratio", "Div", "float32", 1e-7, 3e-8, 1.3e-7)
NONE = replace(BOUND, name="inverse", total=inf, reason="node 'inverse' (Div): the result can be infinite or NaN")
ACCURACY = Accuracy((BOUND, NONE), (replace(BOUND, name="y"), replace(NONE, name="z")))
RAISED = Remedy(Where.OPERAND, "Max(divisor, 1)", "the divisor is not zero")
FIXES = (
    *(Fix(finding(node=f"n{number}"), RAISED, "", is_fixed=True) for number in range(5)),
    Fix(finding(rule="epsilon-lost"), replace(RAISED, equal=""), "", is_fixed=True),
    Fix(finding(rule="integers-through-float"), None, "no guard helps", is_fixed=False),
)
LEFT = triage(finding(), finding()).report
RUNS = Comparison(9, 4, 2, 2, "output 'y' differs", witnesses=2, still_shown=1)
FIXED = Fixed(ModelProto(), FIXES, LEFT, RUNS)
ALL_FIXED = Fixed(ModelProto(), FIXES[:1], triage().report, Comparison(3, 2, 1, witnesses=1))


def explained_mean(_: int) -> Any:
    model = hazardous.masked_mean()
    report = check(model, assume=["mask=0|1", "x=-1:1"], runs=0)
    return explanation("mean", explained(model, report.values, "mean"))


TOLD: Told = {
    "every severity": lambda _: page(triage(*ALL, Unheard=3)),
    "every severity, as JSON": lambda _: as_json(triage(*ALL, Unheard=3)),
    "other witnesses and searches": lambda _: page(triage(*SHOWN)),
    "bounds of errors": lambda _: page(triage(), accuracy=ACCURACY),
    "bounds of errors, as JSON": lambda _: as_json(triage(), accuracy=ACCURACY),
    "fixes": lambda _: page(triage(), fixed=FIXED),
    "all is fixed": lambda _: fix_page(ALL_FIXED),
    "nothing is run": lambda _: fix_page(replace(ALL_FIXED, comparison=Comparison(reason="nothing was changed"))),
    "fixes, as JSON": lambda _: as_json(triage(), fixed=FIXED),
    "how bounds come about": explained_mean,
    "from data": lambda _: page(triage(), ("x", "mask")),
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
