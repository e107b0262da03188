"""What every row keeps, whichever document it is from."""

from __future__ import annotations

import re
from dataclasses import FrozenInstanceError

import pytest

from vinculum.spec.element_types import ELEMENT_TYPES, Kind
from vinculum.spec.model import Broadcasting, Dialect, IntegerRounding, OperatorSpec
from vinculum.spec.onnx_div import DIV_6, DIV_7, DIV_13, DIV_14
from vinculum.spec.onnx_reciprocal import RECIPROCAL_1, RECIPROCAL_6, RECIPROCAL_13
from vinculum.spec.openvino_divide import DIVIDE_1
from vinculum.spec.rows import ROWS
from vinculum.spec.sonnx_div import DIV_FLOAT, DIV_INT, DIV_REAL

every_row = pytest.mark.parametrize("row", ROWS, ids=lambda row: row.title)


def test_there_are_twelve_rows_each_with_its_own_title() -> None:
    assert len(ROWS) == len({row.title for row in ROWS}) == 12


def test_a_row_is_frozen_and_hashable() -> None:
    with pytest.raises(FrozenInstanceError):
        DIV_14.since_version = 15  # type: ignore[misc]  # the assignment is the subject of the test
    assert len(set(ROWS)) == 12


@every_row
class TestClauses:
    """Every clause has a tag of its own, says what holds, and where it stands or that nothing stands."""

    def test_tags_are_unique_and_searchable(self, row: OperatorSpec) -> None:
        tags = [clause.tag for clause in row.clauses]
        assert len(tags) == len(set(tags))
        assert [t for t in tags if not re.fullmatch(r"\[(C|GR|V)[1-9]\]|[a-z0-9]+(-[a-z0-9]+)*", t)] == []

    def test_statements_are_sentences_with_a_basis(self, row: OperatorSpec) -> None:
        assert [c.tag for c in row.clauses if not (c.statement.endswith(".") and c.basis)] == []

    def test_silence_is_said_in_the_agreed_words(self, row: OperatorSpec) -> None:
        """Whoever asks why gets a place in the document or these words."""
        phrase = "the specification is silent here: "
        silent = [c.tag for c in row.clauses if c.tag.endswith("-silent") or c.tag == "[V1]"]
        assert [c.tag for c in row.clauses if c.tag in silent and not c.basis.startswith(phrase)] == []


@every_row
class TestFields:
    """The fields of a row fit together."""

    def test_every_operand_is_of_a_constrained_type_variable(self, row: OperatorSpec) -> None:
        constrained = {constraint.type_variable for constraint in row.type_constraints}
        assert {operand.type_variable for operand in (*row.inputs, *row.outputs)} == constrained

    def test_broadcasting_has_a_rule_for_every_value_of_its_attribute(self, row: OperatorSpec) -> None:
        selector = row.attribute(row.broadcasting_attribute) if row.broadcasting_attribute else None
        assert set(row.broadcasting) == (set(selector.allowed) if selector else {None})
        assert row.broadcasting_rule({}) in row.broadcasting.values()

    def test_integers_are_rounded_exactly_where_there_are_integers(self, row: OperatorSpec) -> None:
        assert bool(row.integer_rounding) == any(t.is_integer for t in row.element_types)
        selector = row.attribute(row.integer_rounding_attribute) if row.integer_rounding_attribute else None
        assert set(row.integer_rounding) <= (set(selector.allowed) if selector else {None})

    def test_defaults_are_among_the_allowed_values(self, row: OperatorSpec) -> None:
        assert [a.name for a in row.attributes if a.allowed and a.default not in a.allowed] == []

    def test_documentation_is_one_sentence_a_line_and_fits_a_difference(self, row: OperatorSpec) -> None:
        assert [line for line in row.documentation if len(line) > 75 or ". " in line] == []

    def test_the_source_names_the_document_and_a_public_address(self, row: OperatorSpec) -> None:
        assert row.name in row.source.document
        assert row.source.url.startswith("https://")
        if row.dialect is Dialect.ONNX:
            assert row.source.url.endswith(f"#{row.title.lower()}")
            assert row.source.document.endswith(f"{row.name}, version {row.since_version}")


