"""What is known of a division's operands without running the model."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vinculum.spec.element_types import ElementType, Kind

Values = NDArray[Any] | None
"""The distinct values of an operand that is the same in every run, in one dimension; None for any other operand."""


@dataclass(frozen=True, eq=False)
class Facts:
    """A division as far as its rewriting depends on it; None for values means that they are not known.

    Attributes
    ----------
    operator : str
        ``"Div"`` or ``"Reciprocal"``.
    opset : int
        The operator set that it stands in.
    element_type : ElementType
        The operands'.
    dividend, divisor : ndarray or None
        The distinct values of an operand that is the same in every run.
    may_be_found : bool
        Whether the dividend is not known, but a runtime may find when it loads the model that it is the same in every
        run, and yet not fold the division.
    """

    operator: str
    opset: int
    element_type: ElementType
    dividend: Values = None
    divisor: Values = None
    may_be_found: bool = False

    @property
    def is_signed(self) -> bool:
        """Whether the operands are integers that can be negative."""
        return self.element_type.kind is Kind.SIGNED

    @property
    def may_be_zero(self) -> bool:
        """Whether a divisor may be zero."""
        return self.divisor is None or not bool(np.all(self.divisor != 0))

    @property
    def may_be_inverse(self) -> bool:
        """Whether a runtime may find that every dividend is 1."""
        return self.may_be_found if self.dividend is None else bool(np.all(self.dividend == 1))

    @property
    def may_overflow(self) -> bool:
        """Whether the quotient may be MIN/-1."""
        return self.may_be_minus_one and _may_hold(self.dividend, self.element_type.minimum)

    @property
    def may_be_minus_one(self) -> bool:
        """Whether a divisor may be -1."""
        return self.is_signed and _may_hold(self.divisor, -1)


def _may_hold(values: Values, value: int) -> bool:
    return values is None or bool(np.any(values == value))
