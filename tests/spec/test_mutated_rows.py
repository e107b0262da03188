"""Rows with one thing changed: the difference reports it, and breaks models exactly where it should."""

from __future__ import annotations

from dataclasses import fields, replace
from typing import Any, NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vinculum.spec.diff import SpecDiff, difference
from vinculum.spec.element_types import ELEMENT_TYPES, FLOAT, INT32, ElementType
from vinculum.spec.model import (
    Attribute,
    AttributeValue,
    Broadcasting,
    Clause,
    IntegerRounding,
    Operand,
    OperatorSpec,
    TypeConstraint,
)
from vinculum.spec.onnx_div import DIV_1, DIV_6, DIV_14
from vinculum.spec.onnx_reciprocal import RECIPROCAL_1, RECIPROCAL_6
from vinculum.spec.openvino_divide import DIVIDE_1
from vinculum.spec.rows import ROWS

FLOOR, TRUNCATING = IntegerRounding.FLOOR, IntegerRounding.TRUNCATING
EQUAL, LIMITED = Broadcasting.EQUAL, Broadcasting.LIMITED
MULTIDIRECTIONAL, PDPD = Broadcasting.MULTIDIRECTIONAL, Broadcasting.PDPD

NEW_HINT = Attribute("tuning", "INT", None, required=False, description="Without effect.", hint=True)
NEW_DUTY = Attribute("mode", "INT", None, required=True, description="How to divide.")


def with_attribute(row: OperatorSpec, name: str, **change: Any) -> OperatorSpec:
    """Return the row with one attribute changed."""
    return replace(row, attributes=tuple(replace(a, **change) if a.name == name else a for a in row.attributes))


def without_attribute(row: OperatorSpec, name: str) -> OperatorSpec:
    """Return the row with one attribute removed."""
    return replace(row, attributes=tuple(a for a in row.attributes if a.name != name))


def with_types(row: OperatorSpec, *types: ElementType) -> OperatorSpec:
    """Return the row with other element types."""
    return replace(row, type_constraints=(TypeConstraint("T", types, "Some tensors."),))


def with_rule(row: OperatorSpec, rule: Broadcasting) -> OperatorSpec:
    """Return the row with one broadcasting rule."""
    return replace(row, broadcasting={None: rule}, broadcasting_attribute=None)


class Mutation(NamedTuple):
    """Two rows, the field that reports their difference, and which directions break: > or < or both."""

    old: OperatorSpec
    new: OperatorSpec
    field: str
    breaks: str


RENAMED = (replace(DIV_14.inputs[0], name="X"), DIV_14.inputs[1])
REWORDED = (replace(DIV_14.clauses[0], statement="Nothing."), *DIV_14.clauses[1:])
SWAPPED: dict[AttributeValue | None, IntegerRounding] = {True: TRUNCATING, False: FLOOR}

