"""The source that GPUs compile, compiled for the processor: all types, roundings and policies against the reference."""

from __future__ import annotations

import ctypes
from itertools import product
from typing import Any

import ml_dtypes
import numpy as np
import numpy.typing as npt
import pytest

from tests.kernels.comparing import assert_same
from tests.kernels.witness import DTYPES, FLOATS, crossed, pairs, random_encodings
from tests.machine.device_arrays.compiled import C_TYPES, COMPILER, shared_library
from vinculum import divide
from vinculum.device_arrays.kernels import NARROW, SOURCE

pytestmark = pytest.mark.skipif(COMPILER is None, reason="optional here, and needed: a C++ compiler")

INTEGERS = [name for name in C_TYPES if "int" in name]
ROUNDINGS = (False, True)
ZERO_DIVISORS: tuple[Any, ...] = ("raise", "zero", "saturate")
OVERFLOWS: tuple[Any, ...] = ("wrap", "raise", "saturate")


def integer_function(name: str, floor: bool, zero_divisor: str, overflow: str) -> str:
    return f"{name}_{'floor' if floor else 'truncating'}_{zero_divisor}_{overflow}"


@pytest.fixture(scope="module")
def library() -> ctypes.CDLL:
    """Return every function of the source, over arrays."""
    loop = "for (long long i = 0; i < n; i++)"
    functions = [SOURCE]
    for name, floor, zero, overflow in product(INTEGERS, ROUNDINGS, ZERO_DIVISORS, OVERFLOWS):
        c_type = C_TYPES[name]
        policies = f"vinculum::{zero.upper()}, vinculum::{overflow.upper()}"
        functions.append(
            f'extern "C" void {integer_function(name, floor, zero, overflow)}'
            f"(const {c_type}* a, const {c_type}* b, {c_type}* c, bool* found, long long n) {{ {loop} "
            f"c[i] = vinculum::integer_quotient<{c_type}, {str(floor).lower()}, {policies}>(a[i], b[i], found[i]); }}"
        )
    for name in ("float32", "float64"):
        c_type = C_TYPES[name]
        functions.append(
            f'extern "C" void {name}_quotient(const {c_type}* a, const {c_type}* b, {c_type}* c, long long n) '
            f"{{ {loop} c[i] = vinculum::float_quotient(a[i], b[i]); }}"
        )
    for name, narrow in NARROW.items():
        bits = C_TYPES[f"uint{DTYPES[name].itemsize * 8}"]
        functions.append(
            f'extern "C" void {name}_quotient(const {bits}* a, const {bits}* b, {bits}* c, long long n) '
            f"{{ {loop} c[i] = vinculum::narrow_quotient<vinculum::{narrow}>(a[i], b[i]); }}\n"
            f'extern "C" void {name}_narrow(const float* a, {bits}* c, long long n) '
            f"{{ {loop} c[i] = vinculum::{narrow}::narrow(a[i]); }}"
        )
    return shared_library("\n".join(functions))


def called(library: ctypes.CDLL, function: str, *arrays: npt.NDArray[Any]) -> None:
    for array in arrays:
        assert array.flags.c_contiguous
    pointers = [ctypes.c_void_p(array.ctypes.data) for array in arrays]
    getattr(library, function)(*pointers, ctypes.c_longlong(arrays[0].size))


class TestIntegers:
    """Edges of the type and what lies beside them, each by each."""

    @pytest.mark.parametrize("name", INTEGERS)
    def test_every_rounding_and_policy(self, library: ctypes.CDLL, name: str) -> None:
        for floor, zero_divisor, overflow in product(ROUNDINGS, ZERO_DIVISORS, OVERFLOWS):
            known = pairs(name, floor=floor, zero_divisor=zero_divisor, overflow=overflow)
            a, b = crossed(known.values)
            quotients, found = np.empty_like(a), np.empty(a.shape, bool)
            called(library, integer_function(name, floor, zero_divisor, overflow), a, b, quotients, found)
            raises = known.zero_divisors & (zero_divisor == "raise") | known.overflows & (overflow == "raise")
            np.testing.assert_array_equal(found, raises)
            assert_same(quotients[~raises], known.quotients[~raises])

    @pytest.mark.parametrize("floor", ROUNDINGS)
    def test_all_pairs_of_8_bits(self, library: ctypes.CDLL, floor: bool) -> None:
        for name in ("int8", "uint8"):
            every = np.arange(256, dtype=np.uint8).view(name)
            a, b = crossed(every)
            quotients, found = np.empty_like(a), np.empty(a.shape, bool)
            called(library, integer_function(name, floor, "saturate", "saturate"), a, b, quotients, found)
            expected = divide(a, b, m_pythondiv=floor, zero_divisor="saturate", overflow="saturate")
            assert_same(quotients, expected)


