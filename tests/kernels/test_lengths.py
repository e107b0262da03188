"""However long lines are, however many there are, however they nest, and wherever a division is cut.

No element is missed or met twice.
"""

from __future__ import annotations

from itertools import permutations, product
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

import vinculum
from tests.kernels.comparing import DTYPES, INTEGERS, assert_same, exact_quotients, is_nan, lenient, random_encodings
from tests.kernels.layouts import LINE, assert_untouched_around, at

Array = npt.NDArray[Any]

# One type of each size in bytes.
NAMES = ("int8", "float16", "int32", "float64")
# Divisions are cut at powers of two, of elements or of bytes, the last into blocks of 32 KiB: up to 16 of those every
# power, and its neighbours.
POWERS = [1 << exponent for exponent in range(20)]
# Results that take more bytes than STREAMED_FROM of core/nest.hpp, with their operands, are written past the caches.
BEYOND_CACHES = 97 << 20

each_name = pytest.mark.parametrize("name", NAMES)
pytestmark = pytest.mark.usefixtures("twelve_threads")


def check(a: Array, b: Array, expected: Array, *results: Array) -> None:
    """Divide into a new result and into each given one."""
    policies = lenient(expected.dtype.name)
    assert_same(vinculum.divide(a, b, **policies), expected)
    for out in results:
        assert vinculum.divide(a, b, out=out, **policies) is out
        assert_same(out, expected)


