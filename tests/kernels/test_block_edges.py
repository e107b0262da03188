"""Wherever a division is cut, whatever the strides, and however the result is written: as of contiguous copies."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

import vinculum
from tests.kernels.comparing import DTYPES, FLOATS, assert_same, random_encodings
from tests.kernels.layouts import byte_swapped
from vinculum.kernels import jobs, loops, memory, thread_limit, vectors

Array = npt.NDArray[Any]

NAMES = ("int8", "int32", "float16", "float64")

each_name = pytest.mark.parametrize("name", NAMES)


@pytest.fixture(autouse=True)
def three(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let some threads divide."""
    monkeypatch.setattr(thread_limit, "usable_processors", lambda: 3)


def policies(name: str) -> dict[str, Any]:
    """Return policies that give every pair a value."""
    return {} if name in FLOATS else {"zero_divisor": "saturate", "overflow": "saturate"}


def item_size(name: str) -> int:
    """Return how many bytes an element takes."""
    return DTYPES[name].itemsize


def divided(a: Array, b: Array, name: str) -> Array:
    """Divide elements one by one, in pieces so small that nothing is cut."""
    x, y = (np.ascontiguousarray(np.broadcast_to(z, np.broadcast_shapes(a.shape, b.shape))) for z in (a, b))
    out = np.empty_like(x)
    piece = 1000
    for start in range(0, x.size, piece):
        part = slice(start, start + piece)
        out.reshape(-1)[part] = vinculum.divide(x.reshape(-1)[part], y.reshape(-1)[part], **policies(name))
    return out


def at(shape: tuple[int, ...], name: str, offset: int) -> Array:
    """Return an array that begins that many bytes after a line of the cache, other bytes around it."""
    size = int(np.prod(shape)) * item_size(name)
    raw = np.full(size + 3 * vectors.LINE, 0x5A, np.uint8)
    begin = -raw.__array_interface__["data"][0] % vectors.LINE + vectors.LINE + offset
    return raw[begin : begin + size].view(DTYPES[name]).reshape(shape)


def assert_untouched_around(array: Array) -> None:
    """Fail if a byte beside an array of `at` has changed."""
    raw = array
    while isinstance(raw.base, np.ndarray):
        raw = raw.base
    begin = array.__array_interface__["data"][0] - raw.__array_interface__["data"][0]
    assert (raw[:begin] == 0x5A).all()
    assert (raw[begin + array.nbytes :] == 0x5A).all()


