"""Differences of real versions and of rows with one change: what is reported, and whether it breaks models.

``tests/reporting/recorded/spec_changes.txt`` has them all.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields, replace
from itertools import permutations
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.reporting.printing import Told
from vinculum.errors import SpecLookupError
from vinculum.reporting.spec import sentences, type_sentences
from vinculum.spec.diff import difference
from vinculum.spec.element_types import FLOAT, INT32, ElementType
from vinculum.spec.model import (
    Attribute,
    AttributeValue,
    Broadcasting,
    IntegerRounding,
    Operand,
    OperatorSpec,
    TypeConstraint,
)
from vinculum.spec.onnx_div import DIV_1, DIV_6, DIV_7, DIV_14
from vinculum.spec.onnx_reciprocal import RECIPROCAL_1, RECIPROCAL_6
from vinculum.spec.openvino_divide import DIVIDE_1
from vinculum.spec.rows import ROWS, versions
from vinculum.spec.sonnx_div import DIV_FLOAT, DIV_REAL

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


RENAMED = (replace(DIV_14.inputs[0], name="X"), DIV_14.inputs[1])
REWORDED = (replace(DIV_14.clauses[0], statement="Nothing."), *DIV_14.clauses[1:])
SWAPPED: dict[AttributeValue | None, IntegerRounding] = {True: TRUNCATING, False: FLOOR}

ONE_CHANGE = {
    "a type goes": (DIV_14, with_types(DIV_14, FLOAT, INT32)),
    "one type for another": (with_types(DIV_14, FLOAT), with_types(DIV_14, INT32)),
    "a hint goes": (DIV_1, without_attribute(DIV_1, "consumed_inputs")),
    "a hint comes": (DIV_14, replace(DIV_14, attributes=(NEW_HINT,))),
    "a hint gets a meaning": (DIV_1, with_attribute(DIV_1, "consumed_inputs", hint=False)),
    "a hint gets a default": (DIV_1, with_attribute(DIV_1, "consumed_inputs", default=(0, 1))),
    "a keyword goes": (DIVIDE_1, without_attribute(DIVIDE_1, "axis")),
    "a duty comes": (DIV_14, replace(DIV_14, attributes=(NEW_DUTY,))),
    "a choice becomes a duty": (DIV_6, with_attribute(DIV_6, "broadcast", required=True)),
    "a duty changes its default": [with_attribute(DIV_6, "axis", required=True, default=one) for one in (0, 1)],
    "a duty that selects a rule": [with_attribute(DIV_6, "broadcast", required=True, default=one) for one in (0, 1)],
    "an attribute changes its type": (DIV_6, with_attribute(DIV_6, "axis", type="INTS")),
    "axis gets a default": (DIV_6, with_attribute(DIV_6, "axis", default=0)),
    "axis changes its default": (DIVIDE_1, with_attribute(DIVIDE_1, "axis", default=0)),
    # More shapes fit, and those that fitted mean the same.
    "broadcast is 1 by default": (DIV_6, with_attribute(DIV_6, "broadcast", default=1)),
    "none by default": (DIVIDE_1, with_attribute(DIVIDE_1, "auto_broadcast", default="none")),
    "truncating by default": (DIVIDE_1, with_attribute(DIVIDE_1, "m_pythondiv", default=False)),
    "a value goes": (DIVIDE_1, with_attribute(DIVIDE_1, "auto_broadcast", allowed=("none", "numpy"))),
    "values are limited": (DIV_6, with_attribute(DIV_6, "axis", allowed=(0, 1))),
    "the least value rises": (DIVIDE_1, with_attribute(DIVIDE_1, "axis", minimum=0)),
    "a spelling goes": (DIVIDE_1, with_attribute(DIVIDE_1, "m_pythondiv", aliases=())),
    "a description changes": (DIV_6, with_attribute(DIV_6, "axis", description="Where.")),
    "the operands change places": (DIV_14, replace(DIV_14, inputs=DIV_14.inputs[::-1])),
    # Models name operands by their places.
    "an operand is renamed": (DIV_14, replace(DIV_14, inputs=RENAMED)),
    "a third operand": (DIV_14, replace(DIV_14, inputs=(*DIV_14.inputs, Operand("D", "T", "More.")))),
    "a remainder": (DIV_14, replace(DIV_14, outputs=(*DIV_14.outputs, Operand("R", "T", "More.")))),
    "equal to multidirectional": (with_rule(DIV_14, EQUAL), DIV_14),
    "equal to limited": (with_rule(DIV_6, EQUAL), with_rule(DIV_6, LIMITED)),
    "multidirectional to pdpd": (DIV_14, with_rule(DIV_14, PDPD)),
    "limited to pdpd": (with_rule(DIV_6, LIMITED), with_rule(DIV_6, PDPD)),
    "limited with axis": (with_rule(DIV_6, LIMITED), with_rule(DIV_6, MULTIDIRECTIONAL)),
    "limited without axis": (with_rule(DIV_14, LIMITED), DIV_14),
    "one operand alone": (RECIPROCAL_6, with_rule(RECIPROCAL_6, PDPD)),
    "floor": (DIV_14, replace(DIV_14, integer_rounding={None: FLOOR})),
    "the values change places": (DIVIDE_1, replace(DIVIDE_1, integer_rounding=SWAPPED)),
    "inference is promised": (RECIPROCAL_1, replace(RECIPROCAL_1, shape_inference=True)),
    "a function": (DIV_14, replace(DIV_14, function=True)),
    "experimental": (DIV_14, replace(DIV_14, support_level="EXPERIMENTAL")),
    "a clause goes": (DIV_14, replace(DIV_14, clauses=DIV_14.clauses[1:])),
    "a clause says something else": (DIV_14, replace(DIV_14, clauses=REWORDED)),
}
"""Two rows that differ in one thing, by what it is."""


def lines(old: OperatorSpec, new: OperatorSpec) -> str:
    """Return the lines that say what breaks and what changed."""
    diff = difference(old, new)
    breaks = [f"breaks: {reason}" for reason in diff.reasons]
    changes = [f"{kind}: {line}" for kind, changes in diff.changes.items() for line in sentences(changes)]
    assert diff.breaking == bool(breaks)
    return "\n".join((*breaks, *changes, *type_sentences(diff)))


PAIRS = {
    **{f"{old.title} to {new.title}": (old, new) for old, new in permutations(versions("Div"), 2)},
    **{f"{old.title} to {new.title}": (old, new) for old, new in permutations(versions("Reciprocal"), 2)},
    **ONE_CHANGE,
    **{f"{name}, undone": (old, new) for name, (new, old) in ONE_CHANGE.items()},
}


def told(old: OperatorSpec, new: OperatorSpec) -> Callable[[int], str]:
    return lambda _: lines(old, new)


TOLD: Told = {name: told(*pair) for name, pair in PAIRS.items()}


def test_every_field_but_those_of_identity_is_compared() -> None:
    identity = {"dialect", "domain", "name", "since_version", "variant", "source"}
    properties = {"shape_inference", "function", "support_level"}
    selectors = {"broadcasting_attribute", "integer_rounding_attribute"}
    compared = {f.name for f in fields(OperatorSpec)} - identity - properties - selectors
    same = difference(DIV_6, DIV_6)
    assert compared == same.changes.keys() - {"properties"} | {"type_constraints", "documentation"}
    assert difference(DIV_6, replace(DIV_6, broadcasting_attribute="axis")).changes["broadcasting"]


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.title)
def test_nothing_changed_nothing_reported(row: OperatorSpec) -> None:
    same = difference(row, replace(row))
    assert lines(row, replace(row)) == ""
    assert (same.documentation.similarity, same.documentation.lines) == (1.0, ())


class TestDocumentation:
    """The difference of the documentations is unified and counted by lines."""

    # Lines that look like the marks of a difference must not be counted as such.
    @given(*[st.lists(st.sampled_from(["", "a", "b", "+", "-", "--- x", "+++ y", "@@ z"]))] * 2)
    def test_counts_and_similarity(self, before: list[str], after: list[str]) -> None:
        old, new = (replace(DIV_7, documentation=tuple(lines)) for lines in (before, after))
        change = difference(old, new).documentation
        assert change.added - change.removed == len(after) - len(before)
        assert (change.similarity == 1.0) == (before == after) == (change.lines == ())
        assert max(change.added, change.removed) <= max(len(before), len(after))


@pytest.mark.parametrize(
    ("old", "new"), [(DIV_6, RECIPROCAL_6), (DIV_14, DIV_FLOAT), (DIV_REAL, DIV_FLOAT), (DIVIDE_1, DIV_1)]
)
def test_different_operators_have_no_difference(old: OperatorSpec, new: OperatorSpec) -> None:
    with pytest.raises(SpecLookupError, match="are different operators; give two versions of one") as refusal:
        difference(old, new)
    assert old.title in str(refusal.value)
    assert new.title in str(refusal.value)
