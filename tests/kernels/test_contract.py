"""The contract of backends, clause by clause, for each backend and each target of the compiled core."""

from __future__ import annotations

from itertools import product
from typing import Any, cast

import numpy as np
import numpy.typing as npt
import pytest
from numpy.lib.stride_tricks import as_strided

from tests import processes
from tests.cases import case
from tests.kernels import test_environment
from tests.kernels.comparing import assert_same, encodings
from tests.kernels.layouts import ANY, BROADCASTS, LAYOUTS, PLACES, WRITABLE, assert_untouched_around, at, byte_swapped
from tests.kernels.test_environment import SETTINGS, in_every_setting
from tests.kernels.witness import (
    DTYPES,
    FLOATS,
    INTEGERS,
    TYPES,
    Divisions,
    Indices,
    Overflow,
    Pairs,
    ZeroDivisor,
    arithmetic,
    check,
    divisions,
    exact,
    pairs,
    random_encodings,
    values,
)
from vinculum.kernels import backends
from vinculum.kernels.contract import Arithmetic, Backend, Division, Exceptions

Array = npt.NDArray[Any]

# One type of each size in bytes; those that NumPy does not know; those that are computed in another.
TELLING = ("int8", "uint16", "int32", "float64", "bfloat16", "float16", "float8_e4m3fn", "int4")

ZERO_DIVISOR: tuple[ZeroDivisor, ...] = ("raise", "zero", "saturate")
OVERFLOW: tuple[Overflow, ...] = ("raise", "wrap", "saturate")

each_type = pytest.mark.parametrize("name", DTYPES)
each_integer = pytest.mark.parametrize("name", INTEGERS)
each_telling_type = pytest.mark.parametrize("name", TELLING)
pytestmark = pytest.mark.usefixtures("twelve_threads")


def on_every_backend(*small: Any, large: Any) -> list[tuple[Any, Divisions]]:
    """Return sizes with the divisions to test: all for small sizes, the quickest for the large one."""
    return [*((size, divisions()) for size in small), (large, divisions()[:1])]


def check_outcome(
    division: Division, expected: Array | Exceptions, a: object, b: object, out: Array | None = None
) -> None:
    """Fail unless a division returns these exceptions, or these quotients."""
    if isinstance(expected, Exceptions):
        assert division(a, b, out) == expected
    else:
        check(division, a, b, expected, out)


@pytest.mark.clause("Div-14", "ieee-754")
@pytest.mark.clause("Divide-1", "ieee-754")
class TestQuotients:
    """Exact for every element type, rounding and policy."""

    @each_type
    def test_every_two_values_by_every_policy(self, name: str) -> None:
        """All exceptions are counted and located if any policy raises."""
        some = values(name)
        every = np.arange(len(some))
        for floor, zero_divisor, overflow in product((False, True), ZERO_DIVISOR, OVERFLOW):
            known = pairs(name, floor=floor, zero_divisor=zero_divisor, overflow=overflow)
            by_backend = divisions(floor=floor, zero_divisor=zero_divisor, overflow=overflow)
            not_zero = every[~known.zero_divisors.any(0)]
            for rows, columns in ((every, every), (every[:1], every), (every[-1:], every), (every, not_zero)):
                expected = known.outcome(rows[:, None], columns)
                for backend, division in by_backend:
                    with case(backend, floor, zero_divisor, overflow, "dividends", some[rows[0]], "to", some[rows[-1]]):
                        check_outcome(division, expected, some[rows, None], some[columns])

    @each_type
    def test_reciprocals(self, name: str) -> None:
        some, one = values(name), np.ones((), DTYPES[name])
        expected = exact(
            name, np.broadcast_to(one, some.shape).copy(), some, floor=False, zero_divisor="saturate", overflow="wrap"
        )
        for broadcasts in (True, False):
            for backend, division in divisions(reciprocal=True, broadcasts=broadcasts, overflow="wrap"):
                with case(backend, "broadcasts" if broadcasts else "equal shapes"):
                    check(division, some, None, expected)
                    check(division, some[::-2], None, expected[::-2], np.empty_like(some[::-2]))
                    in_place = some.copy()
                    check(division, in_place, None, expected, in_place)

    @pytest.mark.parametrize("name", FLOATS)
    def test_floats_know_no_policies_and_narrow_ones_one_nan(self, name: str) -> None:
        known = pairs(name)
        for backend, division in divisions(floor=True, zero_divisor="raise", overflow="raise"):
            with case(backend):
                result = check(division, known.values[:, None], known.values, known.quotients)
                assert TYPES[name].bits >= 32 or np.array_equal(encodings(result), encodings(known.quotients))


