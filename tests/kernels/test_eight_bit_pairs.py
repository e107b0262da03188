"""Every pair of each type of one byte against the exact reference; of 8-bit integers by every policy too."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from itertools import product
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
import pytest

import vinculum
from tests.cases import case
from tests.kernels.comparing import assert_same
from tests.kernels.layouts import WRITABLE
from tests.kernels.witness import DTYPES, INTEGERS, ONE_BYTE, SIGNED, TYPES, arithmetic, check, exact
from vinculum import reference
from vinculum.kernels import contract as kernels
from vinculum.kernels.contract import Backend
from vinculum.reference.exact_quotient import integer_quotient
from vinculum.spec.element_types import INT8, UINT8, ElementType
from vinculum.spec.model import IntegerRounding

Array = npt.NDArray[Any]
Division = Callable[[Array, Array], Array]
ZeroDivisor = Literal["raise", "zero", "saturate"]
Overflow = Literal["wrap", "raise", "saturate"]
ElementError = type[vinculum.DivisionByZeroError] | type[vinculum.IntegerOverflowError]

TRUNCATING, FLOOR = IntegerRounding.TRUNCATING, IntegerRounding.FLOOR
ZERO_DIVISOR: tuple[ZeroDivisor, ...] = ("raise", "zero", "saturate")
OVERFLOW: tuple[Overflow, ...] = ("wrap", "raise", "saturate")

each_type = pytest.mark.parametrize("element_type", [INT8, UINT8], ids=str)
each_rounding = pytest.mark.parametrize("rounding", [TRUNCATING, FLOOR], ids=["truncating", "floor"])


@cache
def every_pair(element_type: ElementType) -> tuple[Array, Array]:
    """Return square matrices: the dividend is the same along a row, the divisor along a column."""
    values = np.arange(element_type.minimum, element_type.maximum + 1, dtype=element_type.numpy)
    dividends, divisors = np.meshgrid(values, values, indexing="ij")
    return np.ascontiguousarray(dividends), np.ascontiguousarray(divisors)


@cache
def table(element_type: ElementType, rounding: IntegerRounding, zero_divisor: str, overflow: str) -> Array:
    """Return the reference's quotients of every pair, for policies that give a value."""
    return reference.divide(
        *every_pair(element_type), element_type, rounding=rounding, zero_divisor=zero_divisor, overflow=overflow
    )


@cache
def raising(element_type: ElementType, rounding: IntegerRounding, zero_divisor: str, overflow: str) -> Array:
    """Return the error that every pair must raise, as the reference does, None for those that it divides."""
    errors = np.full(every_pair(element_type)[0].shape, None, dtype=object)
    dividends, divisors = (x.tolist() for x in every_pair(element_type))
    strictest = zero_divisor == overflow == "raise"  # what does not raise then never does
    for index in (
        np.ndindex(errors.shape)
        if strictest
        else zip(*np.nonzero(raising(element_type, rounding, "raise", "raise")), strict=True)
    ):
        a, b = dividends[index[0]][index[1]], divisors[index[0]][index[1]]
        try:
            integer_quotient(a, b, element_type, rounding, zero_divisor, overflow)
        except ZeroDivisionError:
            errors[index] = vinculum.DivisionByZeroError
        except OverflowError:
            errors[index] = vinculum.IntegerOverflowError
    return errors


def division(rounding: IntegerRounding, zero_divisor: ZeroDivisor, overflow: Overflow) -> Division:
    """Return the public function of a rounding, with its policies."""
    if rounding is FLOOR:
        return lambda a, b: vinculum.divide(a, b, zero_divisor=zero_divisor, overflow=overflow)
    return lambda a, b: vinculum.div(a, b, zero_divisor=zero_divisor, overflow=overflow)


@pytest.mark.parametrize(
    ("name", "floor"), [(name, floor) for name in ONE_BYTE for floor in (False, True) if name in INTEGERS or not floor]
)
@pytest.mark.clause("truncating-division")
@pytest.mark.clause("floor-division")
@pytest.mark.clause("narrow-integers")
@pytest.mark.clause("any-numeric-type")
class TestEveryTwoBytes:
    """Of every type of one byte, on every target: as pairs, and with either side repeated along lines of any length.

    The upper halves of bytes that hold four bits mean nothing in operands, and are the sign's in results.
    """

    @pytest.fixture
    def divide(self, backend: Backend, floor: bool) -> kernels.Division:
        return backend.division(arithmetic(floor=floor))

    def test_equal_shapes(self, name: str, floor: bool, divide: kernels.Division) -> None:
        a, b = (np.ascontiguousarray(x) for x in np.broadcast_arrays(every_byte(name)[:, None], every_byte(name)))
        result = check(divide, a, b, of_every_two_bytes(name, floor))
        if TYPES[name].bits == 4:
            kept = result.view(np.int8 if name in SIGNED else np.uint8)
            assert (kept.min(), kept.max()) == (TYPES[name].minimum, TYPES[name].maximum)

    def test_repeated_divisors(self, name: str, floor: bool, divide: kernels.Division) -> None:
        """In calls of their own, and as lines of one."""
        for length in (256, 63, 3):
            with case("length", length):
                every, expected = every_byte(name), of_every_two_bytes(name, floor).T
                for start in range(0, 256, length):
                    part = slice(start, start + length)
                    check(divide, every[part], every[:, None], expected[:, part])
                for divisor, quotients in zip(every, expected, strict=True):
                    check(divide, every[:length], divisor, quotients[:length])

    def test_repeated_dividends(self, name: str, floor: bool, divide: kernels.Division) -> None:
        for length in (256, 63, 3):
            with case("length", length):
                every, expected = every_byte(name), of_every_two_bytes(name, floor)
                for start in range(0, 256, length):
                    part = slice(start, start + length)
                    check(divide, every[:, None], every[part], expected[:, part])
                for dividend, quotients in zip(every, expected, strict=True):
                    check(divide, dividend, every[:length], quotients[:length])


