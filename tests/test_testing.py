"""`vinculum.testing`: its public names, and the example in its docstring."""

from __future__ import annotations

import inspect
from pathlib import Path

import pytest

from vinculum import testing
from vinculum.conformance.cases.case import Level
from vinculum.conformance.run.planning import plan
from vinculum.conformance.run.record import Selection
from vinculum.conformance.run.suite import survey
from vinculum.sandbox import CrashedError, UnsupportedError


def test_public_names() -> None:
    assert testing.__all__ == ["Crashed", "Divider", "Operation", "Unsupported"]
    assert (testing.Crashed, testing.Unsupported) == (CrashedError, UnsupportedError)
    assert testing.Operation.__name__ == "Operation"


def test_the_example(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It divides by a package, for which NumPy stands in."""
    _, _, source = inspect.cleandoc(testing.__doc__ or "").partition("\n\n")
    (tmp_path / "my_package.py").write_text("from numpy import divide\n")
    (tmp_path / "my_divider.py").write_text(f"import my_package\n{inspect.cleandoc(source)}\n")
    monkeypatch.chdir(tmp_path)
    report = survey(
        plan("my_divider:Divider", Selection(Level.QUICK, ("Div-14/float/*", "Divide-1/float/*"))), workers=1
    )
    assert {result.verdict.kind.name for result in report.results if "Div-14" in str(result.id)} >= {"EXACT"}
    assert {r.verdict.said for r in report.results if str(r.id).startswith("Divide-1")} == {
        "only Div, without attributes"
    }