class TestLayouts:
    """Operands and results of any strides, alignment and byte order; repeated operands."""

    @each_telling_type
    def test_operands(self, name: str) -> None:
        known, by_backend = pairs(name), divisions()
        for shape in ((3, 4), (5, 37, 67)):
            i, j = known.drawn(shape, 1), known.drawn(shape, 2)
            expected = known.quotients[i, j]
            of_a, of_b = ({layout: lay(known.values[x]) for layout, lay in ANY.items()} for x in (i, j))
            before = known.values[i].tobytes(), known.values[j].tobytes()
            for backend, division in by_backend:
                for (layout_a, a), (layout_b, b) in product(of_a.items(), of_b.items()):
                    with case(backend, shape, "dividend", layout_a, "divisor", layout_b):
                        check(division, a, b, expected)
                for layout in ANY:
                    with case(backend, shape, layout):
                        after = (x[layout].astype(DTYPES[name]).tobytes() for x in (of_a, of_b))
                        assert tuple(after) == before, "an operand has changed"

    @each_telling_type
    def test_results(self, name: str) -> None:
        known, by_backend = pairs(name), divisions()
        for shape in ((3, 4), (5, 37, 67)):
            i, j = known.drawn(shape, 1), known.drawn(shape, 2)
            a, b = known.values[i], known.values[j]
            expected = known.quotients[i, j]
            for layout, lay_out in WRITABLE.items():
                out = lay_out(np.zeros_like(a))
                memory = out if out.base is None else out.base
                for x, y in ((a, b), (np.asfortranarray(a), b), (np.asfortranarray(a), np.asfortranarray(b))):
                    for backend, division in by_backend:
                        with case(backend, shape, "result", layout, "strides", x.strides, y.strides):
                            check(division, x, y, expected, out)
                            out[...] = 0
                            assert not encodings(memory).any(), "memory beside the result has changed"

    @each_telling_type
    def test_broadcasting(self, name: str) -> None:
        known = pairs(name)
        for shape, by_backend in on_every_backend((6, 4, 5), (3, 2, 67), large=(200, 4, 100)):
            indices = known.drawn(shape, 1), known.drawn(shape, 2)
            operands = [known.values[index] for index in indices]
            for way, picked in BROADCASTS.items():
                i, j = picked(*indices)
                a, b = picked(*operands)
                expected, swapped = known.quotients[i, j], known.quotients[j, i]
                for backend, division in by_backend:
                    with case(backend, shape, way):
                        check(division, a, b, expected)
                        check(division, b, a, swapped)
                        for order in ("C", "F"):
                            check(division, a, b, expected, np.zeros(expected.shape, DTYPES[name], order))

    @each_telling_type
    def test_strides(self, name: str) -> None:
        known, steps = pairs(name), (1, 2, 3, 4, 5, -1, -2, -3, -4, -5)
        for size, by_backend in on_every_backend(1, 7, 67, 1029, large=20_001):
            i, j = known.drawn((5 * size,), 1), known.drawn((5 * size,), 2)
            a, b = known.values[i], known.values[j]
            for of_a, of_b in product(steps, steps):
                expected = known.quotients[i[::of_a][:size], j[::of_b][:size]]
                for backend, division in by_backend:
                    with case(backend, size, "elements; strides", of_a, of_b):
                        check(division, a[::of_a][:size], b[::of_b][:size], expected)
                        out = np.zeros(5 * size, DTYPES[name])
                        check(division, a[::of_a][:size], b[::of_b][:size], expected, out[::of_b][:size])

    @each_telling_type
    def test_every_length(self, name: str) -> None:
        """Also with a single divisor or dividend; only the result is written."""
        known, by_backend = pairs(name), divisions()
        i, j = known.drawn((8195,), 1), known.drawn((8195,), 2)
        a, b = known.values[i], known.values[j]
        expected, by_one, of_one = (known.quotients[x] for x in ((i, j), (i, j[5]), (i[5], j)))
        for backend, division in by_backend:
            for size in (*range(70), 127, 128, 129, 255, 257, 1000, 4097, 8191, 8192, 8193, 8195):
                out = at((size,), DTYPES[name], size % 64)
                with case(backend, size, "elements"):
                    check(division, a[:size], b[:size], expected[:size], out)
                    check(division, a[:size], b[5], by_one[:size], out)
                    check(division, a[5:6], b[:size], of_one[:size], out)
                    assert_untouched_around(out)

    @each_telling_type
    def test_byte_order(self, name: str) -> None:
        """Of one operand or both, also where one is repeated, or is overwritten by the result."""
        known, by_backend = pairs(name), divisions()
        i, j = known.drawn((40, 70), 1), known.drawn((40, 70), 2)
        a, b = known.values[i], known.values[j]
        expected, by_one, by_row = (known.quotients[x] for x in ((i, j), (i, j[:1, :1]), (i[:, 3:4], j[2])))
        for backend, division in by_backend:
            for x, y in ((byte_swapped(a), b), (a, byte_swapped(b)), (byte_swapped(a), byte_swapped(b))):
                with case(backend, x.dtype.byteorder, y.dtype.byteorder):
                    check(division, x, y, expected)
                    check(division, x[:, ::-3], y[:, ::-3], expected[:, ::-3])
                    check(division, x, y[:1, :1], by_one)
                    check(division, x[:, 3:4], y[2], by_row)
            with case(backend, "in place"):
                place = byte_swapped(a)
                check(division, place, b, expected, place.view(DTYPES[name]))

    @each_type
    def test_no_elements(self, name: str) -> None:
        """A result without elements has no exceptions."""
        zeros = np.zeros(1, DTYPES[name])
        for backend, division in divisions(zero_divisor="raise", overflow="raise"):
            for a, b in (((0,), (0,)), ((0,), ()), ((), (3, 0)), ((2, 0, 1), (1, 5)), ((1,), (0,)), ((0, 1), (1, 0))):
                x, y = np.broadcast_to(zeros[0], a), np.broadcast_to(zeros[0], b)
                with case(backend, a, b):
                    expected = np.zeros(np.broadcast_shapes(a, b), DTYPES[name])
                    check(division, x, y, expected)
                    check(division, x, y, expected, np.zeros_like(expected))

    def test_a_result_larger_than_memory(self, backend: Backend) -> None:
        column, row = (np.broadcast_to(np.int32(3), shape) for shape in ((1 << 25, 1), (1, 1 << 25)))
        with pytest.raises(MemoryError):
            backend.division(arithmetic())(column, row, None)

    def test_the_largest_rank(self, backend: Backend) -> None:
        known, division = pairs("int16"), backend.division(arithmetic())
        i, j = known.drawn((2, 3, 4), 1), known.drawn((2, 3, 4), 2)
        for places in ((61, 62, 63), (0, 31, 63), (0, 1, 2)):
            kept = np.ones(64, int)
            kept[list(places)] = (2, 3, 4)
            a, b = (known.values[index].reshape(kept) for index in (i, j))
            check(division, a, b, known.quotients[i, j].reshape(kept))
            check(division, a[..., :1], b, known.quotients[i.reshape(kept)[..., :1], j.reshape(kept)])
        i, j = (np.moveaxis(known.drawn((2,) * 12, seed), 0, 6) for seed in (1, 2))
        a, b = (np.moveaxis(known.values[known.drawn((2,) * 12, seed)], 0, 6) for seed in (1, 2))
        check(division, a, b.T, known.quotients[i, j.T])
        check(division, a[::-1], b.T[..., :1], known.quotients[i[::-1], j.T[..., :1]])


