"""Pages, tables and JSON of the specification, as a reader meets them: at any width, without colour."""

from __future__ import annotations

import json
import re
from functools import cache
from itertools import pairwise, product

import pytest
from rich.console import RenderableType

from tests.cases import case
from tests.reporting.printing import printed
from vinculum.reporting import spec
from vinculum.spec.diff import difference
from vinculum.spec.model import OperatorSpec
from vinculum.spec.onnx_div import DIV_1, DIV_6, DIV_7, DIV_14
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

    def test_headings(self) -> None:
        headings = [line for line in text_of(spec.page(DIV_6)).splitlines() if re.match(r"[A-Z][a-z ]+$", line)]
        assert headings == [
            "Summary", "Inputs", "Outputs", "Attributes", "Type constraints", "Broadcasting", "Integer rounding",
            "Special values", "Clauses", "Source",
        ]  # fmt: skip
        lines = text_of(spec.page(RECIPROCAL_13)).splitlines()
        assert {"Broadcasting", "Integer rounding", "Attributes"}.isdisjoint(lines)
        assert "1 +-inf rounded +-0 NaN" in map(words, lines)
        assert "Special values" not in text_of(spec.page(DIV_INT)) + text_of(spec.page(DIV_REAL))

    def test_attributes_rules_and_types_in_the_standard_s_words(self) -> None:
        text = text_of(spec.page(DIVIDE_1), 120)
        assert re.search(r"m_pythondiv +boolean +true ", text)
        assert re.search(r"auto_broadcast +string +numpy +.*One of: none, numpy, pdpd\.", text)
        for told in (
            "Also spelled pythondiv.",
            "m_pythondiv=true floor, toward minus infinity (default)",
            "auto_broadcast=none equal shapes",
            "f64, f32, f16, bf16, f8e4m3",
        ):
            assert told in words(text)
        assert "bfloat16, double, float, float16" in text_of(spec.page(DIV_14))

    @pytest.mark.parametrize("width", [80, 120])
    def test_all_rows_in_a_table(self, width: int) -> None:
        lines = [words(line) for line in text_of(spec.overview(ROWS), width).splitlines()]
        assert "ONNX Div-14 4 float, 8 integer multidirectional truncating" in lines
        assert "ONNX Reciprocal-13 4 float - -" in lines
        assert "SONNX Div (real) 1 real equal -" in lines
        assert sum(line.startswith(("ONNX ", "OpenVINO ", "SONNX ")) for line in lines) == 12


class TestDifference:
    """The difference is printed in the manner of the Div-6 document."""

    def test_the_documents_own_difference(self) -> None:
        lines = text_of(spec.difference_page(difference(DIV_1, DIV_6)), 120).splitlines()
        assert lines[:4] == ["SchemaDiff: Div (domain 'ai.onnx')", "old version: 1", "new version: 6", "breaking: no"]
        types = "  changed 'T': added types: tensor(int32), tensor(int64), tensor(uint32), tensor(uint64)"
        assert ("Type constraints:", types) in pairwise(lines)
        assert ("Documentation:", "  line similarity: 0.95 (+2/-0 lines)") in pairwise(lines)
        assert ("  --- Div v1", "  +++ Div v6") in pairwise(lines)
        assert ("  +", f"  +{DIV_6.documentation[-1]}") in pairwise(lines)

    def test_a_breaking_one_says_why(self) -> None:
        lines = text_of(spec.difference_page(difference(DIV_6, DIV_7))).splitlines()
        assert lines[3:6] == ["breaking: yes", "  attribute 'axis' is removed", "  attribute 'broadcast' is removed"]

    def test_headings_without_a_change_are_left_out(self) -> None:
        lines = text_of(spec.difference_page(difference(*versions("Div")[2:4]))).splitlines()
        assert [line for line in lines if line.endswith(":")] == ["Type constraints:", "Clauses:", "Documentation:"]

    def test_nothing_is_cut_off(self) -> None:
        for old, new in product(versions("Div"), repeat=2):
            assert text_of(spec.difference_page(difference(old, new)))


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
    """A row, a difference or the evidence is one JSON object of plain values."""

    def test_a_row(self) -> None:
        assert all(json.loads(json.dumps(spec.as_json(row))) == spec.as_json(row) for row in ROWS)
        plain = spec.as_json(DIV_6)
        assert (plain["title"], plain["name"], plain["since_version"]) == ("Div-6", "Div", 6)
        assert plain["dialect"] == "onnx"
        assert plain["type_constraints"][0]["element_types"][0] == "double"
        assert plain["broadcasting"] == [{"value": 0, "rule": "equal"}, {"value": 1, "rule": "limited"}]
        assert plain["attributes"][1]["default"] == 0
        assert {clause["tag"] for clause in plain["clauses"]} == {clause.tag for clause in DIV_6.clauses}

    def test_a_difference(self) -> None:
        plain = spec.difference_as_json(difference(DIV_6, DIV_1))
        assert json.loads(json.dumps(plain)) == plain
        assert (plain["old_version"], plain["new_version"], plain["breaking"]) == (6, 1, True)
        lost = ["int32", "int64", "uint32", "uint64"]
        assert plain["type_constraints"] == [{"type_variable": "T", "added": [], "removed": lost}]
        assert plain["documentation"]["removed"] == 2
        assert plain["reasons"] == ["the type constraint loses int32, int64, uint32, uint64"]

    def test_the_evidence(self) -> None:
        for row in ROWS:
            found, traced = spec.trace_as_json(row), trace(row)
            told = (found["title"], found["constant"], found["source"]["url"])
            assert told == (row.title, traced.constant, row.source.url)
            for clause, stored, read in zip(row.clauses, traced.clauses, found["clauses"], strict=True):
                assert (read["tag"], read["statement"], read["basis"]) == (clause.tag, clause.statement, clause.basis)
                assert [one["name"] for one in read["theorems"]] == [theorem.name for theorem in stored.theorems]
                assert (tuple(read["functions"]), tuple(read["tests"])) == (stored.functions, stored.tests)
