"""Every small nest of loops, and nests as large as a block: each quotient is where it belongs, and only there.

`proofs/theories/core_blocks.mlw` proves on a model how blocks are numbered and loops merged; this ties the core to it.
"""

from __future__ import annotations

from itertools import permutations, product
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

import vinculum

Array = npt.NDArray[Any]

ORDERS = tuple(permutations(range(3)))
STRETCHED = tuple(product((False, True), repeat=3))


def in_order(array: Array, order: tuple[int, ...]) -> Array:
    """Lay the dimensions into memory in an order, outermost first."""
    return np.array(array.transpose(order), order="C").transpose(np.argsort(order))


def stretched(array: Array, along: tuple[bool, ...]) -> Array:
    """Keep one element of each dimension that is to be stretched."""
    return array[tuple(slice(0, 1) if one else slice(None) for one in along)]


@pytest.mark.parametrize("shape", [*product((1, 2, 3), repeat=3)], ids=str)
def test_every_small_nest(shape: tuple[int, ...]) -> None:
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


@pytest.mark.usefixtures("twelve_threads")
@pytest.mark.parametrize("lines", [1, 2, 127, 129])
@pytest.mark.parametrize("columns", [1, 255, 256, 257, 32767, 32768, 32769])
def test_nests_as_large_as_a_block(lines: int, columns: int) -> None:
    a = (np.arange(lines * columns, dtype=np.uint32) * 40503 >> 7).astype(np.uint8).reshape(lines, columns)
    divisor = np.uint8(3)
    for operand in (a, np.asfortranarray(a)):
        out = np.full((lines + 2, columns), 255, np.uint8)
        vinculum.divide(operand, divisor, out=out[1:-1])
        assert np.array_equal(out[1:-1], a // divisor)
        assert (out[[0, -1]] == 255).all()
