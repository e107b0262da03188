"""Planning a run: its runtime and cases. Errors in the request are raised here, before anything runs."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path

from vinculum.conformance.cases.case import Case, Level
from vinculum.conformance.cases.enumeration import cases
from vinculum.conformance.run.record import Selection
from vinculum.conformance.runtimes.backends import GIVEN, check_usable, parsed, runtime
from vinculum.conformance.runtimes.protocol import Runtime
from vinculum.conformance.vectors.answers import GivenAnswers
from vinculum.errors import AttributeValueError
from vinculum.spec.onnx_div import DIV_14
from vinculum.spec.onnx_reciprocal import RECIPROCAL_13
from vinculum.spec.openvino_divide import DIVIDE_1
from vinculum.text import listed


@dataclass(frozen=True, eq=False)
class Plan:
    """One run of the suite that has been checked and can begin.

    - `backend`: The name of the runtime as requested.
    - `runtime`: The runtime, or the answers that a program wrote.
    - `cases`: The selected cases that the runtime covers, generated lazily; they can be iterated once. Given answers
      have their own.
    - `total`: The number of cases; 0 if it is not known in advance.
    """

    backend: str
    runtime: Runtime | GivenAnswers
    selection: Selection
    cases: Iterable[Case]
    total: int = 0


def plan(backend: str, selection: Selection) -> Plan:
    """Return the plan of running the cases that a runtime covers.

    - `backend`: As for `vinculum.conformance.runtimes.backends.runtime`, or ``"answers:DIR"``.

    SpecLookupError, AttributeValueError if no runtime has that name or option, or a pattern matches no case of the
    level. ModelError if its package is not installed, or it does not start.
    """
    name, options = parsed(backend)
    if name.startswith(GIVEN):
        given = GivenAnswers(Path(name.removeprefix(GIVEN)), options)
        return Plan(backend, given, given.selection(selection), ())
    asked = runtime(backend)
    check_usable(backend, asked)
    named = selected(selection) if selection.only else cases(selection.level)
    covered = (case for case in named if asked.covers(case.operation))
    chosen = list(covered) if selection.only else ()
    return Plan(backend, asked, selection, chosen or covered, len(chosen))


def of_newest(planned: Plan) -> Plan:
    """Return the plan of the cases of the newest operators alone; of all cases if it has none of these."""
    covered, newest = list(planned.cases), (DIV_14.title, RECIPROCAL_13.title, DIVIDE_1.title)
    chosen = [case for case in covered if case.id.operator in newest] or covered
    return replace(planned, cases=chosen, total=len(chosen))


def selected(selection: Selection) -> list[Case]:
    """Return the cases of a selection, for any runtime.

    AttributeValueError if a pattern matches no case of the level.
    """
    level, only = selection.level, selection.only
    chosen = [case for case in cases(level) if not only or any(map(case.id.matches, only))]
    idle = [pattern for pattern in only if not any(case.id.matches(pattern) for case in chosen)]
    if idle:
        higher = next((one for one in Level if one > level and any(c.id.matches(idle[0]) for c in cases(one))), None)
        advice = "an id reads 'Div-14/int64/MIN divided by -1/equal shapes/constant divisor', and * stands for anything"
        advice = f"the {higher.value} level has one" if higher else advice
        raise AttributeValueError(f"no case of the {level.value} level matches {listed(idle)}; {advice}")
    return chosen
