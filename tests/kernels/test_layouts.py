"""Operands stored by columns, and far apart, of more elements than one thread divides alone."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from itertools import product
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

import vinculum
from tests.kernels.comparing import DTYPES, assert_same, exact_quotients, lenient, random_encodings
from tests.kernels.layouts import (
    byte_swapped,
)

Array = npt.NDArray[Any]

# One type of each size in bytes.
NAMES = ("int8", "float16", "int32", "float64")

each_type = pytest.mark.parametrize("name", DTYPES)
each_size_of_element = pytest.mark.parametrize("name", NAMES)
pytestmark = pytest.mark.usefixtures("twelve_threads")


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


@each_size_of_element
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
