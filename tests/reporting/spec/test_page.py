"""Pages, tables and JSON of the specification, as a reader meets them."""

from __future__ import annotations

import json
import re
from itertools import pairwise, product

import pytest
from rich.console import RenderableType

from tests.cases import case
from tests.reporting.printing import printed
from vinculum.reporting.spec.diff_page import difference_page
from vinculum.reporting.spec.json_text import as_json, difference_as_json
from vinculum.reporting.spec.page import overview, page
from vinculum.spec.diff import difference
from vinculum.spec.onnx_div import DIV_1, DIV_6, DIV_7, DIV_14
from vinculum.spec.onnx_reciprocal import RECIPROCAL_13
from vinculum.spec.openvino_divide import DIVIDE_1
from vinculum.spec.rows import ROWS, versions
from vinculum.spec.sonnx_div import DIV_INT, DIV_REAL

widths = pytest.mark.parametrize("width", [80, 120])


def text_of(renderable: RenderableType, width: int = 80, encoding: str = "utf-8") -> str:
    """Return a page as text."""
    return "\n".join(printed(renderable, width, encoding))


def words(text: str) -> str:
    """Return the text with its line breaks and indents undone."""
    return " ".join(text.split())


class TestPage:
    """A page says all that the row says, at any width and without colour."""

    def test_it_says_everything(self) -> None:
        for row, width in product(ROWS, (80, 120)):
            with case(row.title, width):
                text = text_of(page(row), width)
                operands = [f"{o.name} {o.type_variable} {o.description}" for o in (*row.inputs, *row.outputs)]
                clauses = [f"{c.tag} {c.statement} Basis: {c.basis}" for c in row.clauses]
                said = (*operands, *clauses, *filter(None, row.documentation), row.source.document)
                assert [line for line in said if line not in words(text)] == []
                assert row.source.url in "".join(text.split())

    def test_an_ascii_terminal_can_show_it(self) -> None:
        for row in ROWS:
            assert text_of(page(row), 80, "ascii").startswith(row.title)


class TestSections:
    """Each section appears where it has something to say."""

    def test_headings_of_a_binary_operator(self) -> None:
        headings = [line for line in text_of(page(DIV_6)).splitlines() if re.match(r"[A-Z][a-z ]+$", line)]
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
        lines = text_of(page(RECIPROCAL_13)).splitlines()
        assert {"Broadcasting", "Integer rounding", "Attributes"}.isdisjoint(lines)
        assert "1 +-inf rounded +-0 NaN" in map(words, lines)

    def test_reals_and_integers_have_no_special_values(self) -> None:
        assert "Special values" not in text_of(page(DIV_INT)) + text_of(page(DIV_REAL))

    def test_attributes_with_defaults_values_and_spellings(self) -> None:
        text = text_of(page(DIVIDE_1), 120)
        assert re.search(r"m_pythondiv +boolean +true ", text)
        assert re.search(r"auto_broadcast +string +numpy +.*One of: none, numpy, pdpd\.", text)
        assert "Also spelled pythondiv." in words(text)

    def test_rules_name_the_setting_and_the_default(self) -> None:
        text = text_of(page(DIVIDE_1))
        assert "m_pythondiv=true   floor, toward minus infinity (default)" in text
        assert "auto_broadcast=none   equal shapes" in text

    def test_types_are_called_as_the_standard_calls_them(self) -> None:
        assert "f64, f32, f16, bf16, f8e4m3" in text_of(page(DIVIDE_1))
        assert "bfloat16, double, float, float16" in text_of(page(DIV_14))


class TestOverview:
    """All rows stand in one table."""

    @widths
    def test_every_row_stands_there_uncut(self, width: int) -> None:
        text = text_of(overview(ROWS), width)
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

    def test_what_it_says_of_a_row(self) -> None:
        lines = [words(line) for line in text_of(overview(ROWS)).splitlines()]
        assert "ONNX Div-14 4 float, 8 integer multidirectional truncating" in lines
        assert "ONNX Reciprocal-13 4 float - -" in lines
        assert "SONNX Div (real) 1 real equal -" in lines


class TestDifferencePage:
    """The difference is printed in the manner of the Div-6 document."""

    def test_the_documents_own_difference(self) -> None:
        lines = text_of(difference_page(difference(DIV_1, DIV_6)), 120).splitlines()
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
        lines = text_of(difference_page(difference(DIV_6, DIV_7))).splitlines()
        assert lines[3:6] == [
            "breaking: yes",
            "  attribute 'axis' is removed",
            "  attribute 'broadcast' is removed",
        ]

    def test_headings_without_a_change_are_left_out(self) -> None:
        lines = text_of(difference_page(difference(*versions("Div")[2:4]))).splitlines()
        assert [line for line in lines if line.endswith(":")] == [
            "Type constraints:",
            "Clauses:",
            "Documentation:",
        ]

    @widths
    def test_nothing_is_cut_off(self, width: int) -> None:
        for old in versions("Div"):
            for new in versions("Div"):
                assert text_of(difference_page(difference(old, new)), width)


class TestJson:
    """A row or a difference is one JSON object of plain values."""

    def test_a_row_survives_json_unchanged(self) -> None:
        for row in ROWS:
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
