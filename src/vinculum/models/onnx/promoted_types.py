"""Element types that a version or a runtime lacks, carried by another in which the quotient is exactly the same.

- int8 and int16 by int32, uint8 and uint16 by uint32 or int32, uint32 by int64, int4 and uint4 by any of these: every
  pair is one of the wider type's. MIN/-1 fits there, and the cast back drops the high bits, so it wraps to MIN as it
  does in the narrow type.
- 8 and 16 bits by float, 32 bits by double: a quotient a/b that is no integer differs from every integer by 1/|a| of
  itself or more. That is 2**-16 or 2**-32, and rounding changes it by 2**-24 or 2**-53 of itself at most: so the cast
  back, which truncates, gives the same integer. MIN/-1 is cast back by a wider integer, because a Cast from float to an
  integer type that lacks the value is undefined.
- bfloat16 and the float8 types by float: 24 bits of significand are at least 2 * 8 + 2, with which rounding twice is
  rounding once; a quotient below the normal range lies too far from the middle of two values for the first rounding to
  matter.

The standards are silent on integer zero divisors, and floating-point types would hide them. So Div-1, which has only
those, takes integers if the divisor is a constant without zeros.
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
    """How a division of an element type is written in another."""

    element_type: ElementType  # What the operands are cast to.
    back: tuple[ElementType, ...]  # What the quotient is cast to, one after the other; the last is the type carried.
    hides_zero_divisors: bool = False  # Whether x/0, which an integer type does not have, goes unnoticed.

    def reason(self, target: OperatorSpec) -> tuple[str, str]:
        """Return what it does to a division of a version that lacks the type, and why."""
        back = " and ".join(str(t) for t in self.back)
        return (
            f"operands cast to {self.element_type}, the quotient back to {back}",
            f"{target.title} lacks {self.back[-1]}, and the quotient is the same",
        )


# In the order of preference.
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
    """Return how an element type that a version lacks is carried by one of those that it has.

    ValueError if it cannot be; the message says why.
    """
    found = promotion_among(element_type, target.element_types) if opset >= _CAST_SINCE.get(element_type, 1) else None
    if found is None:
        raise ValueError(f"{target.title} lacks {element_type}, and no Cast there gives a type that serves")
    return found


def promotion_among(element_type: ElementType, available: Collection[ElementType]) -> Promotion | None:
    """Return how an element type is carried by one of others, the best of them; None if none serves."""
    return next((found for found in _PROMOTIONS.get(element_type, ()) if found.element_type in available), None)