class TestLines:
    """Lines of a power of two, or one element more or less."""

    @each_name
    def test_one_line(self, name: str) -> None:
        lengths = sorted({p // DTYPES[name].itemsize + d for p in POWERS for d in (-1, 0, 1)} - {-1})
        a, b = (random_encodings(name, (2 * lengths[-1],), seed) for seed in (1, 2))
        expected = exact_quotients(a, b)
        wide = np.zeros(2 * lengths[-1], DTYPES[name])
        for n in lengths:
            assert_same(vinculum.divide(a[:n], b[:n], **lenient(name)), expected[:n])
            assert_same(vinculum.divide(a[::2][:n], b[::2][:n], **lenient(name)), expected[::2][:n])
            vinculum.divide(a[:n], b[:n], out=wide[1::2][:n], **lenient(name))
            assert_same(wide[1::2][:n], expected[:n])
            assert not wide[::2].any()
            assert not wide[2 * n :].any()
            for place in (0, 1):
                both = [a[:n].copy(), b[:n].copy()]
                assert vinculum.divide(*both, out=both[place], **lenient(name)) is both[place]
                assert_same(both[place], expected[:n])

    @each_name
    @pytest.mark.parametrize("columns", [1, 3, 127, 128, 129, 1000])
    def test_many_lines(self, name: str, columns: int) -> None:
        of_a_power = [p // DTYPES[name].itemsize // columns for p in (1 << 16, 1 << 17, 1 << 18, 1 << 19)]
        counts = sorted({lines + d for lines in of_a_power for d in (-1, 0, 1)} - {-1})
        a = random_encodings(name, (counts[-1], columns + 1), 1)[:, :-1]  # a gap keeps the lines apart
        b = random_encodings(name, (columns,), 2)
        by_row, of_row = exact_quotients(a, b), exact_quotients(b, a)
        for count in counts:
            assert_same(vinculum.divide(a[:count], b, **lenient(name)), by_row[:count])
            assert_same(vinculum.divide(b, a[:count], **lenient(name)), of_row[:count])


class TestBeyondTheCaches:
    """Results so large that they are written with streaming stores."""

    @pytest.mark.parametrize("name", ["float16", "float64"])
    def test_at_any_address(self, name: str) -> None:
        size = BEYOND_CACHES // 3 // DTYPES[name].itemsize + 1001
        a, b = (random_encodings(name, (5000,), seed) for seed in (1, 2))
        expected = exact_quotients(a, b)
        numbers = ~is_nan(expected)  # those compare as bytes do
        a, b, expected = (np.resize(x[numbers], size) for x in (a, b, expected))
        for offset in (DTYPES[name].itemsize, LINE - 1):
            out = at((size,), DTYPES[name], offset)
            vinculum.divide(a, b, out=out, **lenient(name))
            assert_same(out, expected)
            assert_untouched_around(out)
        with vinculum.threads(1):
            vinculum.divide(a, b, out=a, **lenient(name))
        assert_same(a, expected)

    @each_name
    @pytest.mark.parametrize("length", [1 << 12, 3 << 15])
    def test_lines_of_any_length(self, name: str, length: int) -> None:
        """Each line has another offset from a cache line."""
        columns = length // DTYPES[name].itemsize + 7
        lines = BEYOND_CACHES // DTYPES[name].itemsize // columns + 3
        row, column = random_encodings(name, (columns,), 1), random_encodings(name, (lines, 1), 2)
        out = at((lines, columns), DTYPES[name], DTYPES[name].itemsize)
        for a, b in ((row, column), (column, row)):
            vinculum.divide(a, b, out=out, **lenient(name))
            for line in (0, 1, 2, lines // 2, lines - 1):
                x, y = (row, column[line]) if a is row else (column[line], row)
                assert_same(out[line], exact_quotients(x, y))
            assert_untouched_around(out)

    def test_lines_of_records(self) -> None:
        """Only the first line is aligned."""
        columns = 1 << 20
        records = np.zeros(13, [("values", "f4", (columns,)), ("tag", "u1")])
        a = np.arange(1, 13 * columns + 1, dtype="f4").reshape(13, columns)
        out = records["values"]
        assert out.strides[0] % 4
        assert a.nbytes + out.nbytes > BEYOND_CACHES
        vinculum.div(a, np.float32(3), out=out)
        assert np.array_equal(out, a / np.float32(3))
        assert not records["tag"].any()


@pytest.mark.parametrize("name", INTEGERS)
@pytest.mark.parametrize("overflow", ["wrap", "saturate"])
def test_exceptions_wherever_a_line_is_cut(name: str, overflow: Any) -> None:
    """Exceptions at the first and last place and next to powers of two."""
    a, b = np.full(70_001, 7, DTYPES[name]), np.full(70_001, 2, DTYPES[name])
    places = sorted({p + d for p in POWERS[:17] for d in (-1, 0, 1)} | {a.size - 1})
    a[places] = np.iinfo(name).min or 9
    b[places] = DTYPES[name].type(-1) if np.iinfo(name).min else 0
    for floor, operator in ((False, vinculum.div), (True, vinculum.divide)):
        expected = exact_quotients(a, b, floor=floor, overflow=overflow)
        for n in (a.size, 4097, 65):
            result = operator(a[:n], b[:n], zero_divisor="saturate", overflow=overflow)
            assert_same(result, expected[:n])
        with pytest.raises((vinculum.DivisionByZeroError, vinculum.IntegerOverflowError)) as caught:
            operator(a, b, overflow="raise")
        assert (caught.value.count, caught.value.first_index) == (len(places), (0,))


@each_name
def test_columns(name: str) -> None:
    """Column-major operands, of shapes that do and do not fill whole tiles."""
    for rows, columns in [(255, 900), (257, 900), (900, 256), (512, 513), (3, 70_000), (70, 150), (5, 37 * 70)]:
        a, b = random_encodings(name, (columns, rows), 1).T, random_encodings(name, (rows, columns), 2)
        expected = exact_quotients(a, b)
        check(a, b, expected, *(np.empty((rows, columns), DTYPES[name], order=order) for order in ("C", "F")))
        for x, y in ((a, b[0]), (b[:, :1], a), (b, a)):
            check(x, y, exact_quotients(x, y))


@each_name
def test_few_that_lie_far_apart(name: str) -> None:
    a, memory = random_encodings(name, (4,), 1), random_encodings(name, (4 << 17,), 2)
    for step in (1 << 17, -(1 << 17), 4096, 1 << 15):
        y = memory[::step][:4]
        check(a, y, exact_quotients(a, y), np.zeros_like(a))
        check(y, a, exact_quotients(y, a), np.zeros_like(a))
        out = np.zeros_like(memory)
        check(y, a, exact_quotients(y, a), out[::step][:4])
        out[::step][:4] = 0
        assert not out.any()


ORDERS = tuple(permutations(range(3)))
STRETCHED = tuple(product((False, True), repeat=3))


def in_order(array: Array, order: tuple[int, ...]) -> Array:
    """Store the dimensions in an order, outermost first."""
    return np.array(array.transpose(order), order="C").transpose(np.argsort(order))


def stretched(array: Array, along: tuple[bool, ...]) -> Array:
    """Keep one element of each dimension that is to be stretched."""
    return array[tuple(slice(0, 1) if one else slice(None) for one in along)]


@pytest.mark.parametrize("shape", [*product((1, 2, 3), repeat=3)], ids=str)
def test_every_small_nest(shape: tuple[int, ...]) -> None:
    """`proofs/theories/core_blocks.mlw` proves on a model how loops are merged; this ties the core to it."""
    size = int(np.prod(shape))
    dividends = (np.arange(size, dtype=np.int32) + 1).reshape(shape) * 1000
    divisors = (np.arange(size, dtype=np.int32) % 7 + 2).reshape(shape)
    for along_a, along_b in product(STRETCHED, STRETCHED):
        b = stretched(divisors, along_b)
        expected = np.broadcast_to(stretched(dividends, along_a), shape) // b
        for order in ORDERS:
            a = in_order(stretched(dividends, along_a), order)
            out = in_order(np.full(shape, -1, np.int32), order[::-1])
            if np.broadcast_shapes(a.shape, b.shape) == shape:
                assert vinculum.divide(a, b, out=out) is out
                assert np.array_equal(out, expected)
