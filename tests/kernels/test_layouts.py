"""Wherever operands and result lie in memory, and however operands are broadcast: as of contiguous copies.

Of more elements than one thread divides alone; `test_contract.py` has fewer, on every backend.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from itertools import product
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

import vinculum
from tests.cases import case
from tests.kernels.comparing import DTYPES, FLOATS, assert_same, exact_quotients, lenient, random_encodings
from tests.kernels.layouts import (
    ANY,
    WRITABLE,
    assert_untouched_around,
    at,
    byte_swapped,
    every_other,
    negative_strides,
    rotated,
)

Array = npt.NDArray[Any]

# One type of each size in bytes.
NAMES = ("int8", "float16", "int32", "float64")

each_type = pytest.mark.parametrize("name", DTYPES)
each_size_of_element = pytest.mark.parametrize("name", NAMES)
pytestmark = pytest.mark.usefixtures("eight_threads")


@cache
def operands(name: str, shape: tuple[int, ...]) -> tuple[Array, Array]:
    """Return operands of any bits, the same for every test; nobody may write to them."""
    return random_encodings(name, shape, 1), random_encodings(name, shape, 2)


def check(a: Array, b: Array, expected: Array, *results: Array) -> None:
    """Divide into each result, and without one; operands may be byte-swapped."""
    policies = lenient(expected.dtype.name)
    assert_same(vinculum.divide(a, b, **policies), expected)
    for out in results:
        assert vinculum.divide(a, b, out=out, **policies) is out
        assert_same(out, expected)


class TestEveryLayout:
    """Each layout of an operand beside each of the other's, into each layout of a result."""

    @each_type
    def test_operands(self, name: str) -> None:
        a, b = operands(name, (5, 37, 130))
        expected = exact_quotients(a, b)
        of_a, of_b = ([lay_out(x) for lay_out in ANY.values()] for x in (a, b))
        for x, y in product(of_a, of_b):
            check(x, y, expected)

    @each_type
    def test_results(self, name: str) -> None:
        a, b = operands(name, (5, 37, 130))
        expected = exact_quotients(a, b)
        results = [lay_out(np.zeros_like(a)) for lay_out in WRITABLE.values()]
        for x, y in ((a, b), (np.asfortranarray(a), b), (np.asfortranarray(a), np.asfortranarray(b))):
            check(x, y, expected, *results)


BROADCASTS: dict[str, Callable[[Array, Array], tuple[Array, Array]]] = {
    "column-major": lambda a, b: (np.asfortranarray(a), b),
    "both column-major": lambda a, b: (np.asfortranarray(a), np.asfortranarray(b)),
    "gaps": lambda a, b: (every_other(a), b),
    "gaps between rows": lambda a, b: (a[:, ::2], b[:, 1::2]),
    "reversed": lambda a, b: (a, negative_strides(b)),
    "rotated": lambda a, b: (a, rotated(b)),
    "a repeated dimension": lambda a, b: (a, np.broadcast_to(b[0], b.shape)),
    "an element": lambda a, b: (a, b[0, 0, :1]),
    "an element as the dividend": lambda a, b: (a[0, 0, 0, ...], b),
    "a row": lambda a, b: (a, b[0, 0]),
    "a row as the dividend": lambda a, b: (a[0, 0], b),
    "a column": lambda a, b: (a, b[..., :1]),
    "a channel": lambda a, b: (a, b[0, :, :1]),
    "a matrix": lambda a, b: (a, b[0]),
    "the outermost dimension": lambda a, b: (a, b[:, :1, :1]),
    "both repeated": lambda a, b: (a[:, :1], b[:1, :, :1]),
    "a divisor of higher rank": lambda a, b: (a[0], b[:, :, :1]),
    "dimensions of one element": lambda a, b: (a[:, None, :, None], b[:, None, :, None]),
    "one more dimension": lambda a, b: (a[0, 0], b[0, 0, None]),
    "no elements": lambda a, b: (a[:, :0], b[:, :1]),
}


