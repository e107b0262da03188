"""Quotients are right to the last bit, or they are not."""

from __future__ import annotations

import numpy as np
import pytest

from benchmarks.compare.cells import TYPES, Cell, cells
from benchmarks.compare.operands import drawn_operands
from benchmarks.compare.peers import PEERS, Peer, Roofline, Vinculum
from benchmarks.compare.rightness import are_exact, are_ours, operator_of
from vinculum import threads


@pytest.mark.parametrize("cell", cells(TYPES, ["equal", "channel"], [100]), ids=str)
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


def test_whom_each_is_compared_with() -> None:
    cell = Cell("Reciprocal", "float32", "equal", 100)
    operands = drawn_operands(cell)
    bits = operands[0].view(np.uint32)
    with threads(1):
        roofline = Roofline(1)
    assert roofline.is_right(cell, operands, bits.copy().view(np.float32))
    assert not roofline.is_right(cell, operands, (bits ^ 1).view(np.float32))
    assert Vinculum.is_right is not Peer.is_right
    assert {peer.is_right for peer in PEERS.values()} == {Peer.is_right}