@pytest.mark.parametrize(
    ("newer", "older"),
    [(DIV_14, DIV_13), (DIV_13, DIV_7), (RECIPROCAL_6, RECIPROCAL_1), (RECIPROCAL_13, RECIPROCAL_6)],
    ids=lambda row: row.title,
)
def test_a_row_inherits_the_clauses_that_still_hold(newer: OperatorSpec, older: OperatorSpec) -> None:
    of_version_1_alone = {"consumed-inputs-hint", "shape-inference-not-promised"}
    assert {c.tag for c in older.clauses} - of_version_1_alone <= {c.tag for c in newer.clauses}


def test_div_7_drops_the_clauses_on_limited_broadcasting_and_no_other() -> None:
    dropped = {c.tag for c in DIV_6.clauses} - {c.tag for c in DIV_7.clauses}
    assert dropped == {
        "equal-shapes-by-default", "one-element-divisor", "broadcast-suffix", "broadcast-axis", "no-one-dim-expansion",
        "negative-axis-undefined", "output-of-dividend-shape",
    }  # fmt: skip


class TestDivide1:
    """What the OpenVINO document says of attributes, of what they select, and of types."""

    def test_attributes(self) -> None:
        stated = {a.name: (a.type, a.default, a.required) for a in DIVIDE_1.attributes}
        assert stated == {
            "m_pythondiv": ("boolean", True, False),
            "auto_broadcast": ("string", "numpy", False),
            "axis": ("int", -1, False),
        }
        # The attribute list writes pythondiv, both examples and every IR file m_pythondiv; axis is not there at all.
        assert DIVIDE_1.attribute("pythondiv") is DIVIDE_1.attribute("m_pythondiv")
        assert "keyword of ours" in DIVIDE_1.attributes[2].description

    def test_rules_and_types(self) -> None:
        assert DIVIDE_1.broadcasting_rule({}) is Broadcasting.MULTIDIRECTIONAL
        assert DIVIDE_1.broadcasting_rule({"auto_broadcast": "none"}) is Broadcasting.EQUAL
        assert DIVIDE_1.broadcasting_rule({"auto_broadcast": "pdpd"}) is Broadcasting.PDPD
        assert DIVIDE_1.rounding({}) is IntegerRounding.FLOOR
        assert DIVIDE_1.rounding({"m_pythondiv": False}) is IntegerRounding.TRUNCATING
        assert set(DIVIDE_1.element_types) == {t for t in ELEMENT_TYPES if t.kind is not Kind.REAL}
        assert all(t.openvino for t in DIVIDE_1.element_types)


class TestSonnx:
    """What the SONNX document repeats for each of its three operators, and where they differ."""

    def test_what_is_common(self) -> None:
        for row in (row for row in ROWS if row.dialect is Dialect.SONNX):
            assert row.attributes == ()
            assert row.broadcasting_rule({}) is Broadcasting.EQUAL
            assert {"[C1]", "[C2]", "[GR1]", "[GR2]", "[GR3]", "[GR4]"} <= {clause.tag for clause in row.clauses}

    def test_the_same_tag_stands_for_different_clauses(self) -> None:
        of_reals, of_floats, of_integers = (
            {clause.tag: clause.statement for clause in row.clauses} for row in (DIV_REAL, DIV_FLOAT, DIV_INT)
        )
        assert of_reals["[C2]"] == of_integers["[C3]"]
        assert of_floats["[C2]"] == of_integers["[C2]"] != of_reals["[C2]"]
        assert "[V1]" in of_integers
        assert {"[C3]", "[V1]"}.isdisjoint(of_reals.keys() | of_floats.keys())

    def test_types(self) -> None:
        assert [t.kind for t in DIV_REAL.element_types] == [Kind.REAL]
        assert [t.name for t in DIV_FLOAT.element_types] == ["float16", "float", "double"]
        assert set(DIV_INT.element_types) == {t for t in ELEMENT_TYPES if t.is_integer and t.bits >= 8}
