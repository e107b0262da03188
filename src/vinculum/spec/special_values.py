"""Division of special operands in IEEE 754, as a table: the quotient's class, and its sign."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum


class OperandClass(Enum):
    """What kind of floating-point number an operand is."""

    ZERO = "zero"
    FINITE = "finite"  # subnormal or normal, never a zero
    INFINITY = "infinity"
    NAN = "NaN"


class QuotientClass(Enum):
    """What the quotient of two kinds of numbers is."""

    ZERO = "zero"
    ROUNDED = "rounded quotient"  # the exact one, rounded once: it may come out as zero or infinity
    INFINITY = "infinity"
    NAN = "NaN"


class SignRule(Enum):
    """Where the sign of a quotient comes from."""

    EXCLUSIVE_OR = "the exclusive-or of the operands' signs"
    UNSPECIFIED = "unspecified"


@dataclass(frozen=True)
class SpecialCase:
    """One row of the table: the classes of the operands, and the class and the sign of the quotient."""

    dividend: OperandClass
    divisor: OperandClass
    quotient: QuotientClass
    sign: SignRule


_ZERO, _ROUNDED, _INFINITY, _NAN = QuotientClass

_QUOTIENTS = {
    # divisor:              zero       finite     infinity  NaN
    OperandClass.ZERO:     (_NAN,      _ZERO,     _ZERO,    _NAN),
    OperandClass.FINITE:   (_INFINITY, _ROUNDED,  _ZERO,    _NAN),
    OperandClass.INFINITY: (_INFINITY, _INFINITY, _NAN,     _NAN),
    OperandClass.NAN:      (_NAN,      _NAN,      _NAN,     _NAN),
}  # fmt: skip

SPECIAL_VALUES = tuple(
    SpecialCase(
        dividend,
        divisor,
        quotient,
        SignRule.UNSPECIFIED if quotient is QuotientClass.NAN else SignRule.EXCLUSIVE_OR,
    )
    for dividend, quotients in _QUOTIENTS.items()
    for divisor, quotient in zip(OperandClass, quotients, strict=True)
)


def special_case(dividend: OperandClass, divisor: OperandClass) -> SpecialCase:
    """Return the row of the table for these two classes."""
    return next(case for case in SPECIAL_VALUES if (case.dividend, case.divisor) == (dividend, divisor))
