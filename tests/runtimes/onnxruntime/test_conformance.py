"""The conformance suite in ONNX Runtime with the library: no quotient deviates, and nothing ends the process."""

from __future__ import annotations

from vinculum.conformance.cases.case import Level
from vinculum.conformance.execute.planning import plan
from vinculum.conformance.execute.run import Selection
from vinculum.conformance.execute.suite import survey
from vinculum.conformance.oracle.verdict import Kind
from vinculum.onnxruntime import get_library_path


def test_every_case_of_the_default_level() -> None:
    """One schema stands for all versions of an operator, so what only some of them refuse is accepted."""
    run = survey(plan(f"onnxruntime[operator_library={get_library_path()}]", Selection(Level.DEFAULT)))
    counts = run.counts()
    assert {kind for kind in counts if kind.deviates} <= {Kind.ACCEPTED}
    assert counts[Kind.EXACT] > 1700
    operators = {result.id.operator for result in run.results if result.verdict.kind is Kind.EXACT}
    assert operators == {f"Div-{version}" for version in (1, 6, 7, 13, 14)} | {
        f"Reciprocal-{version}" for version in (1, 6, 13)
    }
