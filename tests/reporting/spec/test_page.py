"""Pages, tables and JSON of the specification, as a reader meets them."""

from __future__ import annotations

import json
import re
from functools import cache
from io import BytesIO, TextIOWrapper
from itertools import pairwise

import pytest
from rich.console import Console, RenderableType

from vinculum.reporting.spec.diff_page import difference_page
from vinculum.reporting.spec.json_text import as_json, difference_as_json
from vinculum.reporting.spec.page import overview, page
from vinculum.spec.diff import difference
from vinculum.spec.model import OperatorSpec
from vinculum.spec.onnx_div import DIV_1, DIV_6, DIV_7, DIV_14
from vinculum.spec.onnx_reciprocal import RECIPROCAL_13
from vinculum.spec.openvino_divide import DIVIDE_1
from vinculum.spec.registry import ROWS, versions
from vinculum.spec.sonnx_div import DIV_INT, DIV_REAL

every_row = pytest.mark.parametrize("row", ROWS, ids=lambda row: row.title)
widths = pytest.mark.parametrize("width", [80, 120])


def printed(renderable: RenderableType, width: int = 80, encoding: str = "utf-8") -> str:
    """Return what a reader without a terminal sees, without the blanks at the ends of lines."""
    with TextIOWrapper(BytesIO(), encoding=encoding) as file:
        Console(width=width, file=file, highlight=False).print(renderable)
        file.seek(0)
        return "\n".join(line.rstrip() for line in file.read().splitlines())


@cache
def told(row: OperatorSpec, width: int) -> str:
    """Return a row's page as it is printed."""
    return printed(page(row), width)


def words(text: str) -> str:
    """Return the text with its line breaks and indents undone."""
    return " ".join(text.split())


@every_row
@widths
class TestPage:
    """A page says all that the row says, at any width and without colour."""

    def test_nothing_is_cut_off(self, row: OperatorSpec, width: int) -> None:
        text = told(row, width)
        assert "…" not in text
        assert "\x1b" not in text
        assert max(map(len, text.splitlines())) <= width

    def test_an_ascii_terminal_can_show_it(self, row: OperatorSpec, width: int) -> None:
        assert printed(page(row), width, "ascii").startswith(row.title)

    def test_every_clause_with_its_basis(self, row: OperatorSpec, width: int) -> None:
        text = words(told(row, width))
        expected = [f"{c.tag} {c.statement} Basis: {c.basis}" for c in row.clauses]
        assert [clause for clause in expected if clause not in text] == []

    def test_every_operand_line_and_source(self, row: OperatorSpec, width: int) -> None:
        text = words(told(row, width))
        operands = [f"{o.name} {o.type_variable} {o.description}" for o in (*row.inputs, *row.outputs)]
        said = (*operands, *filter(None, row.documentation), row.source.document)
        assert [line for line in said if line not in text] == []
        assert row.source.url in text.replace(" ", "")


class TestSections:
    """Each section appears where it has something to say."""

    def test_headings_of_a_binary_operator(self) -> None:
        headings = [line for line in printed(page(DIV_6)).splitlines() if re.match(r"[A-Z][a-z ]+$", line)]
        assert headings == [
            "Summary",
            "Inputs",
            "Outputs",
            "Attributes",
            "Type constraints",
            "Broadcasting",
            "Integer rounding",
            "Special values",
            "Clauses",
            "Source",
        ]

    def test_reciprocal_has_no_broadcasting_and_no_integers(self) -> None:
        lines = printed(page(RECIPROCAL_13)).splitlines()
        assert {"Broadcasting", "Integer rounding", "Attributes"}.isdisjoint(lines)
        assert "  1              +-inf   rounded   +-0     NaN" in lines

    def test_reals_and_integers_have_no_special_values(self) -> None:
        assert "Special values" not in printed(page(DIV_INT)) + printed(page(DIV_REAL))

    def test_attributes_with_defaults_values_and_spellings(self) -> None:
        text = printed(page(DIVIDE_1), 120)
        assert re.search(r"m_pythondiv +boolean +true ", text)
        assert re.search(r"auto_broadcast +string +numpy +.*One of: none, numpy, pdpd\.", text)
        assert "Also spelled pythondiv." in words(text)

    def test_rules_name_the_setting_and_the_default(self) -> None:
        text = printed(page(DIVIDE_1))
        assert "m_pythondiv=true   floor, toward minus infinity (default)" in text
        assert "auto_broadcast=none   equal shapes" in text

    def test_types_are_called_as_the_standard_calls_them(self) -> None:
        assert "f64, f32, f16, bf16, f8e4m3" in printed(page(DIVIDE_1))
        assert "bfloat16, double, float, float16" in printed(page(DIV_14))


