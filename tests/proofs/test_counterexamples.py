"""Each file of ``proofs/counterexamples`` refutes what SONNX's accuracy note claims, and keeps what holds instead."""

from __future__ import annotations

import math
import tomllib
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from proofs.checking.statements import Statements
from vinculum.reference.accuracy import error_bounds
from vinculum.spec.element_types import by_name

PROOFS = Path(__file__).parents[2] / "proofs"
FILES = sorted((PROOFS / "counterexamples").glob("*.toml"))
ORDER = ("propagated error", "introduced error")  # of the bounds of vinculum.reference


def sides(formula: str, operands: dict[str, str]) -> tuple[Fraction, str, Fraction]:
    """Return both sides of a formula for operands, and the relation that it claims."""
    a, b, a_err, b_err = (Fraction(operands[name]) for name in ("a", "b", "a_err", "b_err"))
    names = {"A": a, "B": b, "A_err": a_err, "B_err": b_err, "C_err": (a + a_err) / (b + b_err) - a / b}
    left, relation, right = formula.partition(" <= " if " <= " in formula else " = ")
    known = {**names, "truncated": math.trunc, "abs": abs, "__builtins__": {}}
    return Fraction(eval(left, known)), relation.strip(), Fraction(eval(right, known))


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
class TestCounterexample:
    """The claim of the note, by how much it is wrong, and the theorems."""

    @pytest.fixture
    def stated(self, file: Path) -> dict[str, Any]:
        return tomllib.loads(file.read_text(encoding="utf-8"))

    def test_the_claim_fails_and_its_correction_holds(self, stated: dict[str, Any]) -> None:
        error, relation, claimed = sides(stated["claimed_formula"], stated["operands"])
        same_error, same_relation, corrected = sides(stated["corrected_formula"], stated["operands"])
        assert claimed < error == same_error
        assert relation == same_relation
        assert error == corrected if relation == "=" else error <= corrected
        a, b, a_err, b_err = (Fraction(stated["operands"][name]) for name in ("a", "b", "a_err", "b_err"))
        bounds = error_bounds(a, b, abs(a_err), abs(b_err), by_name(stated["element_type"]))
        reference = bounds[ORDER.index(stated["quantity"])]
        assert reference is not None
        assert reference >= corrected
        assert {name: Fraction(value) for name, value in stated["values"].items()} == {
            "claimed_bound": claimed,
            "true_error": error,
            "corrected_bound": corrected,
            "reference_bound": reference,
        }

    @pytest.mark.parametrize("key", ["refuted_by", "corrected_by"])
    def test_its_theorems_are_stated(self, stated: dict[str, Any], key: str) -> None:
        assert Statements(PROOFS).words(stated[key])


def test_every_theorem_about_the_note_has_its_file() -> None:
    published = {line.split()[1] for line in (PROOFS / "statements.txt").read_text(encoding="utf-8").splitlines()}
    refuting = {tomllib.loads(file.read_text(encoding="utf-8"))["refuted_by"] for file in FILES}
    assert refuting == {name for name in published if name.startswith("accuracy_published.")}
