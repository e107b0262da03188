"""The table of special operands against the processor's binary64 division, for every combination."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import product

import numpy as np
import pytest

from tests.cases import case
from vinculum.spec.special_values import OperandClass, QuotientClass, quotient_class

MAGNITUDES = {
    OperandClass.ZERO: (0.0,),
    OperandClass.FINITE: (
        5e-324,
        2.2250738585072009e-308,
        2.2250738585072014e-308,
        1.0,
        3.0,
        math.pi,
        1.79e308,
    ),
    OperandClass.INFINITY: (math.inf,),
    OperandClass.NAN: (math.nan,),
}
OPERANDS = [(kind, sign * m) for kind, many in MAGNITUDES.items() for m in many for sign in (1.0, -1.0)]


def rounded(dividend: float, divisor: float) -> float:
    """Return the magnitude of the exact quotient as the nearest binary64 number, by Python's own rounding."""
    try:
        return float(abs(Fraction(dividend) / Fraction(divisor)))
    except OverflowError:
        return math.inf


@pytest.mark.parametrize(("a_class", "a"), OPERANDS)
def test_the_processor_agrees(a_class: OperandClass, a: float) -> None:
    for b_class, b in OPERANDS:
        with case(b_class, b):
            found = quotient_class(a_class, b_class)
            with np.errstate(all="ignore"):
                quotient = float(np.float64(a) / np.float64(b))
            if found is QuotientClass.NAN:
                assert math.isnan(quotient)
                continue
            assert (math.copysign(1, quotient) < 0) == ((math.copysign(1, a) < 0) != (math.copysign(1, b) < 0))
            expected = {QuotientClass.ZERO: 0.0, QuotientClass.INFINITY: math.inf}.get(found)
            assert abs(quotient) == (rounded(a, b) if expected is None else expected)


def test_a_rounded_quotient_may_come_out_as_zero_or_infinity() -> None:
    """So `rounded` promises no finite result: both ends are among the operands above."""
    finite = MAGNITUDES[OperandClass.FINITE]
    quotients = {rounded(a, b) for a, b in product(finite, finite)}
    assert {0.0, math.inf} < quotients
