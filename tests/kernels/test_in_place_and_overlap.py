"""`out` lies across its operands: the quotients are those of what stood there before, at any size, by any threads."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

import vinculum
from tests.kernels.comparing import DTYPES, FLOATS, assert_same, exact_quotients, lenient, random_encodings

Array = npt.NDArray[Any]
Place = tuple[Array, Array, Array]

# Sides of squares of few elements; of more than a line; of more than one thread divides alone; and of more than is kept
# in the caches.
SIDES = {"int8": (4, 70, 720), "float16": (4, 70, 510), "int32": (4, 70, 360), "float64": (4, 70, 260, 2050)}

pytestmark = pytest.mark.usefixtures("eight_threads")


@cache
def squares(name: str, side: int) -> tuple[Array, Array, Array, Array]:
    """Return two squares of elements, the same for every place, to which nobody may write, and memory of two more."""
    first, second = (random_encodings(name, (side, side), seed) for seed in (1, 2))
    return first, second, np.empty_like(first), np.empty_like(first)


def flat(memory: Array) -> Array:
    """View a square as a line."""
    return memory.reshape(-1)


PLACES: dict[str, Callable[[Array, Array], Place]] = {
    "the dividend": lambda m, other: (m, other, m),
    "the divisor": lambda m, other: (other, m, m),
    "both": lambda m, other: (m, m, m),
    "the dividend, by a column": lambda m, other: (m, other[:, :1], m),
    "the divisor, of a row": lambda m, other: (other[:1], m, m),
    "the dividend, columns first": lambda m, other: (m.T, other, m.T),
    "the dividend, turned": lambda m, other: (m[::-1, ::-1], other, m[::-1, ::-1]),
    "the dividend, with gaps": lambda m, other: (m[:, 1:-1], other[:, 2:], m[:, 1:-1]),
    "the dividend, every other": lambda m, other: (m[:, ::2], other[:, ::2], m[:, ::2]),
    "one element on": lambda m, other: (flat(m)[:-1], flat(other)[1:], flat(m)[1:]),
    "one element back": lambda m, other: (flat(m)[1:], flat(other)[1:], flat(m)[:-1]),
    "one element on of the divisor": lambda m, other: (flat(other)[1:], flat(m)[:-1], flat(m)[1:]),
    "between the operands": lambda m, other: (flat(m)[:-2], flat(m)[2:], flat(m)[1:-1]),
    "a row on": lambda m, other: (m[:-1], other[:-1], m[1:]),
    "a row back": lambda m, other: (m[1:], other[:-1], m[:-1]),
    "turned": lambda m, other: (m[::-1], other, m),
    "turned along the lines": lambda m, other: (m, other, m[:, ::-1]),
    "turned as a whole": lambda m, other: (flat(m), flat(other), flat(m)[::-1]),
    "the divisor turned": lambda m, other: (other, m[::-1, ::-1], m),
    "transposed": lambda m, other: (m.T, other, m),
    "transposed, the divisor": lambda m, other: (other, m.T, m),
    "against its own transpose": lambda m, other: (m, m.T, m),
    "a row of it": lambda m, other: (other, m[len(m) // 2], m),
    "a row of it, in place": lambda m, other: (m, m[-1], m),
    "a column of it": lambda m, other: (other, m[:, 1:2], m),
    "a column of it as the dividend": lambda m, other: (m[:, -1:], other, m),
    "an element of it": lambda m, other: (m, m[1, 2], m),
    "its first element": lambda m, other: (other, m[:1, :1], m),
    "its last element as the dividend": lambda m, other: (m[-1, -1:], other, m),
    "a stretched row of it": lambda m, other: (np.broadcast_to(m[1], m.shape), other, m),
    "between its elements": lambda m, other: (m[:, ::2], other[:, ::2], m[:, 1::2]),
    "beside it": lambda m, other: (m[2], m[0], m[1]),
    "beside it, and another": lambda m, other: (m[1], other[0], m[0]),
    "windows of it": lambda m, other: (
        np.lib.stride_tricks.sliding_window_view(flat(m), 3)[: len(m), :2],
        other[:, :2],
        m[:, :2],
    ),
}


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("name", SIDES)
def test_as_if_copied(name: str, place: str) -> None:
    for side in SIDES[name]:
        original, other, expected, memory = squares(name, side)
        x, y, _ = PLACES[place](original, other)
        expected[...] = original
        PLACES[place](expected, other)[2][...] = exact_quotients(x, y)
        for threads in (8,) if side in (4, 70, 2050) else (1, 8):
            memory[...] = original
            a, b, out = PLACES[place](memory, other)
            with vinculum.threads(threads):
                assert vinculum.divide(a, b, out=out, **lenient(name)) is out
            assert_same(memory, expected)  # all of it: nothing beside the result is written


@pytest.mark.parametrize("name", ["int16", "int64"])
def test_an_error_tells_what_stood_there_before(name: str) -> None:
    for side in (4, 1100):
        for place in ("the divisor", "both", "one element on of the divisor", "transposed, the divisor", "a row of it"):
            memory, other = np.ones((side, side), DTYPES[name]), np.ones((side, side), DTYPES[name])
            memory[side // 2, 1:3] = 0
            a, b, out = PLACES[place](memory, other)
            zero = np.broadcast_to(b == 0, out.shape)
            first = tuple(int(i) for i in np.argwhere(zero)[0])
            with pytest.raises(vinculum.DivisionByZeroError) as caught:
                vinculum.divide(a, b, out=out)
            assert (caught.value.count, caught.value.first_index) == (int(zero.sum()), first)


@pytest.mark.parametrize("name", FLOATS)
def test_reciprocals_in_place(name: str) -> None:
    for shape in ((5, 7), (3, 70_000)):
        x = random_encodings(name, shape, 5)
        expected = exact_quotients(np.ones_like(x), x)
        out = np.empty_like(x)
        assert vinculum.reciprocal(x, out=out) is out
        assert_same(out, expected)
        place = x.copy()
        assert vinculum.reciprocal(place, out=place) is place
        assert_same(place, expected)
        mirrored = x.copy()
        vinculum.reciprocal(mirrored, out=mirrored[::-1])
        assert_same(mirrored[::-1], expected)
