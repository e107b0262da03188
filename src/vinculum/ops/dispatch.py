"""Which division an element type gets."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import numpy.typing as npt

from vinculum.ops.native import NativeDivision
from vinculum.ops.policies import ExceptionalElements, Policies
from vinculum.ops.rational import divide_rationals
from vinculum.ops.tabulated import TabulatedDivision
from vinculum.spec.element_types import (
    FLOAT8E4M3FN,
    FLOAT8E5M2,
    INT4,
    REAL,
    UINT4,
    ElementType,
)
from vinculum.spec.model import IntegerRounding
from vinculum.tensors.walk import Walk

Array = npt.NDArray[Any]
Division = Callable[[Array, Array, Array, Walk], ExceptionalElements | None]

_TABULATED = (INT4, UINT4, FLOAT8E4M3FN, FLOAT8E5M2)


@cache
def division(element_type: ElementType, rounding: IntegerRounding, policies: Policies) -> Division:
    """Return the division of an element type; rounding and policies matter for integers only."""
    if element_type is REAL:
        return divide_rationals
    if element_type in _TABULATED:
        return TabulatedDivision(element_type, rounding, policies)
    return NativeDivision(element_type, rounding, policies)