class TestOverview:
    """All rows stand in one table."""

    @widths
    def test_every_row_stands_there_uncut(self, width: int) -> None:
        text = printed(overview(ROWS), width)
        titles = [
            "Div-1 ",
            "Div-14 ",
            "Reciprocal-13 ",
            "Divide-1 ",
            "Div (real) ",
            "Div (float) ",
            "Div (int) ",
        ]
        assert [title for title in titles if title not in text] == []
        assert "…" not in text
        assert max(map(len, text.splitlines())) <= width

    def test_what_it_says_of_a_row(self) -> None:
        lines = [words(line) for line in printed(overview(ROWS)).splitlines()]
        assert "ONNX Div-14 4 float, 8 integer multidirectional truncating" in lines
        assert "ONNX Reciprocal-13 4 float - -" in lines
        assert "SONNX Div (real) 1 real equal -" in lines


class TestDifferencePage:
    """The difference is printed in the manner of the Div-6 document."""

    def test_the_documents_own_difference(self) -> None:
        lines = printed(difference_page(difference(DIV_1, DIV_6)), 120).splitlines()
        assert lines[:4] == [
            "SchemaDiff: Div (domain 'ai.onnx')",
            "old version: 1",
            "new version: 6",
            "breaking: no",
        ]
        types = "  changed 'T': added types: tensor(int32), tensor(int64), tensor(uint32), tensor(uint64)"
        assert ("Type constraints:", types) in pairwise(lines)
        assert ("Documentation:", "  line similarity: 0.95 (+2/-0 lines)") in pairwise(lines)
        assert ("  --- Div v1", "  +++ Div v6") in pairwise(lines)
        assert ("  +", f"  +{DIV_6.documentation[-1]}") in pairwise(lines)

    def test_a_breaking_one_says_why(self) -> None:
        lines = printed(difference_page(difference(DIV_6, DIV_7))).splitlines()
        assert lines[3:6] == [
            "breaking: yes",
            "  attribute 'axis' is removed",
            "  attribute 'broadcast' is removed",
        ]

    def test_headings_without_a_change_are_left_out(self) -> None:
        lines = printed(difference_page(difference(*versions("Div")[2:4]))).splitlines()
        assert [line for line in lines if line.endswith(":")] == [
            "Type constraints:",
            "Clauses:",
            "Documentation:",
        ]

    @widths
    def test_nothing_is_cut_off(self, width: int) -> None:
        for old in versions("Div"):
            for new in versions("Div"):
                text = printed(difference_page(difference(old, new)), width)
                assert "…" not in text
                assert max(map(len, text.splitlines())) <= width


class TestJson:
    """A row or a difference is one JSON object of plain values."""

    @every_row
    def test_a_row_survives_json_unchanged(self, row: OperatorSpec) -> None:
        plain = as_json(row)
        assert json.loads(json.dumps(plain)) == plain

    def test_what_a_row_holds(self) -> None:
        plain = as_json(DIV_6)
        assert (plain["title"], plain["name"], plain["since_version"]) == ("Div-6", "Div", 6)
        assert plain["dialect"] == "onnx"
        assert plain["type_constraints"][0]["element_types"][0] == "double"
        assert plain["broadcasting"] == [{"value": 0, "rule": "equal"}, {"value": 1, "rule": "limited"}]
        assert plain["attributes"][1]["default"] == 0
        assert {clause["tag"] for clause in plain["clauses"]} == {clause.tag for clause in DIV_6.clauses}

    def test_a_difference(self) -> None:
        plain = difference_as_json(difference(DIV_6, DIV_1))
        assert json.loads(json.dumps(plain)) == plain
        assert (plain["old_version"], plain["new_version"], plain["breaking"]) == (6, 1, True)
        assert plain["type_constraints"] == [
            {"type_variable": "T", "added": [], "removed": ["int32", "int64", "uint32", "uint64"]}
        ]
        assert plain["documentation"]["removed"] == 2
        assert plain["reasons"] == ["the type constraint loses int32, int64, uint32, uint64"]
