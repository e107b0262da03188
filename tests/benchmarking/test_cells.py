"""What is measured: every combination that says something of its own, in shapes of about the size that is asked for."""

from __future__ import annotations

import numpy as np
import pytest

from tests.cases import case
from vinculum.benchmarking.cells import OPERATORS, SHAPES, TYPES, Cell, cells, every_cell
from vinculum.errors import AttributeValueError
from vinculum.reporting.bench.words import SHAPES as WORDS
from vinculum.spec.model import IntegerRounding


@pytest.mark.parametrize("shape", SHAPES)
def test_shapes_broadcast_to_about_the_size(shape: str) -> None:
    for size in (1, 2, 3, 16, 1_000, 4_097, 1_000_000, 16_000_000):
        with case(size):
            cell = Cell("Div", "int16", shape, size)
            assert cell.result == np.broadcast_shapes(*cell.shapes)
            assert size / 2 <= cell.elements <= size
            assert cell.size_in_bytes == 2 * cell.elements


def test_large_shapes_lose_little() -> None:
    assert all(Cell("Div", "int8", shape, 16_000_000).elements == 16_000_000 for shape in SHAPES)


def test_what_each_shape_is() -> None:
    shapes = {shape: Cell("Div", "int8", shape, 1_000_000).shapes for shape in SHAPES}
    assert shapes == {
        "equal": ((1_000_000,), (1_000_000,)),
        "scalar-divisor": ((1_000_000,), (1,)),
        "scalar-dividend": ((1,), (1_000_000,)),
        "row": ((1000, 1000), (1000,)),
        "column": ((1000, 1000), (1000, 1)),
        "channel": ((10, 10, 100, 100), (10, 1, 1)),
        "outer": ((1000, 1), (1, 1000)),
    }
    assert list(WORDS) == list(SHAPES)


def test_reciprocal_takes_one_operand() -> None:
    assert Cell("Reciprocal", "float32", "equal", 5).shapes == ((5,),)


def test_operators_are_those_of_the_documents() -> None:
    assert OPERATORS["Div"].rounding({}) is IntegerRounding.TRUNCATING
    assert OPERATORS["Divide"].rounding({}) is IntegerRounding.FLOOR


def test_nothing_is_measured_twice_or_without_need() -> None:
    found = cells(list(OPERATORS), list(TYPES), ["equal", "row", "equal"], [16, 16])
    assert len(found) == len(set(found)) == 12 * 2 + 4 * 2 + 4
    assert {c.element_type for c in found if c.operator == "Divide"} == {"int8", "int16", "int32", "int64"}
    reciprocals = [c for c in found if c.operator == "Reciprocal"]
    assert {c.element_type for c in reciprocals} == {"float16", "bfloat16", "float32", "float64"}
    assert {c.shape for c in reciprocals} == {"equal"}


@pytest.mark.parametrize(
    ("operator", "element_type", "shape"),
    [("Reciprocal", "int8", "equal"), ("Reciprocal", "float32", "row"), ("Divide", "uint8", "equal")],
)
def test_nothing_left(operator: str, element_type: str, shape: str) -> None:
    with pytest.raises(AttributeValueError, match="nothing is left to measure"):
        cells([operator], [element_type], [shape], [16])


def test_every_cell() -> None:
    found = every_cell(["Div"], ["int8"])
    sizes = (16, 1_000, 8_000, 65_536, 500_000, 1_000_000, 16_000_000)
    assert [(c.shape, c.size) for c in found[:7]] == [("equal", size) for size in sizes]
    assert len(found) == 7 + 2 * (len(SHAPES) - 1)
    assert {c.size for c in found[7:]} == {1_000_000, 16_000_000}
    assert len(every_cell(["Reciprocal"], list(TYPES))) == 7 * 4
