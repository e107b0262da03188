"""The three rows of SONNX Div against its document."""

from __future__ import annotations

import pytest

from vinculum.spec.element_types import ELEMENT_TYPES, Kind
from vinculum.spec.model import Broadcasting, IntegerRounding, OperatorSpec
from vinculum.spec.sonnx_div import DIV_FLOAT, DIV_INT, DIV_REAL

every_variant = pytest.mark.parametrize("row", [DIV_REAL, DIV_FLOAT, DIV_INT], ids=lambda row: row.title)


def statement(row: OperatorSpec, tag: str) -> str:
    """Return what a row's clause of that tag says."""
    return next(clause.statement for clause in row.clauses if clause.tag == tag)


@every_variant
class TestEveryVariant:
    """What the document repeats for each of its three operators."""

    def test_there_are_no_attributes_and_no_broadcasting(self, row: OperatorSpec) -> None:
        assert row.attributes == ()
        assert row.broadcasting_rule({}) is Broadcasting.EQUAL

    def test_shape_consistency_and_general_restrictions_are_clauses(self, row: OperatorSpec) -> None:
        assert {"[C1]", "[C2]", "[GR1]", "[GR2]", "[GR3]", "[GR4]"} <= {clause.tag for clause in row.clauses}


class TestDifferingClauses:
    """The same tag stands for different clauses in the three operators."""

    def test_c2_is_the_definition_domain_of_reals_and_type_consistency_elsewhere(self) -> None:
        assert statement(DIV_REAL, "[C2]") == statement(DIV_INT, "[C3]")
        assert statement(DIV_FLOAT, "[C2]") == statement(DIV_INT, "[C2]") != statement(DIV_REAL, "[C2]")

    def test_only_integers_have_a_third_constraint_and_one_of_ours(self) -> None:
        for row in (DIV_REAL, DIV_FLOAT):
            assert {"[C3]", "[V1]"}.isdisjoint(clause.tag for clause in row.clauses)
        assert {"[C3]", "[V1]"} <= {clause.tag for clause in DIV_INT.clauses}


class TestTypes:
    """The headings list the types of each operator."""

    def test_real(self) -> None:
        assert [t.kind for t in DIV_REAL.element_types] == [Kind.REAL]

    def test_float(self) -> None:
        assert [t.name for t in DIV_FLOAT.element_types] == ["float16", "float", "double"]

    def test_int_is_every_integer_of_at_least_8_bits_truncated(self) -> None:
        assert set(DIV_INT.element_types) == {t for t in ELEMENT_TYPES if t.is_integer and t.bits >= 8}
        assert DIV_INT.rounding({}) is IntegerRounding.TRUNCATING
