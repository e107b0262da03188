"""What every part of the page on SONNX Div asks: shape and type consistency, and the general restrictions."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import ml_dtypes
import numpy as np
import pytest

from tests.cases import case
from vinculum import ConstraintError, ElementTypeError, sonnx
from vinculum.spec.model import Dialect
from vinculum.spec.rows import ROWS

CALLS = [sonnx.div, sonnx.error_conditions, lambda a, b: sonnx.accuracy(a, b, 0, 0)]
every_call = pytest.mark.parametrize("call", CALLS, ids=["div", "error_conditions", "accuracy"])
GOOD = [np.full(2, Fraction(1), object), np.ones(2, "f4"), np.ones(2, "i4")]
every_variant = pytest.mark.parametrize("good", GOOD, ids=["real", "float", "int"])


@pytest.mark.parametrize(("name", "allowed"), [("bfloat16", "float16, float, double"), ("int4", "int8, ")])
def test_other_types(name: str, allowed: str) -> None:
    """Lines 135 and 244: three types of floats, and eight of integers."""
    ones = np.ones(2).astype(getattr(ml_dtypes, name))
    with pytest.raises(ElementTypeError, match=f"does not take {name}; allowed: {allowed}"):
        sonnx.div(ones, ones)


class TestC1:
    """[C1]: one shape, no broadcasting; lines 104, 105, 209, 210, 304 and 305."""

    @pytest.mark.clause("SONNX Div (*)", "[C1]")
    @every_call
    @every_variant
    def test_shapes(self, good: Any, call: Callable[..., Any]) -> None:
        for shape in ((), (1,), (3,), (1, 2), (2, 1)):
            with case(shape):
                with pytest.raises(ConstraintError, match=r"^\[C1\] A has shape \(2,\) and B ") as refusal:
                    call(good, np.full(shape, good[0], good.dtype))
                assert (refusal.value.tag, refusal.value.count, refusal.value.first_index) == ("[C1]", 0, None)


class TestGR2:
    """[GR2]: numerical types are explicit, never inferred."""

    @pytest.mark.clause("SONNX Div (*)", "[GR2]")
    @every_call
    @every_variant
    def test_what_states_no_type_is_refused(self, good: Any, call: Callable[..., Any]) -> None:
        for bare in ([1.0, 2.0], [1, 2], (1, 2), 1, 2.5, Fraction(1, 2), "12", None, range(2)):
            with case(repr(bare)):
                for operands, name in (((bare, good), "A"), ((good, bare), "B")):
                    with pytest.raises(ConstraintError, match=rf"\[GR2\].*\b{name} is a") as refusal:
                        call(*operands)
                    assert refusal.value.tag == "[GR2]"
                    assert "\n" not in str(refusal.value)


class TestGR4:
    """[GR4]: nothing has a default value."""

    @pytest.mark.clause("SONNX Div (*)", "[GR4]")
    @every_variant
    def test_both_operands_are_given_and_there_is_no_attribute(self, good: Any) -> None:
        for given in ((), (good,)):
            with pytest.raises(TypeError, match="missing"):
                sonnx.div(*given)
        assert [row.attributes for row in ROWS if row.dialect is Dialect.SONNX] == [(), (), ()]


class TestGR3:
    """[GR3]: no operand is converted to another type; [C2], lines 211, 212, 306 and 307: both have one type."""

    @pytest.mark.clause("SONNX Div (real)", "[GR3]")
    @pytest.mark.clause("SONNX Div (float)", "SONNX Div (int)", "[GR3]", "[C2]")
    @every_call
    @every_variant
    def test_types_do_not_meet_halfway(self, good: Any, call: Callable[..., Any]) -> None:
        for other in (*GOOD, *(np.ones(2, name) for name in ("float16", "float64", "int16", "uint32", "int64"))):
            if other.dtype != good.dtype:
                with case(other.dtype), pytest.raises(ConstraintError, match=r"^\[C2\] A is \w+ and B ") as refusal:
                    call(good, other)
                assert refusal.value.tag == "[C2]"
