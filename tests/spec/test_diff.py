"""What a difference reports of documentation and types, and which rows have one."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vinculum.errors import SpecLookupError
from vinculum.spec.diff import difference
from vinculum.spec.element_types import BFLOAT16
from vinculum.spec.model import OperatorSpec
from vinculum.spec.onnx_div import DIV_1, DIV_6, DIV_7, DIV_13, DIV_14
from vinculum.spec.onnx_reciprocal import RECIPROCAL_6
from vinculum.spec.openvino_divide import DIVIDE_1
from vinculum.spec.sonnx_div import DIV_FLOAT, DIV_REAL


class TestDocumentation:
    """The documentation's difference is a unified one, counted by lines."""

    def test_div_6_adds_an_empty_line_and_a_sentence(self) -> None:
        """The Div-6 document: 'line similarity: 0.95 (+2/-0 lines)', '--- Div v1', '+++ Div v6'."""
        change = difference(DIV_1, DIV_6).documentation
        assert f"{change.similarity:.2f} (+{change.added}/-{change.removed} lines)" == "0.95 (+2/-0 lines)"
        assert change.lines[:2] == ("--- Div v1", "+++ Div v6")
        assert [line for line in change.lines[2:] if line.startswith("+")] == [
            "+",
            f"+{DIV_6.documentation[-1]}",
        ]

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


def test_bfloat16_is_what_separates_13_from_7() -> None:
    (change,) = difference(DIV_7, DIV_13).type_constraints
    assert (change.added, change.removed) == ((BFLOAT16,), ())
