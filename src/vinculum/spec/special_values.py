"""Division of special operands in IEEE 754, as a table."""

from __future__ import annotations

from enum import Enum


class OperandClass(Enum):
    """The kinds of floating-point operands."""

    ZERO = "zero"
    FINITE = "finite"  # Subnormal or normal, not zero.
    INFINITY = "infinity"
    NAN = "NaN"


class QuotientClass(Enum):
    """The kinds of quotients."""

    ZERO = "zero"
    ROUNDED = "rounded quotient"  # The exact quotient, rounded once; it may become zero or infinity.
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
    """Return the kind of a quotient; its sign is the exclusive-or of the operands' signs, and unspecified for NaN."""
    return dict(zip(OperandClass, _QUOTIENTS[dividend], strict=True))[divisor]
