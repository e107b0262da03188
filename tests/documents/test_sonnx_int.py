"""The page on SONNX Div, part int: truncation, and a domain without zero divisors."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from vinculum import AttributeValueError, ConstraintError, Operator, sonnx

SIGNED = ["int8", "int16", "int32", "int64"]
INTEGERS = [*SIGNED, "uint8", "uint16", "uint32", "uint64"]


class TestExamples:
    """The two examples of the informal specification: any fractional part is discarded."""

    @pytest.mark.clause("SONNX Div (int)", "truncating-division")
    @pytest.mark.parametrize("dtype", SIGNED)
    def test_example_1(self, dtype: str) -> None:
        """Lines 266 to 275: -35/3 is -11."""
        quotients = sonnx.div(np.array([6, 5, -35], dtype), np.array([3, 3, 3], dtype))
        assert (quotients.dtype, quotients.tolist()) == (np.dtype(dtype), [2, 1, -11])

    @pytest.mark.clause("SONNX Div (int)", "truncating-division")
    @pytest.mark.parametrize("dtype", INTEGERS)
    def test_example_2(self, dtype: str) -> None:
        """Lines 277 to 287."""
        a, b = np.array([[10, 10], [21, 1], [30, 9]], dtype), np.array([[3, 2], [4, 1], [5, 4]], dtype)
        assert sonnx.div(a, b).tolist() == [[3, 5], [5, 1], [6, 2]]


class TestConstraints:
    """[C3], the definition domain, and our own [V1]."""

    @pytest.mark.clause("SONNX Div (int)", "[C3]", "null-denominator")
    @pytest.mark.parametrize("dtype", INTEGERS)
    def test_c3_no_divisor_is_zero(self, dtype: str) -> None:
        """Lines 319 and 320; lines 289 and 290 leave a null denominator to the implementation, and ours refuses it."""
        a, b = np.array([[1, 2], [0, 4]], dtype), np.array([[1, 2], [0, 0]], dtype)
        with pytest.raises(
            ConstraintError, match=r"^\[C3\] 2 of 4 divisors of SONNX Div .* are zero, the first at index \(1, 0\)"
        ) as e:
            sonnx.div(a, b)
        assert (e.value.tag, e.value.count, e.value.first_index) == ("[C3]", 2, (1, 0))
        assert sonnx.error_conditions(a, b) == []

    @pytest.mark.clause("SONNX Div (int)", "[V1]")
    @pytest.mark.parametrize("dtype", SIGNED)
    def test_v1_the_smallest_integer_by_minus_one(self, dtype: str) -> None:
        """Line 264 asks for a quotient that the type cannot hold; the page does not mention it."""
        smallest = np.iinfo(dtype).min
        a, b = np.array([1, smallest, smallest], dtype), np.array([1, 1, -1], dtype)
        with pytest.raises(ConstraintError, match=r"^\[V1\] 1 of 3 quotients .* index \(2,\).* the tag is ours") as e:
            sonnx.div(a, b)
        assert (e.value.tag, e.value.count, e.value.first_index) == ("[V1]", 1, (2,))

    @pytest.mark.clause("SONNX Div (int)", "[V1]")
    @pytest.mark.parametrize("dtype", SIGNED)
    def test_v1_wraps_where_the_caller_says_so(self, dtype: str) -> None:
        """As `sonnx_div_*` of the C library does; `sonnx_div_checked_*` does what is the default here."""
        smallest = np.iinfo(dtype).min
        a, b = np.array([1, smallest, smallest], dtype), np.array([1, 1, -1], dtype)
        quotients = sonnx.div(a, b, overflow="wrap")
        assert (quotients.dtype, quotients.tolist()) == (np.dtype(dtype), [1, smallest, smallest])
        with pytest.raises(ConstraintError, match=r"^\[C3\] "):
            sonnx.div(a, np.zeros_like(b), overflow="wrap")

    def test_v1_is_never_saturated(self) -> None:
        with pytest.raises(AttributeValueError, match=r"overflow is 'saturate'; .* allows 'raise' and 'wrap'"):
            sonnx.div(np.ones(1, "i4"), np.ones(1, "i4"), overflow="saturate")  # type: ignore[call-overload]  # what is refused
        with pytest.raises(AttributeValueError, match=r"zero_divisor is 'zero'; .* allows 'raise' only"):
            Operator("Div", dialect="sonnx", variant="int", zero_divisor="zero")


class TestAccuracy:
    """The note on numeric accuracy is of the float part; our readings bound the integers too, and correct it."""

    @pytest.mark.clause("SONNX Div (int)", "introduced-error")
    def test_truncation_may_take_two_thirds(self) -> None:
        """5/3 discards 2/3, where the note allows 0.5; the bound stays below 1."""
        introduced = sonnx.accuracy(np.array([5, 5, 5], "int32"), np.array([3, -100, 1], "int32"), 0, 0).introduced
        assert (introduced >= [2 / 3, 5 / 100, 0]).all()
        assert (introduced < 1).all()

    @pytest.mark.clause("SONNX Div (int)", "propagated-error")
    @pytest.mark.parametrize(
        ("a", "b", "a_err", "b_err"), [(100, 7, 3, 2), (-100, 7, 3, 2), (5, -9, 0, 4), (0, 3, 1, 0)]
    )
    def test_no_operand_in_range_exceeds_the_total(self, a: int, b: int, a_err: int, b_err: int) -> None:
        total = sonnx.accuracy(np.array([a], "int32"), np.array([b], "int32"), a_err, b_err).total[0]
        erroneous = [(x, y) for x in range(a - a_err, a + a_err + 1) for y in range(b - b_err, b + b_err + 1)]
        results: Any = sonnx.div(
            np.array([x for x, _ in erroneous], "int32"), np.array([y for _, y in erroneous], "int32")
        )
        assert max(abs(result - a / b) for result in results.tolist()) <= total