TYPES = {
    "a type goes": (DIV_14, with_types(DIV_14, FLOAT, INT32), ">"),
    "one type for another": (with_types(DIV_14, FLOAT), with_types(DIV_14, INT32), "<>"),
}
ATTRIBUTES = {
    "a hint goes": (DIV_1, without_attribute(DIV_1, "consumed_inputs"), ""),
    "a hint comes": (DIV_14, replace(DIV_14, attributes=(NEW_HINT,)), ""),
    "a hint gets a meaning": (DIV_1, with_attribute(DIV_1, "consumed_inputs", hint=False), "<>"),
    "a hint gets a default": (DIV_1, with_attribute(DIV_1, "consumed_inputs", default=(0, 1)), ""),
    "a keyword goes": (DIVIDE_1, without_attribute(DIVIDE_1, "axis"), ">"),
    "a duty comes": (DIV_14, replace(DIV_14, attributes=(NEW_DUTY,)), "<>"),
    "a choice becomes a duty": (DIV_6, with_attribute(DIV_6, "broadcast", required=True), ">"),
    "an attribute changes its type": (DIV_6, with_attribute(DIV_6, "axis", type="INTS"), "<>"),
    "axis gets a default": (DIV_6, with_attribute(DIV_6, "axis", default=0), "<>"),
    "axis changes its default": (DIVIDE_1, with_attribute(DIVIDE_1, "axis", default=0), "<>"),
    # More shapes fit, and those that fitted mean the same.
    "broadcast is 1 by default": (DIV_6, with_attribute(DIV_6, "broadcast", default=1), "<"),
    "none by default": (DIVIDE_1, with_attribute(DIVIDE_1, "auto_broadcast", default="none"), ">"),
    "truncating by default": (DIVIDE_1, with_attribute(DIVIDE_1, "m_pythondiv", default=False), "<>"),
    "a value goes": (DIVIDE_1, with_attribute(DIVIDE_1, "auto_broadcast", allowed=("none", "numpy")), ">"),
    "values are limited": (DIV_6, with_attribute(DIV_6, "axis", allowed=(0, 1)), ">"),
    "the least value rises": (DIVIDE_1, with_attribute(DIVIDE_1, "axis", minimum=0), ">"),
    "a spelling goes": (DIVIDE_1, with_attribute(DIVIDE_1, "m_pythondiv", aliases=()), ">"),
    "a description changes": (DIV_6, with_attribute(DIV_6, "axis", description="Where."), ""),
}
OPERANDS = {
    "the operands change places": (DIV_14, replace(DIV_14, inputs=DIV_14.inputs[::-1]), "<>"),
    # Models name operands by their places.
    "an operand is renamed": (DIV_14, replace(DIV_14, inputs=RENAMED), ""),
    "a third operand": (DIV_14, replace(DIV_14, inputs=(*DIV_14.inputs, Operand("D", "T", "More."))), "<>"),
}
OUTPUTS = {
    "a remainder": (DIV_14, replace(DIV_14, outputs=(*DIV_14.outputs, Operand("R", "T", "More."))), "<>"),
}
BROADCASTING = {
    "equal to multidirectional": (with_rule(DIV_14, EQUAL), DIV_14, "<"),
    "equal to limited": (with_rule(DIV_6, EQUAL), with_rule(DIV_6, LIMITED), "<"),
    "multidirectional to pdpd": (DIV_14, with_rule(DIV_14, PDPD), "<>"),
    "limited to pdpd": (with_rule(DIV_6, LIMITED), with_rule(DIV_6, PDPD), "<"),
    "limited with axis": (with_rule(DIV_6, LIMITED), with_rule(DIV_6, MULTIDIRECTIONAL), "<>"),
    "limited without axis": (with_rule(DIV_14, LIMITED), DIV_14, "<"),
    "one operand alone": (RECIPROCAL_6, with_rule(RECIPROCAL_6, PDPD), ""),
}
ROUNDING = {
    "floor": (DIV_14, replace(DIV_14, integer_rounding={None: FLOOR}), "<>"),
    "the values change places": (DIVIDE_1, replace(DIVIDE_1, integer_rounding=SWAPPED), "<>"),
}
PROPERTIES = {
    "inference is promised": (RECIPROCAL_1, replace(RECIPROCAL_1, shape_inference=True), ""),
    "a function": (DIV_14, replace(DIV_14, function=True), ""),
    "experimental": (DIV_14, replace(DIV_14, support_level="EXPERIMENTAL"), ""),
}
CLAUSES = {
    "a clause goes": (DIV_14, replace(DIV_14, clauses=DIV_14.clauses[1:]), ""),
    "a clause says something else": (DIV_14, replace(DIV_14, clauses=REWORDED), ""),
}
MUTATIONS = {
    f"{field}: {what}": Mutation(old, new, field, breaks)
    for field, mutations in {
        "type_constraints": TYPES,
        "attributes": ATTRIBUTES,
        "inputs": OPERANDS,
        "outputs": OUTPUTS,
        "broadcasting": BROADCASTING,
        "integer_rounding": ROUNDING,
        "properties": PROPERTIES,
        "clauses": CLAUSES,
    }.items()
    for what, (old, new, breaks) in mutations.items()
}


def reported(diff: SpecDiff) -> set[str]:
    """Return the fields of a difference that report something."""
    compared = {f.name for f in fields(diff)} - {"old", "new", "reasons", "documentation"}
    return {n for n in compared if getattr(diff, n)} | ({"documentation"} if diff.documentation.lines else set())


@pytest.mark.parametrize("what", MUTATIONS)
def test_one_change_in_both_directions(what: str) -> None:
    old, new, field, breaks = MUTATIONS[what]
    there, back = difference(old, new), difference(new, old)
    assert field in reported(there)
    assert field in reported(back)
    assert there.breaking == (">" in breaks), there.reasons
    assert back.breaking == ("<" in breaks), back.reasons


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.title)
def test_nothing_changed_nothing_reported(row: OperatorSpec) -> None:
    same = difference(row, replace(row))
    assert reported(same) == set()
    assert not same.breaking
    assert same.documentation.similarity == 1.0


CHANGED: dict[str, Any] = {
    "inputs": (),
    "outputs": (),
    "attributes": (),
    "type_constraints": (TypeConstraint("T", (FLOAT,), ""),),
    "broadcasting": {0: EQUAL, 1: PDPD},
    "broadcasting_attribute": "axis",
    "integer_rounding": {None: FLOOR},
    "integer_rounding_attribute": "axis",
    "shape_inference": False,
    "function": True,
    "support_level": "EXPERIMENTAL",
    "documentation": ("Divides.",),
    "clauses": (Clause("other", "Something else.", "nowhere"),),
}


def test_the_fields_left_uncompared_are_those_of_identity() -> None:
    identity = {"dialect", "domain", "name", "since_version", "variant", "source"}
    assert set(CHANGED) == {f.name for f in fields(OperatorSpec)} - identity


@pytest.mark.parametrize("field", CHANGED)
def test_every_other_field_is_compared(field: str) -> None:
    assert reported(difference(DIV_6, replace(DIV_6, **{field: CHANGED[field]})))


@given(st.sets(st.sampled_from(ELEMENT_TYPES)), st.sets(st.sampled_from(ELEMENT_TYPES)))
def test_types_break_exactly_when_one_is_lost(before: set[ElementType], after: set[ElementType]) -> None:
    """Reciprocal has neither integer rounding nor broadcasting, so nothing but the types can break it."""
    diff = difference(with_types(RECIPROCAL_6, *before), with_types(RECIPROCAL_6, *after))
    assert diff.breaking == (not before <= after)
    assert {t for change in diff.type_constraints for t in change.added} == after - before
    assert {t for change in diff.type_constraints for t in change.removed} == before - after
