"""Summaries of divisions: how many divisors were zero, and how many results were infinite, NaN or subnormal."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import astuple, dataclass
from operator import add
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vinculum.models.execution import DivisionRecord
from vinculum.spec.element_types import BinaryFormat, by_numpy_name

_CHUNK = 1 << 16


@dataclass(frozen=True)
class DivisionSummary:
    """Counts over the results of one division node; ``+`` adds summaries of several executions.

    Attributes
    ----------
    executions : int
        How often the node was executed.
    elements : int
        How many quotients were computed.
    zero_divisors : int
        How many of them had a zero divisor.
    infinite, nan, subnormal : int
        How many quotients are infinite, NaN and subnormal; always 0 for integers.
    seconds : float
        The time that the divisions took.
    """

    executions: int = 0
    elements: int = 0
    zero_divisors: int = 0
    infinite: int = 0
    nan: int = 0
    subnormal: int = 0
    seconds: float = 0.0

    def __add__(self, other: DivisionSummary) -> DivisionSummary:
        return DivisionSummary(*map(add, astuple(self), astuple(other)))


def summarise(record: DivisionRecord) -> DivisionSummary:
    """Summarise one execution of a division node, in chunks to save memory."""
    quotient, divisor = record.quotient, record.divisor
    form = by_numpy_name(quotient.dtype.name).binary_format
    zeros = sum(int(np.count_nonzero(_magnitudes(piece, form) == 0)) for piece in _pieces(divisor))
    # Every broadcasting rule repeats each element of the divisor equally often.
    repeats = quotient.size // divisor.size if divisor.size else 0
    total = DivisionSummary(1, quotient.size, zeros * repeats, seconds=record.seconds)
    if form is not None:
        for piece in _pieces(quotient):
            total += _classes(_magnitudes(piece, form), form)
    return total


def _pieces(array: NDArray[Any]) -> Iterator[NDArray[Any]]:
    flat = array.reshape(-1) if array.flags.c_contiguous else array.flat
    for start in range(0, array.size, _CHUNK):
        yield flat[start : start + _CHUNK]


def _magnitudes(piece: NDArray[Any], form: BinaryFormat | None) -> NDArray[Any]:
    """Return the encodings of floats without their signs; integers as they are."""
    return piece if form is None else piece.view(f"u{piece.dtype.itemsize}") & (form.sign_mask - 1)


def _classes(magnitude: NDArray[Any], form: BinaryFormat) -> DivisionSummary:
    """Count the encodings that are infinite, NaN and subnormal."""
    smallest_normal = 1 << form.trailing_bits
    not_finite = int(np.count_nonzero(magnitude > form.largest))
    infinite = int(np.count_nonzero(magnitude == form.largest + 1)) if form.infinities else 0
    subnormal = int(np.count_nonzero((magnitude != 0) & (magnitude < smallest_normal)))
    return DivisionSummary(infinite=infinite, nan=not_finite - infinite, subnormal=subnormal)
