"""Ordinary numbers for shapes: as different from each other as the element type lets them be."""

from __future__ import annotations

from fractions import Fraction
from math import prod

import numpy as np

from vinculum.conformance.cases.values.encodings import integers
from vinculum.conformance.cases.values.float_operands import whole_floats
from vinculum.conformance.cases.values.value_class import Array
from vinculum.spec.element_types import ElementType

_LARGEST = 1 << 12
_PRIME = 4093  # So that dividends and divisors repeat themselves at different distances.


def dividends(shape: tuple[int, ...], t: ElementType) -> Array:
    """Return numbers of which no two neighbours are equal, the largest that the type holds exactly first."""
    top = (
        min(t.maximum, _LARGEST)
        if t.is_integer
        else 1 << min(t.binary_format.significand_bits if t.binary_format else 12, 12)
    )
    return _whole([top - i % max(top // 2, 1) for i in range(prod(shape))], t).reshape(shape)


def divisors(shape: tuple[int, ...], t: ElementType) -> Array:
    """Return numbers from 1 on, no two of them equal as far as the type holds them exactly."""
    top = min(t.maximum, _PRIME) if t.is_integer else 1 << (t.binary_format.significand_bits if t.binary_format else 12)
    return _whole([1 + i % top for i in range(prod(shape))], t).reshape(shape)


def _whole(numbers: list[int], t: ElementType) -> Array:
    if t.is_integer:
        return integers(numbers, t)
    if t.binary_format is not None:
        return whole_floats(numbers, t)
    array = np.empty(len(numbers), dtype=object)
    array[:] = [Fraction(n) for n in numbers]
    return array