class TestNewResults:
    """A new result has memory of its own, without gaps, in the layout of the first operand that is not repeated."""

    @each_telling_type
    def test_order_in_memory(self, name: str) -> None:
        known, by_backend = pairs(name), divisions()
        i, j = known.drawn((4, 5, 6), 1), known.drawn((4, 5, 6), 2)
        a, b = known.values[i], known.values[j]
        for backend, division in by_backend:
            for axes in ((0, 1, 2), (2, 1, 0), (1, 0, 2), (2, 0, 1)):
                back = np.argsort(axes)
                x, y = a.transpose(axes), b.transpose(axes)
                of_x, of_y = i.transpose(axes), j.transpose(axes)
                expected = known.quotients[of_x, of_y]
                with case(backend, "axes", axes):
                    assert check(division, x, y, expected).transpose(back).flags.c_contiguous
                    assert check(division, x[:, ::-1], y[:, ::-1], expected[:, ::-1]).transpose(back).flags.c_contiguous
                    column = known.quotients[of_x, of_y[:1, :, :1]]
                    assert check(division, x, y[:1, :, :1], column).transpose(back).flags.c_contiguous
                    row = known.quotients[of_x[:1, :, :1], of_y]
                    assert check(division, x[:1, :, :1], y, row).transpose(back).flags.c_contiguous
                    assert check(division, x, np.array(y, order="C"), expected).transpose(back).flags.c_contiguous
            with case(backend):
                outer = known.quotients[i[:1, :, :1], j[:, :1]]
                assert check(division, a[:1, :, :1], b[:, :1], outer).flags.c_contiguous
                gaps = known.quotients[i[:, ::2], j[:, ::2]]
                assert check(division, a[:, ::2], b[:, ::2], gaps).flags.c_contiguous

    @each_telling_type
    def test_its_own(self, name: str) -> None:
        known, by_backend = pairs(name), divisions()
        for size in (3, 70_000):
            i, j = known.drawn((size,), 1), known.drawn((size,), 2)
            a, b = known.values[i], known.values[j]
            expected = known.quotients[i, j]
            for backend, division in by_backend:
                with case(backend, size, "elements"):
                    first, second = (check(division, a, b, expected) for _ in range(2))
                    assert first.flags.writeable
                    assert not any(np.shares_memory(x, y) for x, y in ((first, second), (first, a), (first, b)))


