"""The page of what a row's clauses rest on says all that is stored, at any width."""

from __future__ import annotations

from functools import cache
from itertools import product

from tests.cases import case
from tests.reporting.printing import printed
from vinculum.reporting.spec.trace import trace_as_json, trace_page
from vinculum.spec.model import OperatorSpec
from vinculum.spec.rows import ROWS
from vinculum.spec.traceability import trace


@cache
def lines_of(row: OperatorSpec, width: int = 80) -> list[str]:
    """Return what the page looks like where no character beyond ASCII can be shown."""
    return printed(trace_page(row), width, "ascii")


def run_together(text: str) -> str:
    """Return a text without spaces and line breaks, so that what was folded is found."""
    return "".join(text.split())


def test_everything_is_there() -> None:
    for row, width in product(ROWS, (40, 100)):
        with case(row.title, width):
            folded, traced = run_together("".join(lines_of(row, width))), trace(row)
            assert f"{traced.constant}in{traced.file}" in folded
            for clause, found in zip(row.clauses, traced.clauses, strict=True):
                names = [theorem.name for theorem in found.theorems]
                tests = [part for test in (*found.tests, *found.shared_tests) for part in test.split("::", 1)]
                for said in (clause.tag, clause.statement, *names, *found.functions, *tests):
                    assert run_together(said) in folded
                assert run_together(found.no_theorem_because or "") in folded


def block_of(title: str, tag: str) -> list[str]:
    """Return the lines of one clause of one row, its tag first."""
    lines = lines_of(next(row for row in ROWS if row.title == title))
    below = lines[lines.index(tag) :]
    return below[: below.index("")] if "" in below else below


def test_a_clause_is_followed_in_order() -> None:
    """The clause, what is proved and by what, what keeps it, what tests it."""
    block = block_of("SONNX Div (int)", "[V1]")
    assert block[1].startswith("    MIN/-1 is outside the type")
    assert [line.strip() for line in block[2:] if line[4:5].strip()] == ["theorems", "functions", "tests"]
    theorem = block.index("      integer_division.Truncation.only_overflow")
    assert block[theorem + 1].strip().startswith("Z3 4.8.12; ")
    assert block[theorem + 1].endswith(" s")


def test_tests_stand_under_their_file_once() -> None:
    block = block_of("SONNX Div (int)", "[V1]")
    files = [line.split()[-1] for line in block if line.endswith(".py")]
    assert files
    assert len(files) == len(set(files))


def test_a_clause_without_a_theorem_says_why() -> None:
    assert any(line.startswith("      none: about ") for line in block_of("Div-14", "one-element-type"))


def test_names_of_theorems_and_functions_stand_whole_in_80_columns() -> None:
    for row in ROWS:
        lines = {line.strip() for line in lines_of(row)}
        for found in trace(row).clauses:
            assert {theorem.name for theorem in found.theorems} | set(found.functions) <= lines


def test_json_has_the_statement_and_all_that_is_stored() -> None:
    for row in ROWS:
        found, traced = trace_as_json(row), trace(row)
        told = (found["title"], found["constant"], found["source"]["url"])
        assert told == (row.title, traced.constant, row.source.url)
        for clause, stored, read in zip(row.clauses, traced.clauses, found["clauses"], strict=True):
            assert (read["tag"], read["statement"], read["basis"]) == (clause.tag, clause.statement, clause.basis)
            assert [theorem["name"] for theorem in read["theorems"]] == [theorem.name for theorem in stored.theorems]
            assert (tuple(read["functions"]), tuple(read["tests"])) == (stored.functions, stored.tests)
