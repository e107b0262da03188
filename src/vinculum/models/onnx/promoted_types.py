"""Promoted types for element types that a version or a runtime lacks. The quotient is exactly the same.

- int8 and int16 are promoted to int32, uint8 and uint16 to uint32 or int32, uint32 to int64: the wider type holds every
  value, and MIN/-1 too. The cast back drops the high bits, so MIN/-1 wraps to MIN as in the narrow type.
- bfloat16 is promoted to float: its 24 bits of significand are at least 2 * 8 + 2, so that double rounding equals
  single rounding; a quotient below the normal range is too far from the midpoint of two values for the first rounding
  to matter.
"""

from __future__ import annotations

from collections.abc import Collection

from onnx.defs import get_schema

from vinculum.spec.element_types import BFLOAT16, FLOAT, INT8, INT16, INT32, INT64, UINT8, UINT16, UINT32, ElementType
from vinculum.spec.model import OperatorSpec

# In order of preference.
_PROMOTIONS: dict[ElementType, tuple[ElementType, ...]] = {
    INT8: (INT32,),
    INT16: (INT32,),
    UINT8: (UINT32, INT32),
    UINT16: (UINT32, INT32),
    UINT32: (INT64,),
    BFLOAT16: (FLOAT,),
}


def promotion(element_type: ElementType, target: OperatorSpec, opset: int) -> ElementType:
    """Return the promoted type of an element type that a version lacks, one that it has.

    ValueError if there is none; the message gives the reason.
    """
    found = promotion_among(element_type, target.element_types)
    cast_from, _ = get_schema("Cast", opset).type_constraints
    if found is None or f"tensor({element_type})" not in cast_from.allowed_type_strs:
        raise ValueError(f"{target.title} lacks {element_type}, and the operator set has no Cast to a promoted type")
    return found


def promotion_among(element_type: ElementType, available: Collection[ElementType]) -> ElementType | None:
    """Return the preferred promoted type of an element type among those available; None if there is none."""
    return next((found for found in _PROMOTIONS.get(element_type, ()) if found in available), None)
