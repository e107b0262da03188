"""How a number of any element type stands in a sentence."""

from __future__ import annotations

from typing import Any

import numpy as np

from vinculum.spec.element_types import ElementType


def number_text(value: Any, element_type: ElementType) -> str:
    """Return a number as text, that of a float with its encoding: ``"0.1 (0x3dcccccd)"``.

    Parameters
    ----------
    value : scalar
        An element of an array, of the element type.
    element_type : ElementType
        Its element type.
    """
    if element_type.binary_format is None:
        return str(value)
    encoding = int(np.asarray(value).view(f"u{element_type.bits // 8}"))
    return f"{value!s} (0x{encoding:0{element_type.bits // 4}x})"


def integer_name(value: Any, element_type: ElementType) -> str:
    """Return an integer as text, the smallest and the largest of a type by name: ``"MIN"``."""
    if value == element_type.maximum:
        return "MAX"
    return "MIN" if value == element_type.minimum != 0 else str(value)
