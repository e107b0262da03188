"""What verdicts mean to whoever relies on a runtime: the colours of the reports."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from enum import Enum

from vinculum.conformance.oracle.verdict import Kind, Verdict

_LAST_PLACES = 256  # Ulps; from there on it is no rounding error of the type, as where a double is computed in float.


class Severity(Enum):
    """How bad a verdict is, the worst first."""

    FATAL = "fatal"
    WRONG = "wrong"
    ULPS = "ulps"
    REFUSED = "refused"
    NONE = "none"
    OK = "ok"


OF_KIND: Mapping[Kind, Severity] = {
    **dict.fromkeys((Kind.CRASHED, Kind.HUNG, Kind.OUT_OF_MEMORY), Severity.FATAL),
    **dict.fromkeys((Kind.DIFFERS, Kind.WRONG_VALUE, Kind.ACCEPTED, Kind.WRONG_TYPE, Kind.WRONG_SHAPE), Severity.WRONG),
    Kind.ULPS: Severity.ULPS,
    Kind.REFUSED: Severity.REFUSED,
    Kind.UNSUPPORTED: Severity.NONE,
    **dict.fromkeys((Kind.UNSPECIFIED, Kind.REFUSED_AS_REQUIRED, Kind.EXACT), Severity.OK),
}


def severity(verdict: Verdict) -> Severity:
    """Return how bad a verdict is: quotients that are far off are wrong, whatever they are counted in."""
    far = verdict.kind is Kind.ULPS and (verdict.largest or 0) >= _LAST_PLACES
    return Severity.WRONG if far else OF_KIND[verdict.kind]


def worst_severity(verdicts: Iterable[Verdict]) -> Severity:
    """Return the worst of several."""
    order = list(Severity)
    return min(map(severity, verdicts), key=order.index)
