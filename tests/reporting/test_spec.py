"""Pages, tables and JSON of the specification, as a reader meets them: at any width, without colour."""

from __future__ import annotations

import json
import re
from functools import cache
from itertools import product

from rich.console import RenderableType

from tests.cases import case
from tests.reporting.printing import Told, printed
from vinculum.reporting import spec
from vinculum.spec.diff import difference
from vinculum.spec.model import OperatorSpec
from vinculum.spec.onnx_div import DIV_1, DIV_6, DIV_7
from vinculum.spec.onnx_reciprocal import RECIPROCAL_13
from vinculum.spec.openvino_divide import DIVIDE_1
from vinculum.spec.rows import ROWS, versions
from vinculum.spec.sonnx_div import DIV_INT, DIV_REAL
from vinculum.spec.traceability import trace


def text_of(renderable: RenderableType, width: int = 80, encoding: str = "utf-8") -> str:
    """Return a page as text."""
    return "\n".join(printed(renderable, width, encoding))


def words(text: str) -> str:
    """Return the text with its line breaks and indents undone."""
    return " ".join(text.split())


class TestPage:
    """A page says all that the row says; each section appears where it has something to say."""

    def test_it_says_everything(self) -> None:
        for row, (width, encoding) in product(ROWS, ((80, "ascii"), (120, "utf-8"))):
            with case(row.title, width):
                text = text_of(spec.page(row), width, encoding)
                operands = [f"{o.name} {o.type_variable} {o.description}" for o in (*row.inputs, *row.outputs)]
                clauses = [f"{c.tag} {c.statement} Basis: {c.basis}" for c in row.clauses]
                said = (*operands, *clauses, *filter(None, row.documentation), row.source.document)
                assert [line for line in said if line not in words(text)] == []
                assert row.source.url in "".join(text.split())

    def test_floats_alone_have_special_values(self) -> None:
        assert "Special values" not in text_of(spec.page(DIV_INT)) + text_of(spec.page(DIV_REAL))


@cache
def evidence(row: OperatorSpec, width: int = 80) -> list[str]:
    """Return the page of what a row's clauses rest on, where no character beyond ASCII can be shown."""
    return printed(spec.trace_page(row), width, "ascii")


def block_of(title: str, tag: str) -> list[str]:
    """Return the lines of one clause of one row, its tag first."""
    lines = evidence(next(row for row in ROWS if row.title == title))
    below = lines[lines.index(tag) :]
    return below[: below.index("")] if "" in below else below


class TestEvidence:
    """What a row's clauses rest on: all that is stored, each clause followed by its theorems, functions and tests."""

    def test_everything_is_there(self) -> None:
        for row, width in (*((row, 80) for row in ROWS), (DIV_6, 40)):
            with case(row.title, width):
                lines, traced = evidence(row, width), trace(row)
                folded = "".join("".join(lines).split())
                assert f"{traced.constant}in{traced.file}" in folded
                for clause, found in zip(row.clauses, traced.clauses, strict=True):
                    names = {theorem.name for theorem in found.theorems} | set(found.functions)
                    tests = [part for test in (*found.tests, *found.shared_tests) for part in test.split("::", 1)]
                    for said in (clause.tag, clause.statement, *names, *tests, found.no_theorem_because or ""):
                        assert "".join(said.split()) in folded
                    assert width < 80 or names <= {line.strip() for line in lines}  # whole, on a line

    def test_a_clause_is_followed_in_order(self) -> None:
        block = block_of("SONNX Div (int)", "[V1]")
        assert block[1].startswith("    MIN/-1 is outside the type")
        assert [line.strip() for line in block[2:] if line[4:5].strip()] == ["theorems", "functions", "tests"]
        theorem = block.index("      integer_division.Truncation.only_overflow")
        assert re.fullmatch(r" +Z3 4\.8\.12; .* s", block[theorem + 1])
        assert "      vinculum.ops.policies.raise_exceptions" in block
        files = [line.strip() for line in block if line.endswith(".py")]
        assert "tests/documents/test_sonnx_int.py" in files
        assert len(files) == len(set(files))
        assert any(line.startswith("      none: about ") for line in block_of("Div-14", "one-element-type"))


class TestJson:
    """A row or the evidence is one JSON object of plain values."""

    def test_a_row(self) -> None:
        for row in ROWS:
            plain = spec.as_json(row)
            assert json.loads(json.dumps(plain)) == plain
            assert {clause["tag"] for clause in plain["clauses"]} == {clause.tag for clause in row.clauses}

    def test_the_evidence(self) -> None:
        for row in ROWS:
            found, traced = spec.trace_as_json(row), trace(row)
            told = (found["title"], found["constant"], found["source"]["url"])
            assert told == (row.title, traced.constant, row.source.url)
            for clause, stored, read in zip(row.clauses, traced.clauses, found["clauses"], strict=True):
                assert (read["tag"], read["statement"], read["basis"]) == (clause.tag, clause.statement, clause.basis)
                assert [one["name"] for one in read["theorems"]] == [theorem.name for theorem in stored.theorems]
                assert (tuple(read["functions"]), tuple(read["tests"])) == (stored.functions, stored.tests)


FIRST, AXIS, BREAKS = difference(DIV_1, DIV_6), difference(DIV_6, DIV_7), difference(DIV_6, DIV_1)

TOLD: Told = {
    "all rows": lambda _: spec.overview(ROWS),
    "Div-6": lambda _: spec.page(DIV_6),
    "Div-6, as JSON": lambda _: spec.as_json(DIV_6),
    "Divide-1": lambda _: spec.page(DIVIDE_1),
    "Reciprocal-13": lambda _: spec.page(RECIPROCAL_13),
    "Div-1 to Div-6": lambda _: spec.difference_page(FIRST),
    "Div-6 to Div-7": lambda _: spec.difference_page(AXIS),
    "Div-7 to Div-13": lambda _: spec.difference_page(difference(*versions("Div")[2:4])),
    "Div-6 to Div-1, as JSON": lambda _: spec.difference_as_json(BREAKS),
}
