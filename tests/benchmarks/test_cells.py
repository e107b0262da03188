"""The cells of the benchmark, the operands that are drawn for them, and the check of quotients."""

from __future__ import annotations

import numpy as np
import pytest

from benchmarks.compare.cells import SHAPES, TYPES, Cell, cells, every_cell, quick_cells
from benchmarks.compare.operands import drawn_operands
from benchmarks.compare.peers import PEERS, Peer, Roofline, Vinculum
from benchmarks.compare.rightness import are_exact, are_ours, operator_of
from tests.cases import case
from vinculum import threads

INTEGERS = [name for name, element_type in TYPES.items() if element_type.is_integer]


@pytest.mark.parametrize("shape", SHAPES)
def test_shapes_broadcast_to_about_the_size(shape: str) -> None:
    for size in (1, 2, 3, 16, 1_000, 4_097, 1_000_000, 16_000_000):
        with case(size):
            cell = Cell("Div", "int16", shape, size)
            assert cell.result == np.broadcast_shapes(*cell.shapes)
            assert size / 2 <= cell.elements <= size
    assert cell.elements == size  # Large shapes lose nothing.


def test_nothing_is_measured_twice_or_without_need() -> None:
    found = every_cell()
    assert len(found) == len(set(found)) == 7 * (12 + 4 + 4) + 2 * 6 * (12 + 4)
    assert {c.element_type for c in found if c.operator == "Divide"} == {"int8", "int16", "int32", "int64"}
    reciprocals = {(c.element_type, c.shape) for c in found if c.operator == "Reciprocal"}
    assert reciprocals == {(name, "equal") for name in ("float16", "bfloat16", "float32", "float64")}
    assert {c.size for c in found if c.shape != "equal"} == {1_000_000, 16_000_000}
    assert {(c.operator, c.shape) for c in quick_cells()} == {(c.operator, c.shape) for c in found}


@pytest.mark.parametrize("element_type", INTEGERS)
def test_no_runtime_dies_of_integers_of_all_magnitudes(element_type: str) -> None:
    a, b = drawn_operands(Cell("Div", element_type, "equal", 200_000))
    assert b.all()
    assert not (a == np.iinfo(a.dtype).min).any() or a.dtype.kind == "u"
    bits = b.dtype.itemsize * 8 - (b.dtype.kind == "i")
    assert set(np.log2(np.abs(b.astype(float)).clip(1)).astype(int)) >= set(range(bits - 1))
    assert (b < 0).any() == (b.dtype.kind == "i")


def test_quotients_of_floats_are_normal_numbers() -> None:
    a, b = drawn_operands(Cell("Div", "float16", "equal", 200_000))
    quotients = np.abs(a.astype(float) / b.astype(float))
    assert quotients.min() > np.finfo(np.float16).smallest_normal
    assert quotients.max() < np.finfo(np.float16).max
    assert {-1.0, 1.0} == set(np.sign(a.astype(float)))


@pytest.mark.parametrize("cell", cells(TYPES, ["equal", "channel"], [100]), ids=str)
def test_our_quotients_are_exact_and_one_wrong_bit_is_seen(cell: Cell) -> None:
    operands = drawn_operands(cell)
    quotients = operator_of(cell)(*operands)
    assert are_exact(cell, operands, quotients)
    assert are_ours(cell, operands, quotients)
    quotients.reshape(-1).view(f"u{quotients.dtype.itemsize}")[-1] ^= 1
    assert not are_exact(cell, operands, quotients)
    assert not are_ours(cell, operands, quotients)


def test_of_many_quotients_a_thousand_are_checked() -> None:
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


def test_how_each_is_checked() -> None:
    cell = Cell("Reciprocal", "float32", "equal", 100)
    operands = drawn_operands(cell)
    bits = operands[0].view(np.uint32)
    with threads(1):
        roofline = Roofline(1)
    assert roofline.is_right(cell, operands, bits.copy().view(np.float32))
    assert not roofline.is_right(cell, operands, (bits ^ 1).view(np.float32))
    assert Vinculum.is_right is not Peer.is_right
    assert {peer.is_right for peer in PEERS.values()} == {Peer.is_right}
