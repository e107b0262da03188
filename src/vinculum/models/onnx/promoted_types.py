"""Promoted types for element types that a version or a runtime lacks. The quotient is exactly the same.

- int8 and int16 are promoted to int32, uint8 and uint16 to uint32 or int32, uint32 to int64, int4 and uint4 to any of
  these: the wider type holds every value, and MIN/-1 too. The cast back drops the high bits, so MIN/-1 wraps to MIN as
  in the narrow type.
- Integers of 8 and 16 bits are promoted to float, 32 bits to double: a quotient a/b that is not an integer has a
  relative distance of at least 1/|a| from every integer. That is 2**-16 or 2**-32, and the relative rounding error is
  at most 2**-24 or 2**-53: so the cast back, which truncates, gives the same integer. MIN/-1 is cast back through a
  wider integer type, because a Cast from float to an integer type that does not hold the value is undefined.
- bfloat16 and the float8 types are promoted to float: its 24 bits of significand are at least 2 * 8 + 2, so that double
  rounding equals single rounding; a quotient below the normal range is too far from the midpoint of two values for the
  first rounding to matter.

The standards do not define integer zero divisors, and floating-point types would hide them. So integers are promoted to
the floating-point types of Div-1, the only ones it has, if the divisor is a constant without zeros.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

from vinculum.spec.element_types import (
    BFLOAT16,
    DOUBLE,
    FLOAT,
    FLOAT8E4M3FN,
    FLOAT8E5M2,
    INT4,
    INT8,
    INT16,
    INT32,
    INT64,
    UINT4,
    UINT8,
    UINT16,
    UINT32,
    ElementType,
)
from vinculum.spec.model import OperatorSpec


@dataclass(frozen=True)
class Promotion:
    """A promoted type for the divisions of an element type."""

    element_type: ElementType  # The promoted type, to which the operands are cast.
    back: tuple[ElementType, ...]  # The types to which the quotient is cast in turn; the last is the original type.
    hides_zero_divisors: bool = False  # Whether x/0 gives a float and no error.

    def reason(self, target: OperatorSpec) -> tuple[str, str]:
        """Return the change to a division of a version that lacks the type, and the reason."""
        back = " and ".join(str(t) for t in self.back)
        return (
            f"operands cast to {self.element_type}, the quotient back to {back}",
            f"{target.title} lacks {self.back[-1]}, and the quotient is the same",
        )


# In order of preference.
_PROMOTIONS: dict[ElementType, tuple[Promotion, ...]] = {
    INT4: (Promotion(INT8, (INT4,)), Promotion(INT32, (INT4,))),
    UINT4: (Promotion(UINT8, (UINT4,)), Promotion(UINT32, (UINT4,)), Promotion(INT32, (UINT4,))),
    INT8: (Promotion(INT32, (INT8,)), Promotion(FLOAT, (INT32, INT8), hides_zero_divisors=True)),
    INT16: (Promotion(INT32, (INT16,)), Promotion(FLOAT, (INT32, INT16), hides_zero_divisors=True)),
    INT32: (Promotion(DOUBLE, (INT64, INT32), hides_zero_divisors=True),),
    UINT8: (
        *(Promotion(UINT32, (UINT8,)), Promotion(INT32, (UINT8,))),
        Promotion(FLOAT, (UINT8,), hides_zero_divisors=True),
    ),
    UINT16: (
        *(Promotion(UINT32, (UINT16,)), Promotion(INT32, (UINT16,))),
        Promotion(FLOAT, (UINT16,), hides_zero_divisors=True),
    ),
    UINT32: (Promotion(INT64, (UINT32,)), Promotion(DOUBLE, (UINT32,), hides_zero_divisors=True)),
    BFLOAT16: (Promotion(FLOAT, (BFLOAT16,)),),
    FLOAT8E4M3FN: (Promotion(FLOAT, (FLOAT8E4M3FN,)),),
    FLOAT8E5M2: (Promotion(FLOAT, (FLOAT8E5M2,)),),
}

_CAST_SINCE = {BFLOAT16: 13, FLOAT8E4M3FN: 19, FLOAT8E5M2: 19, INT4: 21, UINT4: 21}


def promotion(element_type: ElementType, target: OperatorSpec, opset: int) -> Promotion:
    """Return the promotion of an element type that a version lacks to one that it has.

    ValueError if there is none; the message gives the reason.
    """
    found = promotion_among(element_type, target.element_types) if opset >= _CAST_SINCE.get(element_type, 1) else None
    if found is None:
        raise ValueError(f"{target.title} lacks {element_type}, and the operator set has no Cast to a promoted type")
    return found


def promotion_among(element_type: ElementType, available: Collection[ElementType]) -> Promotion | None:
    """Return the preferred promotion of an element type to one of those available; None if there is none."""
    return next((found for found in _PROMOTIONS.get(element_type, ()) if found.element_type in available), None)