class TestOverlap:
    """`out` may overlap the operands: the result is that of the operands before the call."""

    @each_telling_type
    def test_as_if_copied(self, name: str) -> None:
        known = pairs(name)
        side_of_many = {1: 720, 2: 510, 4: 360, 8: 260}[DTYPES[name].itemsize]
        for side, by_backend in on_every_backend(4, 70, large=side_of_many):
            of_memory, of_other = known.drawn((side, side), 1), known.drawn((side, side), 2)
            original, other = known.values[of_memory], known.values[of_other]
            for place, picked in PLACES.items():
                i, j, _ = picked(of_memory, of_other)
                expected = original.copy()
                _, _, target = picked(expected, other)
                target[...] = known.quotients[i, j]
                for backend, division in by_backend:
                    memory = original.copy()
                    a, b, out = picked(memory, other)
                    with case(backend, place, "side", side):
                        assert division(a, b, out) is out
                        assert_same(memory, expected)  # all of it: nothing beside the result is written

    @pytest.mark.parametrize("name", ["int16", "uint8", "int4"])
    def test_exceptions_tell_what_stood_there_before(self, backend: Backend, name: str) -> None:
        known = pairs(name, zero_divisor="raise", overflow="raise")
        places = ("the divisor", "one element on of the divisor", "transposed, the divisor", "both", "a row of it")
        for side, place in product((4, 200), places):
            i, j, _ = PLACES[place](known.drawn((side, side), 1), known.drawn((side, side), 2))
            memory = known.values[known.drawn((side, side), 1)]
            a, b, out = PLACES[place](memory, known.values[known.drawn((side, side), 2)])
            with case(side, place):
                check_outcome(backend.division(known.arithmetic), known.outcome(i, j), a, b, out)


