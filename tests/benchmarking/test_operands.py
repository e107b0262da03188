"""The operands: the same in every process, deadly to no runtime, and not all alike."""

from __future__ import annotations

import numpy as np
import pytest

from tests.cases import case
from vinculum.benchmarking import operands
from vinculum.benchmarking.cells import SHAPES, TYPES, Cell
from vinculum.benchmarking.operands import drawn_operands
from vinculum.tensors.storage import dtype_of

INTEGERS = [name for name, element_type in TYPES.items() if element_type.is_integer]


@pytest.mark.parametrize("element_type", TYPES)
def test_they_are_as_the_cell_has_them(element_type: str) -> None:
    for shape in SHAPES:
        with case(shape):
            cell = Cell("Div", element_type, shape, 1_000)
            drawn = drawn_operands(cell)
            assert tuple(x.shape for x in drawn) == cell.shapes
            assert {x.dtype for x in drawn} == {dtype_of(TYPES[element_type])}
            assert all(x.flags.c_contiguous and x.flags.writeable for x in drawn)
            assert all(x.tobytes() == y.tobytes() for x, y in zip(drawn, drawn_operands(cell), strict=True))


@pytest.mark.parametrize("element_type", INTEGERS)
def test_no_runtime_dies_of_them(element_type: str) -> None:
    a, b = drawn_operands(Cell("Div", element_type, "equal", 200_000))
    assert b.all()
    assert not (a == np.iinfo(a.dtype).min).any() or a.dtype.kind == "u"


@pytest.mark.parametrize("element_type", INTEGERS)
def test_divisors_are_of_all_magnitudes(element_type: str) -> None:
    _, b = drawn_operands(Cell("Div", element_type, "equal", 200_000))
    bits = b.dtype.itemsize * 8 - (b.dtype.kind == "i")
    magnitudes = np.log2(np.abs(b.astype(float)).clip(1)).astype(int)
    assert set(magnitudes) >= set(range(bits - 1))
    assert (b < 0).any() == (b.dtype.kind == "i")


def test_quotients_of_floats_are_normal_numbers() -> None:
    a, b = drawn_operands(Cell("Div", "float16", "equal", 200_000))
    quotients = np.abs(a.astype(float) / b.astype(float))
    assert quotients.min() > np.finfo(np.float16).smallest_normal
    assert quotients.max() < np.finfo(np.float16).max
    assert {-1.0, 1.0} == set(np.sign(a.astype(float)))


def test_what_is_large_repeats(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(operands, "_PERIOD", 30)
    a, _ = drawn_operands(Cell("Div", "uint32", "row", 100))
    flat = a.ravel()
    assert flat.size == 100
    assert np.array_equal(flat[:30], flat[30:60])
    assert np.array_equal(flat[:10], flat[90:])
    assert len(set(flat[:30].tolist())) == 30


def test_a_scalar_divisor_of_integers_is_no_power_of_two() -> None:
    assert drawn_operands(Cell("Div", "int8", "scalar-divisor", 10))[1].tolist() == [7]