class TestFloats:
    """IEEE 754's division, rounded once, with one NaN."""

    @pytest.mark.parametrize("name", FLOATS)
    def test_every_two_values(self, library: ctypes.CDLL, name: str) -> None:
        known = pairs(name)
        a, b = crossed(known.values)
        quotients = np.empty_like(a)
        called(library, f"{name}_quotient", a, b, quotients)
        assert_same(quotients, known.quotients)

    @pytest.mark.parametrize("name", FLOATS)
    def test_random_encodings(self, library: ctypes.CDLL, name: str) -> None:
        a, b = random_encodings(name, 200_000, 1), random_encodings(name, 200_000, 2)
        quotients = np.empty_like(a)
        called(library, f"{name}_quotient", a, b, quotients)
        assert_same(quotients, divide(a, b))

    @pytest.mark.parametrize("name", ["float8_e4m3fn", "float8_e5m2"])
    def test_all_pairs_of_8_bits(self, library: ctypes.CDLL, name: str) -> None:
        every = np.arange(256, dtype=np.uint8).view(DTYPES[name])
        a, b = crossed(every)
        quotients = np.empty_like(a)
        called(library, f"{name}_quotient", a, b, quotients)
        assert_same(quotients, divide(a, b))

    @pytest.mark.parametrize("name", ["float16", "bfloat16"])
    def test_every_dividend(self, library: ctypes.CDLL, name: str) -> None:
        """By one, all encodings are widened and narrowed; the other divisors give numbers that have to be rounded."""
        every = np.arange(1 << 16, dtype=np.uint16).view(DTYPES[name])
        smallest = np.array(1, np.uint16).view(DTYPES[name])
        for divisor in (
            every.dtype.type(1),
            every.dtype.type(3),
            every.dtype.type(-0.01),
            every.dtype.type(500),
            smallest,
        ):
            b, quotients = np.full_like(every, divisor), np.empty_like(every)
            called(library, f"{name}_quotient", every, b, quotients)
            assert_same(quotients, divide(every, b))

    @pytest.mark.parametrize("name", sorted(NARROW))
    def test_numbers_between_two(self, library: ctypes.CDLL, name: str) -> None:
        """Halves between two neighbours, and what lies next to them, are rounded as ml_dtypes and NumPy round."""
        dtype, size = DTYPES[name], 1 << (8 * DTYPES[name].itemsize - 1)
        numbers = np.arange(size, dtype=f"u{dtype.itemsize}").view(dtype).astype(np.float32)
        numbers = np.sort(numbers[np.isfinite(numbers)])
        halves = (numbers[:-1].astype(np.float64) + numbers[1:].astype(np.float64)) / 2
        with np.errstate(over="ignore"):
            halves = np.append(halves, 2 * numbers[-1].astype(np.float64)).astype(np.float32)
        near = np.concatenate([np.nextafter(halves, np.float32(0)), halves, np.nextafter(halves, np.float32(np.inf))])
        near = np.ascontiguousarray(np.concatenate([near, -near, [0.0, -0.0]]), np.float32)
        narrowed = np.empty(near.shape, f"u{dtype.itemsize}")
        called(library, f"{name}_narrow", near, narrowed)
        with np.errstate(over="ignore"):
            expected = near.astype(dtype)
        expected[np.isnan(expected)] = np.array(np.nan).astype(getattr(ml_dtypes, name, name))
        assert_same(narrowed.view(dtype), expected)