class TestExceptions:
    """The number of elements without a quotient, and the first index in row-major order, whatever the layout."""

    @each_integer
    def test_counts_and_first_index(self, name: str) -> None:
        policies: dict[str, Any] = {"zero_divisor": "raise", "overflow": "raise"}
        known, by_backend = pairs(name, **policies), divisions(**policies)
        for shape in ((3, 4, 6), (200, 4, 99)):  # the second for several threads, whatever the type
            operands = self._with_few_exceptions(known, shape)
            for way, picked in LAYOUTS.items():
                i, j = picked(*operands)
                a, b = picked(*(known.values[index] for index in operands))
                expected = known.outcome(*(index.astype(np.intp) for index in (i, j)))  # in this byte order again
                for backend, division in by_backend:
                    with case(backend, shape, way):
                        check_outcome(division, expected, a, b)
                        for order in "CF":
                            out = np.zeros(np.broadcast_shapes(a.shape, b.shape), DTYPES[name], order)  # type: ignore[call-overload]
                            check_outcome(division, expected, a, b, out)

    @staticmethod
    def _with_few_exceptions(known: Pairs, shape: tuple[int, ...]) -> tuple[Indices, Indices]:
        i, j = known.drawn(shape, 1), known.drawn(shape, 2, regular=True)
        zero, overflow = np.random.default_rng(3).permutation(i.size - 1)[:10].reshape(2, 5) + 1  # never the first
        j.reshape(-1)[zero] = np.flatnonzero(known.zero_divisors.any(0))[0]
        if known.overflows.any():
            smallest, minus_one = np.argwhere(known.overflows)[0]
            i.reshape(-1)[overflow], j.reshape(-1)[overflow] = smallest, minus_one
        return i, j

    def test_indices_are_plain_integers(self, backend: Backend) -> None:
        """Python's own integers, not NumPy's."""
        result = backend.division(arithmetic(zero_divisor="raise"))(np.ones((2, 2), "i4"), np.zeros(2, "i4"), None)
        assert repr(result) == repr(Exceptions(4, 4, (0, 0), 0, None))

    def test_reciprocals(self, backend: Backend) -> None:
        division = backend.division(arithmetic(reciprocal=True, zero_divisor="raise"))
        assert division(np.array([[1, 0], [0, 2]], "i2").T, None, None) == Exceptions(4, 2, (0, 1), 0, None)


class _Own(np.ndarray[Any, Any]):
    """A subclass of NumPy's arrays."""


ONES = np.ones((3, 4), np.int32)


def read_only() -> Array:
    out = np.zeros((3, 4), np.int32)
    out.flags.writeable = False
    return out


REFUSED: dict[str, tuple[object, object, object]] = {
    "lists": ([1, 2], [1, 2], None),
    "a Python number": (ONES, 3, None),
    "a Python number as the dividend": (3.0, ONES, None),
    "no divisor": (ONES, None, None),
    "no dividend": (None, ONES, None),
    "text": ("1", "1", None),
    "a memoryview": (memoryview(b"1234"), ONES, None),
    "a class of arrays": (ONES.view(_Own), ONES, None),
    "a class of arrays as the divisor": (ONES, ONES.view(_Own), None),
    "a masked array": (ONES, np.ma.masked_array(ONES), None),
    "other widths": (ONES, ONES.astype(np.int64), None),
    "other signs": (ONES, ONES.astype(np.uint32), None),
    "integers by floats": (ONES, ONES.astype(np.float32), None),
    "a scalar of another type": (ONES, np.int64(3), None),
    **{
        f"type {dtype}": (np.ones(3, dtype), np.ones(3, dtype), None)
        for dtype in ("?", "c16", "O", "M8[s]", "m8[s]", "g", "U3", "V4", "i4,i4")
    },
    "shapes that do not join": (ONES, ONES[:2], None),
    "shapes that do not join in the midst": (ONES[:, None], np.ones((2, 3, 1), np.int32), None),
    "more elements than memory has addresses": (
        np.broadcast_to(ONES[0, 0], (1 << 40, 1)),
        np.broadcast_to(ONES[0, 0], (1, 1 << 40)),
        None,
    ),
    "a list for the result": (ONES, ONES, [0] * 12),
    "a scalar for the result": (ONES[0, 0], ONES[0, 0], np.int32(0)),
    "a class of arrays for the result": (ONES, ONES, np.zeros((3, 4), np.int32).view(_Own)),
    "a masked array for the result": (ONES, ONES, np.ma.masked_array(np.zeros((3, 4), np.int32))),
    "a result that is read-only": (ONES, ONES, read_only()),
    **{
        f"a result of type {dtype}": (ONES, ONES, np.zeros((3, 4), dtype))
        for dtype in (np.dtype("f4"), np.dtype("u4"), np.dtype("i8"), np.dtype("i4").newbyteorder())
    },
    "byte-swapped operands and result": (byte_swapped(ONES), byte_swapped(ONES), byte_swapped(ONES * 0)),
    **{
        f"a result of shape {shape}": (ONES, ONES, np.zeros(shape, np.int32))
        for shape in ((4, 3), (1, 3, 4), (3, 1), (2, 3, 4))
    },
    "a result of fewer dimensions": (ONES[:1], ONES[:1], np.zeros(4, np.int32)),
    "a result of one element that operands of one are": (ONES[0, 0], ONES[0, 0], np.zeros(1, np.int32)),
    "a result that is repeated": (ONES, ONES, as_strided(np.zeros(4, np.int32), (3, 4), (0, 4))),
    "a result that overlaps itself": (
        ONES,
        ONES,
        as_strided(np.zeros(9, np.int32), (3, 4), (4, 4)),
    ),
    "a result that overlaps itself by bytes": (
        ONES,
        ONES,
        as_strided(np.zeros(20, np.int32), (3, 4), (16, 2)),
    ),
}


