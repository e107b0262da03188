"""Operator sets and attributes: each version takes its own and no other, and each attribute its own values."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from vinculum import AttributeValueError, BroadcastError, Operator, SpecLookupError, div, divide, reciprocal

ONES = np.ones((2, 3), "f4")


def refusal_of(call: Any, *operands: object, **arguments: Any) -> str:
    """Return the one line with which a call refuses an attribute."""
    with pytest.raises(AttributeValueError) as refusal:
        call(*operands, **arguments)
    line = str(refusal.value)
    assert "\n" not in line
    assert isinstance(refusal.value, ValueError)
    return line


class TestVersions:
    """axis and broadcast are of Div-1 and Div-6, consumed_inputs of version 1, and later versions have none."""

    @pytest.mark.parametrize(
        ("name", "attributes"),
        [
            ("Reciprocal", {"axis": 0}),
            ("Reciprocal", {"broadcast": 1}),
            ("Div", {"m_pythondiv": True}),
            ("Div", {"auto_broadcast": "numpy"}),
            ("Divide", {"broadcast": 1}),
            ("Divide", {"consumed_inputs": [0]}),
        ],
    )
    def test_other_operators(self, name: str, attributes: dict[str, Any]) -> None:
        assert f"has no attribute '{next(iter(attributes))}'" in refusal_of(Operator, name, **attributes)

    @pytest.mark.parametrize("variant", ["real", "float", "int"])
    def test_sonnx_has_none(self, variant: str) -> None:
        for name, value in (("axis", 0), ("broadcast", 0), ("consumed_inputs", ()), ("m_pythondiv", False)):
            line = refusal_of(Operator, "Div", dialect="sonnx", variant=variant, **{name: value})
            assert line.startswith(f"SONNX Div ({variant}) has no attribute ")

    def test_none_leaves_an_attribute_at_its_default(self) -> None:
        for opset in (1, 6, 7, 14):
            assert div(ONES, ONES, opset=opset, axis=None, broadcast=None, consumed_inputs=None).shape == (2, 3)


class TestValues:
    """A value of another type, or one that the attribute does not allow."""

    @pytest.mark.parametrize("opset", [1, 6])
    @pytest.mark.parametrize("broadcast", [2, -1, 10**30, 1.0, "1", b"1", [1], True, False, np.True_])
    def test_broadcast_is_0_or_1(self, broadcast: Any, opset: int) -> None:
        line = refusal_of(div, ONES, ONES, opset=opset, broadcast=broadcast)
        assert line == f"broadcast of Div-{opset} is {broadcast!r}; allowed: 0, 1"

    @pytest.mark.parametrize("opset", [1, 6])
    @pytest.mark.parametrize("axis", [0.0, "0", [0], 1j, float("nan"), True, np.False_])
    def test_axis_is_a_whole_number(self, axis: Any, opset: int) -> None:
        line = refusal_of(div, ONES, ONES[0], opset=opset, broadcast=1, axis=axis)
        assert line == f"axis of Div-{opset} is {axis!r}; allowed: a whole number"

    @pytest.mark.parametrize("axis", [0.0, "0", [0], 1j, float("nan"), True])
    def test_axis_of_divide(self, axis: Any) -> None:
        line = refusal_of(divide, ONES, ONES[0], auto_broadcast="pdpd", axis=axis)
        assert line == f"axis of Divide-1 is {axis!r}; allowed: a whole number"

    @pytest.mark.parametrize("axis", [1, 2])
    def test_an_axis_at_which_equal_shapes_do_not_fit(self, axis: int) -> None:
        with pytest.raises(BroadcastError, match=f"from axis {axis}"):
            div(ONES, ONES, opset=6, broadcast=1, axis=axis)
        with pytest.raises(BroadcastError, match=f"from axis {axis}"):
            divide(ONES, ONES, auto_broadcast="pdpd", axis=axis)
        assert div(ONES, ONES, opset=6, broadcast=1, axis=0).shape == ONES.shape

    def test_numpys_own_numbers_and_booleans(self) -> None:
        index: Any = np.int64(1)
        assert div(ONES, ONES[0], opset=6, broadcast=index, axis=index).shape == (2, 3)
        false: Any = np.False_
        assert divide(np.array([-7], "int8"), np.array([2], "int8"), m_pythondiv=false).tolist() == [-3]

    def test_a_refusal_is_not_remembered_as_an_answer(self) -> None:
        """1 equals True and 1.0, so that a table of operators by their arguments must not take one for the other."""
        assert divide(np.array([-7], "int8"), np.array([2], "int8"), m_pythondiv=False).tolist() == [-3]
        refusal_of(divide, np.array([-7], "int8"), np.array([2], "int8"), m_pythondiv=0)
        assert div(ONES, ONES[0], opset=6, broadcast=1, axis=1).shape == (2, 3)
        refusal_of(div, ONES, ONES[0], opset=6, broadcast=1, axis=1.0)
        refusal_of(div, ONES, ONES[0], opset=6, broadcast=1.0, axis=1)
        hints: Any
        for call, operands in ((div, (ONES, ONES)), (reciprocal, (ONES,))):
            assert call(*operands, opset=1, consumed_inputs=(1,)).shape == (2, 3)
            for hints in ((1.0,), (True,)):
                refusal_of(call, *operands, opset=1, consumed_inputs=hints)


class TestLongValues:
    """The refusal is one clear line, however long the value is."""

    @pytest.mark.parametrize("arguments", [{"auto_broadcast": "9" * 5000}, {"axis": "9" * 5000}])
    def test_it_is_shortened(self, arguments: Any) -> None:
        assert len(refusal_of(divide, ONES, ONES, **arguments)) < 300

    def test_a_long_list(self) -> None:
        assert len(refusal_of(div, ONES, ONES, opset=1, consumed_inputs=["a"] * 5000)) < 300


class TestOperatorSets:
    """An operator-set version is a whole number from 1 on; anything else is one line, whatever was asked before."""

    @pytest.mark.parametrize(
        "opset", [0, -1, -(10**9), 1.5, 7.0, "7", b"7", True, False, [7], (7,), {}, 7j, float("nan")]
    )
    def test_one_line(self, opset: Any) -> None:
        for seen in (7, 1):  # so that 7.0 or True could be mistaken for them
            div(ONES, ONES, opset=seen)
        for call in (
            lambda: div(ONES, ONES, opset=opset),
            lambda: reciprocal(ONES, opset=opset),
            lambda: Operator("Div", opset=opset),
            lambda: Operator("Divide", opset=opset),
        ):
            with pytest.raises(SpecLookupError, match=r"allowed: a whole number from 1 on$") as refusal:
                call()
            assert str(refusal.value).startswith(f"{opset!r} is not an operator-set version")
            assert isinstance(refusal.value, LookupError)

    def test_numpys_whole_numbers_are_whole_numbers(self) -> None:
        assert Operator("Div", opset=np.int64(10)).spec.since_version == 7  # type: ignore[arg-type]  # an int to users
