"""float16 and bfloat16: rounded once, also where the kernel multiplies by the reciprocal of a repeated divisor."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

import vinculum
from tests.cases import case
from tests.kernels.comparing import DTYPES, assert_same, encodings
from tests.kernels.layouts import ANY
from tests.kernels.witness import TYPES, arithmetic, check, divisions
from vinculum import reference
from vinculum.kernels.contract import Backend, Division

Array = npt.NDArray[Any]

SMALLEST_NORMAL = {"float16": 0x0400, "bfloat16": 0x0080}
LARGEST = {"float16": 0x7BFF, "bfloat16": 0x7F7F}
MAGNITUDE = 0x7FFF

each_name = pytest.mark.parametrize("name", SMALLEST_NORMAL)


@pytest.fixture
def divide(backend: Backend) -> Division:
    """Return a backend's division."""
    return backend.division(arithmetic())


@cache
def every(name: str) -> Array:
    """Return the value of every encoding."""
    return np.arange(1 << 16, dtype=np.uint16).view(DTYPES[name])


@cache
def scaled(name: str) -> tuple[Array, Array]:
    """Return powers of two, of either sign in turns, and all quotients by each of them, rounded once.

    Of normal powers it is every third: dividends of every exponent give any quotient by each of them.

    They are exact in binary64, with at most 11 bits; what is to be rounded are subnormal quotients, among them ties.
    """
    fmt = TYPES[name].binary_format
    assert fmt is not None
    exponents = np.arange(1 - fmt.bias - fmt.trailing_bits, fmt.bias + 1)
    exponents = exponents[(exponents <= 1 - fmt.bias) | (exponents % 3 == 0)]
    powers = np.ldexp(np.where(exponents % 2, -1.0, 1.0), exponents)
    with np.errstate(all="ignore"):
        quotients = every(name).astype(np.float64) / powers[:, None]
        return powers.astype(DTYPES[name]), quotients.astype(DTYPES[name])


@each_name
class TestPowersOfTwo:
    """Every number, and rounding to every subnormal number."""

    def test_equal_shapes(self, name: str, divide: Division) -> None:
        for power, expected in zip(*scaled(name), strict=True):
            check(divide, every(name), np.full(1 << 16, power), expected)

    def test_by_a_scalar(self, name: str, divide: Division) -> None:
        powers, expected = scaled(name)
        check(divide, every(name), powers[:, None], expected)

    def test_what_it_is_held_against_agrees_with_the_reference(self, name: str) -> None:
        powers, expected = scaled(name)
        for i in range(0, len(powers), 2):
            a = every(name)[i % 97 :: 97]
            assert_same(reference.divide(a, np.full_like(a, powers[i]), TYPES[name]), expected[i][i % 97 :: 97])


@each_name
class TestRepeatedDivisor:
    """Quotients by a repeated divisor equal those of operands of one shape, which other tests check."""

    def test_every_dividend(self, name: str) -> None:
        """By the limits of the format and of reciprocals, near 2^127, and by random divisors.

        Dividends with a normal quotient, or 0, are divided once more without the others, for which a kernel divides
        whole runs in another way.
        """
        normal, largest = SMALLEST_NORMAL[name], LARGEST[name]
        limits = (0, normal, largest, largest + 1, MAGNITUDE, 0x7E80, 0x7F00)
        edges = {limit + step for limit in limits for step in (-2, -1, 0, 1, 2)} | {
            0x3C00,
            0x3F80,
            0x5220,
            0x3555,
            0x3EAB,
        }
        magnitudes = [edge for edge in edges if 0 <= edge <= MAGNITUDE]
        drawn = np.random.default_rng(0).integers(0, 1 << 16, 40).tolist()
        dividends, by_backend, in_all = every(name), divisions(), 0
        for divisor in (*magnitudes, *(MAGNITUDE + 1 + m for m in magnitudes), *drawn):
            alike = np.full(dividends.size, divisor, np.uint16).view(DTYPES[name])
            expected = np.empty_like(dividends)
            by_backend[0][1](dividends, alike, expected)
            quick = (encodings(expected) & MAGNITUDE >= normal) | (encodings(dividends) & MAGNITUDE == 0)
            in_all += int(quick.sum())
            for backend, divide in by_backend:
                with case(backend, "by", alike[0]):
                    check(divide, dividends, alike[:1], expected)
                    check(divide, dividends[quick], alike[:1], expected[quick])
        assert in_all > 40 << 13

    @pytest.mark.parametrize("count", [63, 64, 65, 5000, 200_000])
    def test_layouts(self, name: str, divide: Division, count: int) -> None:
        """Rows of one divisor each, in place and strided, some quotients of each row subnormal."""
        rng = np.random.default_rng(count)
        dividends = rng.integers(0, 1 << 16, (5, count), dtype=np.uint16).view(DTYPES[name])
        divisors = rng.integers(0, 1 << 16, (5, 1), dtype=np.uint16).view(DTYPES[name])
        expected, place = np.empty_like(dividends), dividends.copy()
        divide(dividends, np.repeat(divisors, count, axis=1), expected)
        check(divide, dividends, divisors, expected)
        check(divide, dividends[:, ::-1], divisors, expected[:, ::-1])
        check(divide, dividends.copy(order="F"), divisors, expected)
        check(divide, place, divisors, expected, place)


@each_name
@pytest.mark.parametrize("count", [63, 64, 65, 2100, 4096, 4097])
def test_lines_by_one_line_of_divisors(name: str, divide: Division, count: int) -> None:
    """Quotients by a repeated row equal those of operands of one shape, though AVX-512 multiplies by reciprocals."""
    rng = np.random.default_rng(count)
    dividends = rng.integers(0, 1 << 16, (9, count), dtype=np.uint16).view(DTYPES[name])
    divisors = rng.integers(0, 1 << 16, count, dtype=np.uint16)
    divisors[::50], divisors[7::50] = 0, 1  # in some vectors
    divisors, place = divisors.view(DTYPES[name]), dividends.copy()
    for a in (dividends, dividends[:, :1], dividends[:, ::-1], dividends.copy(order="F")):
        expected = np.empty_like(dividends)
        divide(np.ascontiguousarray(np.broadcast_to(a, expected.shape)), np.tile(divisors, (9, 1)), expected)
        check(divide, a, divisors, expected)
    check(divide, place, divisors, expected, place)


@each_name
class TestEveryReciprocal:
    """1/x of each element, rounded once, subnormals kept."""

    def test_in_pieces_of_its_own_memory(self, name: str) -> None:
        x, expected = every(name).copy(), reference.reciprocal(every(name), TYPES[name])
        assert_same(vinculum.reciprocal(x), expected)
        for start in range(0, x.size, 17):  # lengths that no vector divides evenly
            part = x[start : start + 17]
            assert vinculum.reciprocal(part, out=part) is part
        assert_same(x, expected)

    def test_laid_out(self, name: str) -> None:
        square = every(name).reshape(256, 256)
        expected = vinculum.reciprocal(square)
        for layout, lay_out in ANY.items():
            with case(layout):
                assert_same(vinculum.reciprocal(lay_out(square)), expected)
