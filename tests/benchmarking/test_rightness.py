"""Quotients are right to the last bit, or they are not."""

from __future__ import annotations

import numpy as np
import pytest

from vinculum.benchmarking.cells import SHAPES, TYPES, Cell, cells
from vinculum.benchmarking.operands import drawn_operands
from vinculum.benchmarking.rightness import are_exact, are_ours, operator_of

EVERY_CELL = cells(["Div", "Divide", "Reciprocal"], list(TYPES), list(SHAPES), [100])


@pytest.mark.parametrize("cell", [c for c in EVERY_CELL if c.shape in ("equal", "channel")], ids=str)
def test_ours_are_exact_and_one_wrong_bit_is_seen(cell: Cell) -> None:
    operands = drawn_operands(cell)
    quotients = operator_of(cell)(*operands)
    assert are_exact(cell, operands, quotients)
    assert are_ours(cell, operands, quotients)
    quotients.reshape(-1).view(f"u{quotients.dtype.itemsize}")[-1] ^= 1
    assert not are_exact(cell, operands, quotients)
    assert not are_ours(cell, operands, quotients)


def test_of_many_quotients_a_thousand_are_looked_at() -> None:
    cell = Cell("Div", "int16", "column", 10_000)
    operands = drawn_operands(cell)
    quotients = operator_of(cell)(*operands)
    assert are_exact(cell, operands, quotients)
    assert not are_exact(cell, operands, quotients + np.int16(1))


def test_another_type_or_shape_is_not_ours() -> None:
    cell = Cell("Div", "int16", "equal", 4)
    operands = drawn_operands(cell)
    quotients = operator_of(cell)(*operands)
    assert not are_ours(cell, operands, quotients.astype(np.int32))
    assert not are_ours(cell, operands, quotients.reshape(2, 2))
