"""Division of special operands in IEEE 754, as a table."""

from __future__ import annotations

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


_ZERO, _ROUNDED, _INFINITY, _NAN = QuotientClass

_QUOTIENTS = {
    # divisor:              zero       finite     infinity  NaN
    OperandClass.ZERO:     (_NAN,      _ZERO,     _ZERO,    _NAN),
    OperandClass.FINITE:   (_INFINITY, _ROUNDED,  _ZERO,    _NAN),
    OperandClass.INFINITY: (_INFINITY, _INFINITY, _NAN,     _NAN),
    OperandClass.NAN:      (_NAN,      _NAN,      _NAN,     _NAN),
}  # fmt: skip


def quotient_class(dividend: OperandClass, divisor: OperandClass) -> QuotientClass:
    """Return what the quotient is; its sign is the exclusive-or of the operands' signs, and that of NaN unspecified."""
    return dict(zip(OperandClass, _QUOTIENTS[dividend], strict=True))[divisor]
