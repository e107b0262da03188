"""Operator sets, attributes and policies: each version has its own attributes, and each attribute its own values."""

from __future__ import annotations

from functools import partial
from itertools import product
from typing import Any

import numpy as np
import pytest

from tests.cases import case
from vinculum import AttributeValueError, BroadcastError, Operator, SpecLookupError, div, divide, reciprocal
from vinculum.spec.model import Dialect, OperatorSpec
from vinculum.spec.rows import ROWS

ONES = np.ones((2, 3), "f4")


def refusal_of(call: Any, *operands: object, **arguments: Any) -> str:
    """Return the one line with which a call refuses an attribute."""
    with pytest.raises(AttributeValueError) as refusal:
        call(*operands, **arguments)
    line = str(refusal.value)
    assert "\n" not in line
    assert isinstance(refusal.value, ValueError)
    return line


VALUES: dict[str, Any] = {
    "axis": 0,
    "broadcast": 1,
    "consumed_inputs": (0,),
    "m_pythondiv": False,
    "auto_broadcast": "numpy",
}


class TestVersions:
    """axis and broadcast are of Div-1 and Div-6, consumed_inputs of version 1, and later versions have none."""

    @pytest.mark.clause("Div-*", "Reciprocal-*", "Divide-1", "attributes-of-this-version")
    @pytest.mark.parametrize("row", ROWS, ids=lambda row: row.title)
    def test_its_own_and_no_other(self, row: OperatorSpec) -> None:
        own = {attribute.name for attribute in row.attributes}
        numbered: Any = {} if row.dialect is Dialect.SONNX else {"opset": row.since_version}
        make: Any = partial(Operator, row.name, dialect=row.dialect.value, variant=row.variant, **numbered)
        assert dict(make(**{name: VALUES[name] for name in own}).attributes) == {name: VALUES[name] for name in own}
        for name in set(VALUES) - own:
            assert refusal_of(make, **{name: VALUES[name]}).startswith(f"{row.title} has no attribute '{name}'")


class TestValues:
    """A value of another type, or one that the attribute does not allow."""

    @pytest.mark.clause("Div-1", "Div-6", "Divide-1", "attributes-of-this-version")
    @pytest.mark.clause("Div-1", "Reciprocal-1", "consumed-inputs-hint")
    def test_what_is_refused(self) -> None:
        placed = {"Div-1": partial(div, opset=1, broadcast=1), "Div-6": partial(div, opset=6, broadcast=1)}
        hinted = {"Div-1": partial(div, opset=1), "Reciprocal-1": lambda a, b, **hint: reciprocal(a, opset=1, **hint)}
        pdpd = {"Divide-1": partial(divide, auto_broadcast="pdpd")}
        refused: dict[str, tuple[dict[str, Any], str, tuple[Any, ...]]] = {
            "broadcast": (placed, "0, 1", (2, -1, 10**30, 1.0, "1", b"1", [1], True, False, np.True_)),
            "axis": (placed | pdpd, "a whole number", (0.0, "0", [0], 1j, float("nan"), True, np.False_)),
            "consumed_inputs": (
                hinted,
                "a list of whole numbers",
                (0, 1.0, "01", b"01", [0.5], [None], ["0"], [[0]], {0: 1}),
            ),
            "m_pythondiv": ({"Divide-1": divide}, "False, True", (1, 0, "true", "false", 1.0, [True])),
            "auto_broadcast": (
                {"Divide-1": divide},
                "'none', 'numpy', 'pdpd'",
                ("NUMPY", "", "explicit", 0, b"numpy", ["numpy"]),
            ),
        }
        for name, (calls, allowed, values) in refused.items():
            for (title, call), value in product(calls.items(), values):
                with case(title, name, repr(value)):
                    line = refusal_of(call, ONES, ONES, **{name: value})
                    assert line == f"{name} of {title} is {value!r}; allowed: {allowed}"

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
        """1 equals True and 1.0, so the cache of operators must distinguish the types of arguments."""
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


@pytest.mark.parametrize("name", ["auto_broadcast", "axis", "consumed_inputs"])
def test_a_long_value_is_shortened(name: str) -> None:
    """The refusal is one clear line, however long the value is."""
    call: Any = partial(div, opset=1) if name == "consumed_inputs" else divide
    assert len(refusal_of(call, ONES, ONES, **{name: "9" * 5000})) < 300


class TestOperatorSets:
    """An operator-set version is a whole number from 1 on; anything else is refused in one line."""

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


class TestPolicies:
    """`zero_divisor` and `overflow` have their own values, and no others."""

    @pytest.mark.parametrize("value", ["Raise", "RAISE", "", "nan", None, 0, True, b"zero", ["zero"], ("zero",)])
    def test_no_other_policies(self, value: Any) -> None:
        for call in (div, divide, lambda a, b, **policies: Operator("Div", **policies)(a, b)):
            line = refusal_of(call, ONES, ONES, zero_divisor=value)
            assert line == f"zero_divisor is {value!r}; allowed: 'raise', 'zero', 'saturate'"
            if value is not None:  # which leaves the choice to the operator
                line = refusal_of(call, ONES, ONES, overflow=value)
                assert line == f"overflow is {value!r}; allowed: 'wrap', 'raise', 'saturate'"

    def test_one_policy_is_not_the_others(self) -> None:
        refusal_of(div, ONES, ONES, zero_divisor="wrap")
        refusal_of(div, ONES, ONES, overflow="zero")