class TestRefusals:
    """A call with operands or a result that the arithmetic does not take returns None and writes nothing."""

    def test_by_an_arithmetic_that_broadcasts(self, backend: Backend) -> None:
        for what, given_ in REFUSED.items():
            with case(what):
                self._refused(backend, arithmetic(), *given_)

    def test_by_one_that_does_not(self, backend: Backend) -> None:
        division = backend.division(arithmetic(broadcasts=False))
        for shape in ((), (1,), (4,), (1, 4), (3, 1), (1, 3, 4), (4, 3), (12,)):
            other = np.ones(shape, np.int32)
            for out, (a, b) in product((None, np.zeros((3, 4), np.int32)), ((ONES, other), (other, ONES))):
                with case(shape):
                    check(division, ONES, ONES, ONES)  # nothing of it may be left for the next call
                    assert division(a, b, out) is None
                    assert out is None or not out.any()
            check(backend.division(arithmetic(broadcasts=False)), other, other, other)

    def test_types_that_it_does_not_take(self, backend: Backend) -> None:
        division = backend.division(arithmetic(dtypes=(DTYPES["float32"], DTYPES["int32"])))
        for name, dtype in DTYPES.items():
            ones = np.ones(3, dtype)
            for x in (ones, byte_swapped(ones), ones[0]):
                with case(name, type(x)):
                    result = division(x, x, None)
                    assert isinstance(result, np.ndarray) if name in ("float32", "int32") else result is None

    def test_by_reciprocals(self, backend: Backend) -> None:
        for given_ in (
            (ONES, ONES, None),
            (ONES, ONES[0, 0], np.zeros_like(ONES)),
            (None, ONES, None),
            (None, None, None),
            ([1], None, None),
            (ONES > 0, None, None),
            (ONES.view(_Own), None, None),
            (ONES, None, np.zeros((1, 3, 4), np.int32)),
            (ONES, None, read_only()),
            (ONES, None, [1]),
        ):
            self._refused(backend, arithmetic(reciprocal=True), *given_)

    @staticmethod
    def _refused(backend: Backend, given_: Arithmetic, a: object, b: object, out: object) -> None:
        before = out.tobytes() if isinstance(out, np.ndarray) else repr(out)
        assert backend.division(given_)(a, b, out) is None
        assert (out.tobytes() if isinstance(out, np.ndarray) else repr(out)) == before