@each_type
class TestBroadcasting:
    """Repeated operands, into a result of its own and into one that is given."""

    def test_every_way(self, name: str) -> None:
        for way in BROADCASTS.values():
            a, b = way(*operands(name, (200, 4, 100)))
            expected = exact_quotients(a, b)
            check(a, b, expected, np.zeros_like(expected, order="C"), np.zeros_like(expected, order="F"))

    def test_one_element_by_one_element_many_times(self, name: str) -> None:
        """Both operands are repeated by their strides alone."""
        a, b = operands(name, (7,))
        for shape in ((3, 5), (70_000,)):
            x, y = (np.broadcast_to(z, shape) for z in (a[3], b[3:4]))
            check(x, y, exact_quotients(x, y), np.zeros(shape, DTYPES[name]))


@each_size_of_element
class TestColumnMajor:
    """Operands stored by columns, whatever part of a tile their lines and columns fill."""

    def test_by_columns(self, name: str) -> None:
        shapes = [(255, 900), (257, 900), (900, 256), (512, 513), (3, 70_000), (70, 150)]
        for rows, columns in shapes:
            a, b = random_encodings(name, (columns, rows), 1).T, random_encodings(name, (rows, columns), 2)
            expected = exact_quotients(a, b)
            check(a, b, expected, *(np.empty((rows, columns), DTYPES[name], order=order) for order in ("C", "F")))
            for x, y in ((a, b[0]), (b[:, :1], a), (b, a)):
                check(x, y, exact_quotients(x, y))

    @pytest.mark.parametrize("shape", [(3, 37, 70), (2, 1, 16), (5, 16, 17), (1, 33, 300), (40, 15, 3)])
    def test_transposed_within(self, name: str, shape: tuple[int, ...]) -> None:
        """The last two dimensions of each operand in turn, and of both, forwards and backwards."""
        axes = (0, 2, 1)
        a, b = operands(name, shape)
        expected = exact_quotients(a, b)
        ways: list[Callable[[Array], Array]] = [
            lambda x: x,
            lambda x: x.transpose(axes).copy().transpose(axes),
            lambda x: x[:, :, ::-1].transpose(axes).copy().transpose(axes)[:, :, ::-1],
            lambda x: x[:, ::-1].transpose(axes).copy().transpose(axes)[:, ::-1],
        ]
        results = np.empty_like(a), np.empty_like(a.transpose(axes), order="C").transpose(axes)
        for x, y in product([way(a) for way in ways], [way(b) for way in ways]):
            check(x, y, expected, *results)
        check(a, byte_swapped(ways[1](b)), expected)

    def test_many_dimensions(self, name: str) -> None:
        """Threads begin in the midst of an outer dimension."""
        a = random_encodings(name, (7, 5, 6, 11, 130), 1)
        b = random_encodings(name, (7, 1, 6, 1, 130), 2)
        expected = exact_quotients(a, b)
        check(a, b, expected)
        axes = (3, 0, 4, 1, 2)
        check(a.transpose(axes), b.transpose(axes), expected.transpose(axes))
        check(a[::-1, :, ::-2], b[::-1, :, ::-2], expected[::-1, :, ::-2])


