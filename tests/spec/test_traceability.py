"""The stored table of what each clause rests on: whole, and about the rows as they are."""

from __future__ import annotations

import json

import pytest

from vinculum.spec.model import OperatorSpec
from vinculum.spec.rows import ROWS, find
from vinculum.spec.traceability import DATA, trace

rows = pytest.mark.parametrize("row", ROWS, ids=lambda row: row.title)


@rows
def test_every_clause_of_a_row_is_followed(row: OperatorSpec) -> None:
    traced = trace(row)
    assert traced.title == row.title
    assert [clause.tag for clause in traced.clauses] == [clause.tag for clause in row.clauses]
    for clause in traced.clauses:
        assert bool(clause.theorems) != bool(clause.no_theorem_because), clause.tag
        assert clause.functions, clause.tag
        assert clause.tests, clause.tag


@rows
def test_every_theorem_has_a_prover(row: OperatorSpec) -> None:
    theorems = [theorem for clause in trace(row).clauses for theorem in clause.theorems]
    assert [theorem for theorem in theorems if not theorem.provers] == []
    assert [theorem for theorem in theorems if theorem.seconds is not None and not 0 < theorem.seconds < 60] == []


def test_one_clause_from_end_to_end() -> None:
    traced = trace(find("Div", dialect="sonnx", variant="int"))
    assert (traced.file, traced.constant) == ("src/vinculum/spec/sonnx_div.py", "DIV_INT")
    overflow = next(clause for clause in traced.clauses if clause.tag == "[V1]")
    assert "integer_division.Truncation.only_overflow" in [theorem.name for theorem in overflow.theorems]
    assert "vinculum.ops.policies.raise_exceptions" in overflow.functions
    assert any(test.startswith("tests/documents/test_sonnx_int.py::") for test in overflow.tests)


def test_nothing_is_stored_that_no_clause_needs() -> None:
    """The file travels in every installed package."""
    stored = json.loads(DATA.read_text(encoding="utf-8"))
    clauses = [clause for row in stored["rows"].values() for clause in row["clauses"].values()]
    assert stored.keys() == {"rows", "theorems", "shared_tests"}
    assert stored["theorems"].keys() == {name for clause in clauses for name in clause["theorems"]}
    assert stored["shared_tests"].keys() <= {clause.tag for row in ROWS for clause in row.clauses}