class TestExclusiveOr:
    """The exclusive or, which benchmarks compare with division."""

    @each_telling_type
    def test_of_bits(self, name: str) -> None:
        a, b = random_encodings(name, 1200, 1), random_encodings(name, 1200, 2)
        for x, y in ((a, b), (a[::-3], b[::-3]), (a.reshape(30, 40).T, b.reshape(40, 30)), (a, b[5:6]), (a[5:6], b)):
            expected = encodings(x) ^ encodings(y)
            for backend in backends():
                out = np.zeros(expected.shape, DTYPES[name])
                backend.exclusive_or(x, y, out)
                with case(backend.name, x.strides, y.strides):
                    assert np.array_equal(encodings(out), expected)

    def test_of_shapes_that_do_not_join(self, backend: Backend) -> None:
        with pytest.raises(ValueError, match="operands"):
            backend.exclusive_or(ONES, ONES[:2], np.zeros_like(ONES))


class TestScalars:
    """NumPy scalars are divided like arrays of rank 0, and give arrays."""

    @each_type
    def test_every_type(self, name: str) -> None:
        known, by_backend = pairs(name), divisions()
        every = np.arange(len(known.values))
        for k, scalar in enumerate(known.values):
            assert isinstance(scalar, np.generic)
            by_it, of_it = known.quotients[every, k], known.quotients[k, every]
            for backend, division in by_backend:
                with case(backend, scalar):
                    check(division, known.values, scalar, by_it)
                    check(division, scalar, known.values, of_it, np.empty_like(known.values))
                    assert check(division, scalar, scalar, np.asarray(known.quotients[k, k])).shape == ()
                    check(
                        division,
                        np.array(scalar),
                        scalar,
                        np.asarray(known.quotients[k, k]),
                        np.empty((), DTYPES[name]),
                    )

    def test_two_names_of_one_type(self, backend: Backend) -> None:
        """C's long and long long are one element type where both have 64 bits."""
        division = backend.division(arithmetic())
        a, b = np.array([-7, 7], np.longlong), np.array([2, -2], np.int64)
        for x in (a, a.astype(np.int64)):
            for y in (b, b.astype(np.longlong)):
                check(division, x, y, np.array([-3, -3]), np.zeros(2, np.longlong))
                assert_same(cast(Array, division(x, y, None)), np.array([-3, -3]))
            for scalar in (np.longlong(2), np.int64(2)):
                assert_same(cast(Array, division(x, scalar, None)), np.array([-3, 3]))


@pytest.mark.skipif(*test_environment.pytestmark.args, **test_environment.pytestmark.kwargs)
class TestEnvironment:
    """Results do not depend on the floating-point environment, which is restored."""

    @each_type
    def test_the_same_quotients(self, name: str) -> None:
        some, known = values(name), pairs(name)
        one = np.broadcast_to(np.ones((), DTYPES[name]), some.shape).copy()
        inverse = exact(name, one, some, floor=False, zero_divisor="saturate", overflow="saturate")
        by_backend = list(zip(divisions(), divisions(reciprocal=True), strict=True))

        def divide() -> list[tuple[str, Any, Any]]:
            return [
                (backend, division(some[:, None], some, None), half(some, None, None))
                for (backend, division), (_, half) in by_backend
            ]

        for setting, results in zip(SETTINGS, in_every_setting(divide), strict=True):
            for backend, quotients, reciprocals in results:
                with case(backend, setting):
                    assert_same(quotients, known.quotients)
                    assert_same(reciprocals, inverse)

    def test_exceptions_that_would_kill_the_process(self) -> None:
        """A debugging aid, feenableexcept, makes the processor signal x/0, 0/0 and overflow."""
        program = (
            "import ctypes\n"
            "from tests.kernels.witness import DTYPES, arithmetic, pairs\n"
            "from tests.kernels.comparing import assert_same\n"
            "from vinculum.kernels import backends\n"
            "known = {name: pairs(name) for name in DTYPES}\n"
            "results = []\n"
            "ctypes.CDLL('libm.so.6').feenableexcept(1 | 4 | 8)\n"
            "for backend in backends():\n"
            "    division = backend.division(arithmetic())\n"
            "    results.append([division(some.values[:, None], some.values, None) for some in known.values()])\n"
            "ctypes.CDLL('libm.so.6').fedisableexcept(1 | 4 | 8)\n"
            "for result in results:\n"
            "    for some, quotients in zip(known.values(), result):\n"
            "        assert_same(quotients, some.quotients)\n"
        )
        done = processes.run(processes.python(program))
        assert done.returncode == 0, done.stderr
