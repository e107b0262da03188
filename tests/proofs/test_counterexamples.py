"""A true error exceeds each wrong bound of the published accuracy note and keeps within the corrected one."""

from __future__ import annotations

import math
import tomllib
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

import pytest

from vinculum.reference.accuracy import Bound, error_bounds
from vinculum.spec.element_types import by_name

PROOFS = Path(__file__).parents[2] / "proofs"
FILES = sorted((PROOFS / "counterexamples").glob("*.toml"))
HALF = Fraction(1, 2)
Formula = Callable[[Fraction, Fraction, Fraction, Fraction], Fraction]


@dataclass(frozen=True)
class Statement:
    """What the note claims and what holds instead, as functions of A, B, A_err and B_err; which of our bounds it is."""

    claimed: Formula
    true_error: Formula
    corrected: Formula
    ours: int


def propagated(a: Fraction, b: Fraction, a_err: Fraction, b_err: Fraction) -> Fraction:
    """Return how far the errors of the operands move the exact quotient."""
    return abs((a + a_err) / (b + b_err) - a / b)


def introduced(a: Fraction, b: Fraction, _a_err: Fraction, _b_err: Fraction) -> Fraction:
    """Return what truncation takes off the quotient."""
    return abs(math.trunc(a / b) - a / b)


STATEMENTS = {
    "integer_introduced_error": Statement(
        claimed=lambda _a, _b, _a_err, _b_err: HALF,
        true_error=introduced,
        corrected=lambda _a, b, _a_err, _b_err: 1 - 1 / abs(b),
        ours=1,
    ),
    "propagated_error_bound": Statement(
        claimed=lambda a, b, a_err, b_err: (abs(a_err) + abs(a * b_err / b)) / (abs(b) * abs(b + b_err)),
        true_error=propagated,
        corrected=lambda a, b, a_err, b_err: (abs(a_err) + abs(a / b) * abs(b_err)) / abs(b + b_err),
        ours=0,
    ),
    "propagated_error_expression": Statement(
        claimed=lambda a, b, a_err, b_err: abs((a_err * b - b_err * a) / (b * b * (b + b_err))),
        true_error=propagated,
        corrected=lambda a, b, a_err, b_err: abs((a_err * b - a * b_err) / (b * (b + b_err))),
        ours=0,
    ),
}


@dataclass(frozen=True)
class Counterexample:
    """One file: the operands and the four values that it states, and the theorems that it names."""

    statement: Statement
    operands: tuple[Fraction, Fraction, Fraction, Fraction]
    reference: Bound
    values: dict[str, Fraction]
    theorems: tuple[str, str]


def counterexample(file: Path) -> Counterexample:
    """Read a file; a claim without a formula in this test is an error."""
    data = tomllib.loads(file.read_text(encoding="utf-8"))
    statement = STATEMENTS[file.stem]
    a, b, a_err, b_err = (Fraction(data["operands"][name]) for name in ("a", "b", "a_err", "b_err"))
    bounds = error_bounds(a, b, abs(a_err), abs(b_err), by_name(data["element_type"]))
    values = {name: Fraction(text) for name, text in data["values"].items()}
    theorems = data["refuted_by"], data["corrected_by"]
    return Counterexample(statement, (a, b, a_err, b_err), bounds[statement.ours], values, theorems)


def test_every_wrong_statement_has_its_file() -> None:
    assert {file.stem for file in FILES} == set(STATEMENTS)


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
class TestCounterexample:
    """readings.md, 'Numeric accuracy': what the note states, and by how much it is wrong."""

    def test_the_true_error_exceeds_the_claim(self, file: Path) -> None:
        case = counterexample(file)
        assert case.statement.true_error(*case.operands) > case.statement.claimed(*case.operands)

    def test_the_true_error_keeps_within_the_corrected_bounds(self, file: Path) -> None:
        case = counterexample(file)
        corrected = case.statement.corrected(*case.operands)
        assert case.reference is not None
        assert case.statement.true_error(*case.operands) <= corrected <= case.reference

    def test_the_file_states_the_values(self, file: Path) -> None:
        case = counterexample(file)
        assert case.values == {
            "claimed_bound": case.statement.claimed(*case.operands),
            "true_error": case.statement.true_error(*case.operands),
            "corrected_bound": case.statement.corrected(*case.operands),
            "reference_bound": case.reference,
        }

    def test_its_theorems_are_stated_by_the_theories(self, file: Path) -> None:
        for title in counterexample(file).theorems:
            theory, module, goal = title.split(".")
            text = (PROOFS / "theories" / f"{theory}.mlw").read_text(encoding="utf-8")
            of_the_module = text.partition(f"module {module}\n")[2].partition("\nend\n")[0]
            assert any(f"{keyword} {goal}" in of_the_module for keyword in ("goal", "let ghost", "lemma")), title
