"""Zero divisors and MIN/-1: counted, and the first found, wherever they are; or given the value of a policy."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

import vinculum
from tests.cases import case
from tests.kernels.comparing import DTYPES, INTEGERS, assert_same, exact_quotients
from tests.kernels.layouts import ANY, WRITABLE, every_other, part_of_rows

Array = npt.NDArray[Any]

SIGNED = tuple(name for name in INTEGERS if not name.startswith("u"))
# Few elements; more than are looked over at once; and nothing that a vector divides.
SHAPES = [(9,), (3, 5, 7), (3, 1500), (1500, 3), (9001,), (2, 4099)]


def operands(name: str, shape: tuple[int, ...], seed: int = 0) -> tuple[Array, Array]:
    """Return operands of which none is exceptional."""
    rng = np.random.default_rng(seed)
    return rng.integers(1, 100, shape).astype(DTYPES[name]), rng.integers(1, 100, shape).astype(DTYPES[name])


def placed(shape: tuple[int, ...], seed: int) -> Array:
    """Return a few places, never the first element, as a mask."""
    mask = np.zeros(shape, bool)
    mask.ravel()[np.random.default_rng(seed).integers(1, mask.size, 5)] = True
    return mask


def last(shape: tuple[int, ...]) -> Array:
    """Return the last place alone, which only the last piece of a loop sees."""
    mask = np.zeros(shape, bool)
    mask.ravel()[-1] = True
    return mask


def first(mask: Array) -> tuple[int, ...]:
    """Return the first index in row-major order."""
    return tuple(int(i) for i in np.argwhere(mask)[0])


def assert_raises(kind: type[Exception], mask: Array, *operands: Array, **arguments: Any) -> None:
    """Fail unless both operators raise, tell count and first index, and leave the operands as they are."""
    before = [x.copy() for x in operands]
    for operator in (vinculum.div, vinculum.divide):
        with pytest.raises(kind) as caught:
            operator(*operands, **arguments)
        assert isinstance(caught.value, (vinculum.DivisionByZeroError, vinculum.IntegerOverflowError))
        assert (caught.value.count, caught.value.first_index) == (int(mask.sum()), first(mask))
        assert str(caught.value.count) in str(caught.value)
        assert str(first(mask)) in str(caught.value)
    for operand, copy in zip(operands, before, strict=True):
        assert_same(operand, copy)


@pytest.mark.clause("integer-zero-divisor-silent")
@pytest.mark.clause("division-by-zero")
class TestZeroDivisors:
    """``zero_divisor="raise"``: DivisionByZeroError with the count and the first index into the result."""

    @pytest.mark.parametrize("name", INTEGERS)
    @pytest.mark.parametrize("shape", SHAPES, ids=str)
    def test_every_type(self, name: str, shape: tuple[int, ...]) -> None:
        for zero in (last(shape), placed(shape, 1)):
            a, b = operands(name, shape)
            b[zero] = 0
            assert_raises(ZeroDivisionError, zero, a, b)
            assert_raises(ZeroDivisionError, zero, np.asfortranarray(a), np.asfortranarray(b))
            assert_raises(ZeroDivisionError, zero, part_of_rows(a), part_of_rows(b))
            assert_raises(ZeroDivisionError, zero, every_other(a), every_other(b))

    @pytest.mark.parametrize("name", ["int8", "uint64"])
    @pytest.mark.parametrize("shape", [(3, 5, 7), (2, 4099)], ids=str)
    def test_every_layout(self, name: str, shape: tuple[int, ...]) -> None:
        a, b = operands(name, shape)
        zero = placed(shape, 2)
        b[zero] = 0
        for x, y in product(*([lay_out(z) for lay_out in ANY.values()] for z in (a, b))):
            assert_raises(ZeroDivisionError, zero, x, y)

    @pytest.mark.parametrize("name", ["int16", "uint32"])
    @pytest.mark.parametrize("shape", [(3, 5, 7), (2, 4099)], ids=str)
    def test_every_layout_of_the_result(self, name: str, shape: tuple[int, ...]) -> None:
        a, b = operands(name, shape)
        zero = placed(shape, 3)
        b[zero] = 0
        for lay_out in WRITABLE.values():
            for x, y in ((a, b), (np.asfortranarray(a), b), (np.asfortranarray(a), np.asfortranarray(b))):
                assert_raises(ZeroDivisionError, zero, x, y, out=lay_out(a))

    @pytest.mark.parametrize("layout", WRITABLE)
    @pytest.mark.parametrize("place", [0, 1])
    def test_the_result_in_the_place_of_an_operand(self, layout: str, place: int) -> None:
        a, b = operands("int64", (5, 1030))
        zero = placed(a.shape, 4)
        b[zero] = 0
        for operator in (vinculum.div, vinculum.divide):
            both = [WRITABLE[layout](a), WRITABLE[layout](b)]
            with pytest.raises(vinculum.DivisionByZeroError) as caught:
                operator(*both, out=both[place])
            assert (caught.value.count, caught.value.first_index) == (int(zero.sum()), first(zero))
            assert_same(both[1 - place], (a, b)[1 - place])

    @pytest.mark.parametrize("name", ["int32", "uint8"])
    def test_repeated_divisors(self, name: str) -> None:
        shape = (4, 6, 1100)
        a, b = operands(name, shape)
        for indexed in (np.s_[:1, :1, :1], np.s_[0, 0, 0], np.s_[0, 0], np.s_[:, :, :1], np.s_[:, :1], np.s_[:1, :, :]):
            divisors = np.array(b[indexed])
            divisors[divisors == divisors.ravel()[-1]] = 0
            zero = np.broadcast_to(divisors == 0, shape)
            assert_raises(ZeroDivisionError, zero, a, divisors)
            assert_raises(ZeroDivisionError, zero, np.asfortranarray(a), divisors)
            assert_raises(ZeroDivisionError, zero, a, np.broadcast_to(divisors, shape))


@pytest.mark.clause("minimum-by-minus-one-silent")
class TestOverflow:
    """``overflow="raise"``: IntegerOverflowError with the count and the first index into the result."""

    @pytest.mark.parametrize("name", SIGNED)
    @pytest.mark.parametrize("shape", SHAPES, ids=str)
    def test_every_type(self, name: str, shape: tuple[int, ...]) -> None:
        for overflow in (last(shape), placed(shape, 5)):
            a, b = operands(name, shape)
            a[overflow], b[overflow] = np.iinfo(name).min, -1
            near = placed(shape, 6) & ~overflow
            a[near] = np.iinfo(name).min  # by another divisor: no overflow
            for policy in ("raise", "zero", "saturate"):
                assert_raises(OverflowError, overflow, a, b, zero_divisor=policy, overflow="raise")
                fortran = np.asfortranarray(a), np.asfortranarray(b)
                assert_raises(OverflowError, overflow, *fortran, zero_divisor=policy, overflow="raise")
            assert_raises(OverflowError, overflow, every_other(a), every_other(b), overflow="raise")

    @pytest.mark.parametrize("layout", ANY)
    def test_every_layout(self, layout: str) -> None:
        a, b = operands("int32", (3, 5, 300))
        overflow = placed(a.shape, 7)
        a[overflow], b[overflow] = np.iinfo(np.int32).min, -1
        assert_raises(OverflowError, overflow, ANY[layout](a), b, overflow="raise")
        assert_raises(OverflowError, overflow, a, ANY[layout](b), overflow="raise")
        assert_raises(OverflowError, overflow, ANY[layout](a), ANY[layout](b), overflow="raise")

    @pytest.mark.parametrize("name", SIGNED)
    def test_repeated_operands(self, name: str) -> None:
        a, b = operands(name, (7, 1100))
        minus_one, smallest = DTYPES[name].type(-1), DTYPES[name].type(np.iinfo(name).min)
        overflow = placed(a.shape, 8)
        a[overflow] = smallest
        assert_raises(OverflowError, overflow, a, minus_one, overflow="raise")
        assert_raises(OverflowError, overflow, a.T.copy().T, minus_one, overflow="raise")
        b[overflow] = minus_one
        assert_raises(OverflowError, overflow, smallest, b, overflow="raise")
        assert_raises(OverflowError, overflow, smallest, b.T.copy().T, overflow="raise")

    def test_zero_divisors_come_first_and_are_not_counted_as_overflow(self) -> None:
        a, b = operands("int8", (5, 1000))
        zero, overflow = placed(a.shape, 9), placed(a.shape, 10)
        overflow &= ~zero
        a[zero | overflow], b[overflow], b[zero] = -128, -1, 0
        assert_raises(ZeroDivisionError, zero, a, b, overflow="raise")
        assert_raises(OverflowError, overflow, a, b, zero_divisor="saturate", overflow="raise")


# Dividends and divisors with exceptions of one kind, of the other, of both and of none, repeated and not.
Pair = tuple[list[int | None], list[int]]
PAIRS: list[Pair] = [
    ([5, None, 0], [0, 1, 0]),
    ([None, 6, 7], [-1, 3, 1]),
    ([None, 6, None], [-1, 0, -1]),
    ([None, 6, 9], [3]),
    ([None, 6, 9], [0]),
    ([None, 6, 9], [-1]),
    ([None], [-1, 1, 0]),
]
"""None stands for the smallest value of the type."""


@pytest.mark.parametrize("name", INTEGERS)
@pytest.mark.parametrize("times", [1, 12_000])  # the latter more than one block, of 32 KiB, of each type
def test_every_policy(name: str, times: int) -> None:
    """Of few elements and of many, in each call of an operator the same, and in that of another the next."""
    for zero_divisor, overflow in product(("raise", "zero", "saturate"), ("raise", "wrap", "saturate")):
        policies: dict[str, Any] = {"zero_divisor": zero_divisor, "overflow": overflow}
        operators = {False: vinculum.Operator("Div", **policies), True: vinculum.Operator("Divide", **policies)}
        for pair, (floor, operator) in product(PAIRS, operators.items()):
            with case(policies, pair, operator):
                check_policies(name, times, pair, operator, floor=floor, **policies)


def check_policies(
    name: str, times: int, pair: Pair, operator: vinculum.Operator, *, floor: bool, **policies: str
) -> None:
    """Fail unless an operator raises, or gives every element its policy's value, in each of three calls."""
    smallest = np.iinfo(name).min
    a = np.array([smallest if x is None else x for x in pair[0]]).astype(DTYPES[name])
    b = np.array(pair[1]).astype(DTYPES[name])
    a, b = (np.tile(x, times) if x.size > 1 else x for x in (a, b))
    zero = np.broadcast_to(b == 0, 3 * times)
    too_large = (a == smallest) & (b == -1) & (smallest < 0)
    results = (None, None, np.empty(3 * times, DTYPES[name]))
    kind: type[vinculum.DivisionByZeroError] | type[vinculum.IntegerOverflowError]
    if policies["zero_divisor"] == "raise" and zero.any():
        kind, raised = vinculum.DivisionByZeroError, zero
    elif policies["overflow"] == "raise" and too_large.any():
        kind, raised = vinculum.IntegerOverflowError, too_large
    else:
        expected = exact_quotients(a, b, floor=floor, **policies)
        for out in results:
            assert_same(operator(a, b, out), expected)
        return
    told = int(raised.sum()), first(raised)
    for out in results:
        with pytest.raises(kind) as caught:
            operator(a, b, out)
        assert isinstance(caught.value, vinculum.DivisionByZeroError | vinculum.IntegerOverflowError)
        assert (caught.value.count, caught.value.first_index) == told
        assert ("partial results" in str(caught.value)) == (out is not None)
