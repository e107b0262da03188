"""Checks whether quotients are exact, bit for bit."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.compare.cells import Cell
from vinculum.ops.operator import Operator
from vinculum.reference import divide, reciprocal
from vinculum.tensors.comparison import different

Array = NDArray[Any]

_SAMPLE = 1_000
_SEED = 1


def operator_of(cell: Cell) -> Operator:
    """Return our operator for a cell."""
    return Operator(cell.operator, opset=cell.spec.since_version, dialect=cell.spec.dialect.value)


def are_ours(cell: Cell, operands: Sequence[Array], quotients: Array) -> bool:
    """Return whether quotients equal ours bit for bit."""
    expected = operator_of(cell)(*operands)
    same_form = quotients.dtype == expected.dtype and quotients.shape == expected.shape
    return same_form and not different(expected, quotients, cell.type).any()


def are_exact(cell: Cell, operands: Sequence[Array], quotients: Array) -> bool:
    """Return whether quotients equal the reference's: all of them, or a random sample of a thousand."""
    few = quotients.size <= _SAMPLE
    indices = np.arange(quotients.size) if few else np.random.default_rng(_SEED).integers(0, quotients.size, _SAMPLE)
    taken = [np.broadcast_to(operand, quotients.shape).flat[indices] for operand in operands]
    if len(taken) == 1:
        expected = reciprocal(taken[0], cell.type)
    else:
        expected = divide(taken[0], taken[1], cell.type, rounding=cell.spec.rounding({}))
    return not different(expected, quotients.flat[indices], cell.type).any()
