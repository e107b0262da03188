"""How bad a verdict is."""

from __future__ import annotations

import pytest

from vinculum.conformance.oracle.verdict import Kind, Verdict
from vinculum.reporting.conformance.severity import Severity, severity, worst_severity


@pytest.mark.parametrize(
    ("ulps", "expected"), [(1, Severity.ULPS), (255, Severity.ULPS), (256, Severity.WRONG), (2**30, Severity.WRONG)]
)
def test_of_ulps(ulps: int, expected: Severity) -> None:
    assert severity(Verdict(Kind.ULPS, largest=ulps)) is expected


def test_the_worst_of_several() -> None:
    kinds = [Kind.EXACT, Kind.REFUSED, Kind.ULPS, Kind.WRONG_VALUE, Kind.HUNG]
    expected = [Severity.OK, Severity.REFUSED, Severity.ULPS, Severity.WRONG, Severity.FATAL]
    verdicts = [Verdict(kind, largest=1) for kind in kinds]
    assert [worst_severity(verdicts[: k + 1]) for k in range(len(kinds))] == expected
