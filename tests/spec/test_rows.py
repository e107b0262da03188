"""Rules for every row, whichever document it is from."""

from __future__ import annotations

import re

import pytest

from vinculum.spec.model import Dialect, OperatorSpec
from vinculum.spec.rows import ROWS

every_row = pytest.mark.parametrize("row", ROWS, ids=lambda row: row.title)


@every_row
class TestClauses:
    """Every clause has a tag of its own, a statement, and a place in the document or the words for silence."""

    def test_tags_are_unique_and_searchable(self, row: OperatorSpec) -> None:
        tags = [clause.tag for clause in row.clauses]
        assert len(tags) == len(set(tags))
        assert [t for t in tags if not re.fullmatch(r"\[(C|GR|V)[1-9]\]|[a-z0-9]+(-[a-z0-9]+)*", t)] == []

    def test_statements_are_sentences_with_a_basis(self, row: OperatorSpec) -> None:
        assert [c.tag for c in row.clauses if not (c.statement.endswith(".") and c.basis)] == []

    def test_silence_is_said_in_the_agreed_words(self, row: OperatorSpec) -> None:
        """These words stand in place of a place in the document."""
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
        else:  # These have no functions and support levels.
            assert (row.shape_inference, row.function, row.support_level) == (True, False, "")
