"""Ordinary numbers for shapes: as different from each other as the element type lets them be."""

from __future__ import annotations

from math import prod

from vinculum.conformance.cases.values.encodings import whole
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
    return whole([top - i % max(top // 2, 1) for i in range(prod(shape))], t).reshape(shape)


def divisors(shape: tuple[int, ...], t: ElementType) -> Array:
    """Return numbers from 1 on, no two of them equal as far as the type holds them exactly."""
    top = min(t.maximum, _PRIME) if t.is_integer else 1 << (t.binary_format.significand_bits if t.binary_format else 12)
    return whole([1 + i % top for i in range(prod(shape))], t).reshape(shape)
