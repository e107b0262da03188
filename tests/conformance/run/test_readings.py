"""Readings are of clauses on which the document is silent, and say so of deviations only."""

from __future__ import annotations

from vinculum.conformance.run.verdict import READINGS
from vinculum.spec.rows import ROWS


def test_they_are_of_silence() -> None:
    clauses = [clause for spec in ROWS for clause in spec.clauses]
    for tag, kinds in READINGS.items():
        own = [clause for clause in clauses if clause.tag == tag]
        assert any("the specification is silent here" in clause.basis for clause in own), tag
        assert kinds
        assert all(kind.deviates for kind in kinds)