class TestLengths:
    """Lines as long as a run, a buffer, a block, or one more or less."""

    @each_name
    def test_one_line(self, name: str) -> None:
        size = item_size(name)
        edges = {loops.RUN, memory.BUFFER // size, jobs.BLOCK // size, 2 * jobs.BLOCK // size, 3 * loops.RUN, 64}
        longest = max(edges) + 5
        a, b = random_encodings(name, (2 * longest,), 1), random_encodings(name, (2 * longest,), 2)
        expected = {1: divided(a, b, name), 2: divided(a[::2], b[::2], name)}
        for length in sorted({edge + step for edge in edges for step in (-1, 0, 1)}):
            assert_same(vinculum.divide(a[:length], b[:length], **policies(name)), expected[1][:length])
            x, y = a[::2][:length], b[::2][:length]
            assert_same(vinculum.divide(x, y, **policies(name)), expected[2][:length])
            wide = np.zeros(2 * length, DTYPES[name])
            vinculum.divide(a[:length], b[:length], out=wide[1::2], **policies(name))
            assert_same(wide[1::2], expected[1][:length])
            assert not wide[::2].any()

    @each_name
    @pytest.mark.parametrize("columns", [1, 3, 127, 128, 129, 1000])
    def test_many_lines(self, name: str, columns: int) -> None:
        lines = jobs.BLOCK // item_size(name) // columns
        for count in (lines - 1, lines, lines + 1, 2 * lines + 1):
            a = random_encodings(name, (count, columns + 1), 1)[:, :-1]  # a gap keeps the lines apart
            b = random_encodings(name, (columns,), 2)
            assert_same(vinculum.divide(a, b, **policies(name)), divided(a, b, name))
            assert_same(vinculum.divide(b, a, **policies(name)), divided(b, a, name))

    @each_name
    def test_by_columns(self, name: str) -> None:
        tile = vectors.TILE
        for rows, columns in ((tile - 1, 900), (tile + 1, 900), (900, tile), (2 * tile, 2 * tile + 1), (3, 70_000)):
            a = random_encodings(name, (columns, rows), 1).T
            b = random_encodings(name, (rows, columns), 2)
            expected = divided(a, b, name)
            assert_same(vinculum.divide(a, b, **policies(name)), expected)
            for order in ("C", "F"):
                out = np.empty((rows, columns), DTYPES[name], order=order)
                vinculum.divide(a, b, out=out, **policies(name))
                assert_same(out, expected)

    @each_name
    @pytest.mark.parametrize("shape", [(3, 37, 70), (2, 1, 16), (5, 16, 17), (1, 33, 300), (40, 15, 3)])
    def test_turned(self, name: str, shape: tuple[int, ...]) -> None:
        """Operands stored by columns, each in turn and both, in tiles that the lines and columns do not fill."""
        axes = (0, 2, 1)
        a, b = random_encodings(name, shape, 1), random_encodings(name, shape, 2)
        expected = divided(a, b, name)
        ways: list[Callable[[Array], Array]] = [
            lambda x: x,
            lambda x: x.transpose(axes).copy().transpose(axes),
            lambda x: x[:, :, ::-1].transpose(axes).copy().transpose(axes)[:, :, ::-1],
            lambda x: x[:, ::-1].transpose(axes).copy().transpose(axes)[:, ::-1],
        ]
        for x in [way(a) for way in ways]:
            for y in [way(b) for way in ways]:
                for out in (np.empty_like(a), np.empty_like(a.transpose(axes), order="C").transpose(axes)):
                    vinculum.divide(x, y, out=out, **policies(name))
                    assert_same(out, expected)
        foreign = byte_swapped(ways[1](b))
        assert_same(vinculum.divide(a, foreign, **policies(name)), expected)
        if name not in FLOATS:
            b = np.where(np.arange(b.size).reshape(shape) == b.size - 2, 0, np.abs(b) // 2 + 1).astype(b.dtype)
            with pytest.raises(vinculum.DivisionByZeroError) as caught:
                vinculum.div(a, ways[1](b))
            assert caught.value.first_index == np.unravel_index(b.size - 2, shape)

    @each_name
    def test_many_dimensions(self, name: str) -> None:
        """Blocks that begin in the midst of an outer dimension."""
        a = random_encodings(name, (7, 5, 6, 11, 130), 1)
        b = random_encodings(name, (7, 1, 6, 1, 130), 2)
        expected = divided(a, b, name)
        assert_same(vinculum.divide(a, b, **policies(name)), expected)
        axes = (3, 0, 4, 1, 2)
        assert_same(vinculum.divide(a.transpose(axes), b.transpose(axes), **policies(name)), expected.transpose(axes))
        assert_same(vinculum.divide(a[::-1, :, ::-2], b[::-1, :, ::-2], **policies(name)), expected[::-1, :, ::-2])


class TestStrides:
    """Operands and results at any distance, in any direction, at any address."""

    @each_name
    @pytest.mark.parametrize("size", [70, 20_001])
    def test_every_pair(self, name: str, size: int) -> None:
        steps = (1, 2, 3, -1, -2, -3)
        a, b = random_encodings(name, (3 * size,), 1), random_encodings(name, (3 * size,), 2)
        views = {step: (a[::step][:size], b[::step][:size]) for step in steps}
        for x, _ in views.values():
            for _, y in views.values():
                expected = divided(x, y, name)
                assert_same(vinculum.divide(x, y, **policies(name)), expected)
                for step in (2, -1, -3):
                    out = np.zeros(3 * size, DTYPES[name])[::step][:size]
                    vinculum.divide(x, y, out=out, **policies(name))
                    assert_same(out, expected)

    @pytest.mark.parametrize("name", ["int16", "int32", "float16", "float64"])
    @pytest.mark.parametrize("size", [70, 20_001, 150_000])
    def test_unaligned(self, name: str, size: int) -> None:
        a, b = random_encodings(name, (size,), 1), random_encodings(name, (size,), 2)
        expected = divided(a, b, name)
        for offsets in ((1, 0, 0), (0, 1, 0), (0, 0, 1), (1, 1, 1), (1, 3, 7), (65, 2, 63)):
            x, y, out = (at((size,), name, offset) for offset in offsets)
            x[...], y[...] = a, b
            assert vinculum.divide(x, y, out=out, **policies(name)) is out
            assert_same(out, expected)
            assert_untouched_around(out)
            assert_same(vinculum.divide(x, y, **policies(name)), expected)
            assert_same(vinculum.divide(x[::2], y[::2], out=out[::2], **policies(name)), expected[::2])
            one = y[7:8]
            assert_same(vinculum.divide(x, one, **policies(name)), vinculum.divide(a, b[7:8], **policies(name)))

    @pytest.mark.parametrize("name", ["int16", "int32", "float16", "float64"])
    def test_fields_of_packed_records(self, name: str) -> None:
        """Every element, or every line, lies at an odd distance from the one before."""
        for shape, count in (((), 5000), ((300,), 700)):
            records = np.zeros(count, [("tag", "u1"), ("a", DTYPES[name], shape), ("b", DTYPES[name], shape)])
            full = (count, *shape)
            records["a"], records["b"] = random_encodings(name, full, 1), random_encodings(name, full, 2)
            a, b = records["a"], records["b"]
            assert not a.flags.aligned
            expected = divided(a, b, name)
            assert_same(vinculum.divide(a, b, **policies(name)), expected)
            for x, y, out in ((a, b, a), (expected, b, b)):
                wanted = divided(x, y, name)
                vinculum.divide(x, y, out=out, **policies(name))
                assert_same(out, wanted)
            assert not records["tag"].any()


class TestStreams:
    """Results so large that they are written past the caches: every element, and none beside them."""

    @each_name
    @pytest.mark.parametrize("offset", [0, "one element", 1, vectors.LINE - 1, 24])
    def test_at_any_address(self, name: str, offset: Any) -> None:
        size = jobs._STREAMED_FROM // item_size(name) + 1001
        distance = item_size(name) if offset == "one element" else offset
        a, b = random_encodings(name, (5000,), 1), random_encodings(name, (5000,), 2)
        expected = np.resize(divided(a, b, name), size)
        a, b = np.resize(a, size), np.resize(b, size)
        out = at((size,), name, distance)
        vinculum.divide(a, b, out=out, **policies(name))
        assert_same(out, expected)
        assert_untouched_around(out)
        with vinculum.threads(1):
            vinculum.divide(a, b, out=a, **policies(name))
        assert_same(a, expected)

    @each_name
    def test_lines_of_any_length(self, name: str) -> None:
        """Each line begins at another place of a line of the cache."""
        columns = jobs._SHORT_LINE // item_size(name) * 3 + 7
        lines = jobs._STREAMED_FROM // item_size(name) // columns + 3
        row, column = random_encodings(name, (columns,), 1), random_encodings(name, (lines, 1), 2)
        out = at((lines, columns), name, item_size(name))
        for a, b in ((row, column), (column, row)):
            vinculum.divide(a, b, out=out, **policies(name))
            for line in (0, 1, 2, lines // 2, lines - 1):
                x, y = (row, column[line]) if a is row else (column[line], row)
                assert_same(out[line], divided(x, y, name))
            assert_untouched_around(out)

    def test_lines_of_records(self) -> None:
        """Only the first line is aligned."""
        columns = 1 << 20
        records = np.zeros(9, [("values", "f4", (columns,)), ("tag", "u1")])
        a = np.arange(1, 9 * columns + 1, dtype="f4").reshape(9, columns)
        out = records["values"]
        assert out.strides[0] % 4
        assert out.nbytes > jobs._STREAMED_FROM
        vinculum.div(a, np.float32(3), out=out)
        np.testing.assert_array_equal(out, a / np.float32(3))
        assert not records["tag"].any()