@cache
def every_byte(name: str) -> Array:
    """Return the elements of a type that are stored in one byte, by their bytes."""
    return np.arange(256, dtype=np.uint8).view(DTYPES[name])


@cache
def of_every_two_bytes(name: str, floor: bool) -> Array:
    """Return the quotients of every two bytes by the reference, saturated where there is none."""
    distinct = every_byte(name)[: 1 << TYPES[name].bits]
    a, b = (np.ascontiguousarray(x) for x in np.broadcast_arrays(distinct[:, None], distinct))
    quotients = exact(name, a, b, floor=floor, zero_divisor="saturate", overflow="saturate")
    return np.tile(quotients, [256 // len(distinct)] * 2)


@each_type
@each_rounding
@pytest.mark.clause("truncating-division")
@pytest.mark.clause("floor-division")
@pytest.mark.clause("narrow-integers")
class TestEveryPairThroughEveryLoop:
    """Div-14 and Divide-1: integers truncate or are floored; policies give x/0 and MIN/-1 a value."""

    def test_broadcasting_and_layouts(self, element_type: ElementType, rounding: IntegerRounding) -> None:
        dividends, divisors = every_pair(element_type)
        for zero_divisor, overflow in product(ZERO_DIVISOR[1:], OVERFLOW[::2]):
            divide = division(rounding, zero_divisor, overflow)
            expected = table(element_type, rounding, zero_divisor, overflow)
            with case(zero_divisor, overflow):
                assert_same(divide(dividends, divisors[0]), expected)
                assert_same(divide(dividends[:, :1], divisors), expected)
                assert_same(divide(dividends[:, :1], divisors[:1]), expected)
                columns = np.ascontiguousarray(dividends.T)
                assert_same(divide(columns, divisors.T), expected.T)
                assert_same(divide(columns, np.ascontiguousarray(divisors[:1].T)), expected.T)
                assert_same(divide(dividends[:, 0], np.ascontiguousarray(divisors.T)), expected.T)
            for layout, lay_out in WRITABLE.items():
                with case(layout, zero_divisor, overflow):
                    assert_same(divide(lay_out(dividends), divisors), expected)
                    assert_same(divide(dividends, lay_out(divisors)), expected)
                    assert_same(divide(lay_out(dividends), lay_out(divisors)), expected)


@each_type
@each_rounding
@pytest.mark.clause("integer-zero-divisor-silent")
@pytest.mark.clause("minimum-by-minus-one-silent")
@pytest.mark.clause("division-by-zero")
class TestEveryPairThatRaises:
    """Zero divisors and MIN/-1 raise by the policies, and by them alone."""

    def test_each_alone_and_all_together(self, element_type: ElementType, rounding: IntegerRounding) -> None:
        dividends, divisors = every_pair(element_type)
        for zero_divisor, overflow in product(ZERO_DIVISOR, OVERFLOW):
            divide = division(rounding, zero_divisor, overflow)
            errors: Any = raising(element_type, rounding, zero_divisor, overflow)
            with case(zero_divisor, overflow):
                divided = errors == None  # noqa: E711 - element by element
                assert divided.sum() >= 65536 - 257
                valued = zero_divisor.replace("raise", "zero"), overflow.replace("raise", "wrap")
                expected = table(element_type, rounding, *valued)[divided]
                assert_same(divide(dividends[divided], divisors[divided]), expected)
                for index in zip(*np.nonzero(errors), strict=True):
                    with pytest.raises(errors[index]) as caught:
                        divide(dividends[index], divisors[index])
                    assert (caught.value.count, caught.value.first_index) == (1, ())
                kinds = (vinculum.DivisionByZeroError, vinculum.IntegerOverflowError)
                kind: ElementError | None = next((kind for kind in kinds if (errors == kind).any()), None)
                if kind is not None:
                    with pytest.raises(kind) as caught:
                        divide(dividends, divisors)
                    assert caught.value.count == (errors == kind).sum()
                    assert caught.value.first_index == tuple(np.argwhere(errors == kind)[0].tolist())
                    assert all(type(i) is int for i in (caught.value.count, *caught.value.first_index))