class TestStrides:
    """Operands and results at any distance, in any direction, at any address."""

    @each_size_of_element
    def test_every_pair(self, name: str) -> None:
        size = 20_001
        steps = (1, 2, 3, 4, 5, -1, -2, -3, -5)
        a, b = operands(name, (5 * size,))
        results = [np.zeros(3 * size, DTYPES[name])[::step][:size] for step in (2, -1, -3)]
        for x, y in product(*([z[::step][:size] for step in steps] for z in (a, b))):
            check(x, y, exact_quotients(x, y), *results)

    @each_size_of_element
    def test_few_that_lie_far_apart(self, name: str) -> None:
        a, memory = random_encodings(name, (4,), 1), random_encodings(name, (4 << 17,), 2)
        for step in (1 << 17, -(1 << 17), 4096, 1 << 15):
            y = memory[::step][:4]
            check(a, y, exact_quotients(a, y), np.zeros_like(a))
            check(y, a, exact_quotients(y, a), np.zeros_like(a))
            out = np.zeros_like(memory)
            check(y, a, exact_quotients(y, a), out[::step][:4])
            out[::step][:4] = 0
            assert not out.any()

    @pytest.mark.parametrize("name", ["int16", "int32", "float16", "float64"])
    def test_unaligned(self, name: str) -> None:
        size = 150_000
        a, b = operands(name, (size,))
        expected = exact_quotients(a, b)
        for offsets in ((1, 0, 0), (0, 1, 0), (0, 0, 1), (1, 1, 1), (1, 3, 7), (65, 2, 63)):
            x, y, out = (at((size,), DTYPES[name], offset) for offset in offsets)
            x[...], y[...] = a, b
            check(x, y, expected, out)
            assert_untouched_around(out)
            check(x[::2], y[::2], expected[::2], out[::2])
            check(x, y[7:8], exact_quotients(a, b[7:8]))

    @pytest.mark.parametrize("name", ["int16", "int32", "float16", "float64"])
    def test_fields_of_packed_records(self, name: str) -> None:
        """Every element, or every line, lies at an odd distance from the one before."""
        for shape, count in (((), 5000), ((300,), 700)):
            records = np.zeros(count, [("tag", "u1"), ("a", DTYPES[name], shape), ("b", DTYPES[name], shape)])
            a, b = records["a"], records["b"]
            a[...], b[...] = operands(name, (count, *shape))
            assert not a.flags.aligned
            expected = exact_quotients(a, b)
            check(a, b, expected, a)
            wanted = exact_quotients(expected, b)
            check(expected, b, wanted, b)
            assert not records["tag"].any()


@pytest.mark.parametrize("name", [name for name in DTYPES if name != "bfloat16"])  # ml_dtypes knows one order of it
class TestByteOrder:
    """Operands of the other byte order give what copies in this one do."""

    def test_at_any_distance(self, name: str) -> None:
        for step in (-5, -4, -3, -2, -1, 1, 2, 3, 4, 5):
            with case(step):
                a, b = (x[::step] for x in operands(name, (5003,)))
                x, y = byte_swapped(a), byte_swapped(b)
                expected = exact_quotients(a, b)
                for dividend, divisor in ((x, y), (x, b), (a, y), (np.repeat(x, abs(step))[:: abs(step)], y)):
                    check(dividend, divisor, expected)
                one = exact_quotients(a, b[:1])
                check(x, y[:1], one)
                check(a, y[:1], one)

    def test_in_place(self, name: str) -> None:
        """The result takes the memory that held the dividends in the other order."""
        a = np.ones(3001, DTYPES[name])
        swapped = a.view(a.dtype.newbyteorder())
        swapped[:] = np.arange(3001) % 100
        expected = swapped.astype(a.dtype)
        assert vinculum.div(swapped, np.ones_like(a), out=a) is a
        assert_same(a, expected)

    def test_the_result_is_in_this_order(self, name: str) -> None:
        ones = byte_swapped(np.ones(3, DTYPES[name]))
        assert ones.dtype.isnative == (name in ("int8", "uint8"))
        results = [vinculum.div(ones, ones)] + ([vinculum.reciprocal(ones)] if name in FLOATS else [])
        for result in results:
            assert (result.dtype, result.dtype.isnative) == (DTYPES[name], True)
            assert result.tolist() == [1, 1, 1]


class TestNewResults:
    """A result that is not given is new, dense, its own, and lies in memory as the operands do."""

    @each_size_of_element
    def test_memory_order(self, name: str) -> None:
        a, b = operands(name, (4, 5, 6))
        for axes in ((0, 1, 2), (2, 1, 0), (1, 0, 2), (2, 0, 1)):
            for x, y in ((a.transpose(axes), b.transpose(axes)), (a.transpose(axes), b.transpose(axes)[:1, :, :1])):
                result = vinculum.divide(x, y, **lenient(name))
                assert result.transpose(np.argsort(axes)).flags.c_contiguous
                assert_same(result, exact_quotients(x, y))
        assert vinculum.divide(a[:, ::2], b[:, ::2], **lenient(name)).flags.c_contiguous
        assert vinculum.divide(a[:1, :, :1], b[:, :1], **lenient(name)).flags.c_contiguous
