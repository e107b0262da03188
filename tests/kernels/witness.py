"""Edge cases of every element type, and the exact quotients of all pairs of them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from math import prod
from typing import Any, Literal

import ml_dtypes
import numpy as np
import numpy.typing as npt

from tests.kernels.comparing import assert_same
from vinculum import reference
from vinculum.kernels import backends
from vinculum.kernels.contract import Arithmetic, Division, Exceptions
from vinculum.spec.element_types import ELEMENT_TYPES, REAL, BinaryFormat, ElementType
from vinculum.spec.model import IntegerRounding

Array = npt.NDArray[Any]
Indices = npt.NDArray[np.intp]
ZeroDivisor = Literal["raise", "zero", "saturate"]
Overflow = Literal["wrap", "raise", "saturate"]
Divisions = list[tuple[str, Division]]

TYPES: dict[str, ElementType] = {t.numpy: t for t in ELEMENT_TYPES if t is not REAL}
DTYPES: dict[str, np.dtype[Any]] = {name: np.dtype(getattr(ml_dtypes, name, name)) for name in TYPES}
INTEGERS = tuple(name for name, element_type in TYPES.items() if element_type.is_integer)
SIGNED = tuple(name for name in INTEGERS if TYPES[name].minimum < 0)
FLOATS = tuple(name for name in TYPES if name not in INTEGERS)
ONE_BYTE = tuple(name for name, dtype in DTYPES.items() if dtype.itemsize == 1)


def arithmetic(
    *,
    dtypes: tuple[np.dtype[Any], ...] = tuple(DTYPES.values()),
    reciprocal: bool = False,
    broadcasts: bool = True,
    floor: bool = False,
    zero_divisor: ZeroDivisor = "saturate",
    overflow: Overflow = "saturate",
) -> Arithmetic:
    """Return an arithmetic of all element types, by default one in which every pair has a quotient."""
    return Arithmetic(dtypes, reciprocal, broadcasts, floor, zero_divisor, overflow)


def divisions(**given: Any) -> Divisions:
    """Return each backend's division by an arithmetic, and the backend's name."""
    return [(backend.name, backend.division(arithmetic(**given))) for backend in backends()]


def check(division: Division, a: object, b: object, expected: Array, out: Array | None = None) -> Array:
    """Fail unless a division gives these quotients, in `out` if given."""
    result = division(a, b, out)
    assert type(result) is np.ndarray, f"{result!r} instead of quotients"
    assert out is None or result is out
    assert result.dtype.isnative
    assert_same(result, expected)
    return result


@cache
def values(name: str) -> Array:
    """Return the edges of an element type, their neighbours, and random encodings, as a read-only array."""
    element_type, dtype = TYPES[name], DTYPES[name]
    random = random_encodings(name, 8)
    if element_type.binary_format is not None:
        edges = np.array(_float_edges(element_type.binary_format), f"u{dtype.itemsize}").view(dtype)
    else:
        edges = np.array(_integer_edges(element_type), object).astype(np.uint64 if name == "uint64" else np.int64)
        edges = edges.astype(dtype)
    every = np.concatenate([edges, random])
    every.flags.writeable = False
    return every


def crossed(some: Array) -> tuple[Array, Array]:
    """Return all pairs of some values, as contiguous operands of one shape."""
    a, b = (np.ascontiguousarray(x) for x in np.broadcast_arrays(some[:, None], some))
    return a, b


def random_encodings(name: str, size: int, seed: int = 0) -> Array:
    """Return random bytes as elements."""
    dtype = DTYPES[name]
    return np.random.default_rng(seed).integers(0, 256, size * dtype.itemsize, np.uint8).view(dtype)


def _integer_edges(element_type: ElementType) -> list[int]:
    smallest, largest = element_type.minimum, element_type.maximum
    near = {0, 1, 2, 3, 5, 7, 10, largest, largest - 1, largest // 2, largest // 2 + 1, largest // 3}
    near |= {1 << 24, (1 << 24) + 1, (1 << 51) + 1, (1 << 53) + 1, (1 << 63) + 1}  # what floats could not tell apart
    return sorted(n for n in near | {-n for n in near} | {smallest, smallest + 1} if smallest <= n <= largest)


def _float_edges(fmt: BinaryFormat) -> list[int]:
    one, least_normal = fmt.bias << fmt.trailing_bits, 1 << fmt.trailing_bits
    step = 1 << fmt.trailing_bits  # an exponent
    magnitudes = {0, 1, 2, 3, least_normal - 1, least_normal, least_normal + 1, fmt.largest, fmt.largest - 1, fmt.nan}
    magnitudes |= {one, one + 1, one - 1, one + step // 2, one + step, one + 2 * step, one - step, one + 2 * step + 1}
    magnitudes |= {least_normal + step, fmt.largest - step, fmt.sign_mask - 1}
    if fmt.infinities:
        magnitudes |= {fmt.largest + 1, fmt.largest + 2}  # infinity, a signalling NaN
    return sorted(magnitudes | {magnitude | fmt.sign_mask for magnitude in magnitudes})


@dataclass(frozen=True)
class Pairs:
    """The quotients of all pairs of values under one arithmetic; where it raises, any value.

    Attributes
    ----------
    values : ndarray, shape (n,)
        See `values`.
    quotients : ndarray, shape (n, n)
        Of the value of the first index by that of the second.
    zero_divisors, overflows : ndarray of bool, shape (n, n)
        Which integers have no quotient, and why.
    arithmetic : Arithmetic
        Under which they are.
    """

    values: Array
    quotients: Array
    zero_divisors: npt.NDArray[np.bool_]
    overflows: npt.NDArray[np.bool_]
    arithmetic: Arithmetic

    def drawn(self, shape: tuple[int, ...], seed: int = 0, *, regular: bool = False) -> Indices:
        """Draw indices of values; with `regular`, of values other than 0 and -1."""
        allowed = np.arange(len(self.values))
        if regular:
            allowed = allowed[~(self.zero_divisors.any(0) | self.overflows.any(0))]
        return allowed[np.random.default_rng(seed).integers(0, len(allowed), prod(shape)).reshape(shape)]

    def outcome(self, i: Indices, j: Indices) -> Array | Exceptions:
        """Return the exceptions of the pairs with these indices if a policy raises, else their quotients."""
        zero, overflow = self.zero_divisors[i, j], self.overflows[i, j]
        if self.arithmetic.overflow == "wrap":  # then it is none
            overflow = np.zeros_like(overflow)
        raises = (self.arithmetic.zero_divisor == "raise" and zero.any()) or (
            self.arithmetic.overflow == "raise" and overflow.any()
        )
        if not raises:
            return np.asarray(self.quotients[i, j])
        return Exceptions(zero.size, int(zero.sum()), _first(zero), int(overflow.sum()), _first(overflow))


def _first(mask: npt.NDArray[np.bool_]) -> tuple[int, ...] | None:
    return tuple(int(i) for i in np.argwhere(mask)[0]) if mask.any() else None


@cache
def pairs(
    name: str, *, floor: bool = False, zero_divisor: ZeroDivisor = "saturate", overflow: Overflow = "saturate"
) -> Pairs:
    """Return all pairs of values of an element type under an arithmetic."""
    some = values(name)
    shape = len(some), len(some)
    given = arithmetic(floor=floor, zero_divisor=zero_divisor, overflow=overflow)
    zero = overflowing = np.zeros(shape, bool)
    if name in INTEGERS:
        numbers = np.array(reference.elements(some, TYPES[name]), object)
        zero = np.broadcast_to(numbers == 0, shape).astype(bool)
        smallest = TYPES[name].minimum
        if smallest < 0:
            overflowing = ((numbers[:, None] == smallest) & (numbers == -1)).astype(bool)
    if name in FLOATS:  # which know neither rounding nor policies
        return Pairs(some, _of_every_two(name), zero, overflowing, given)
    told = "zero" if zero_divisor == "raise" else zero_divisor, "wrap" if overflow == "raise" else overflow
    quotients = _of_every_two(name, floor, *told)
    return Pairs(some, quotients, zero, overflowing, given)


@cache
def _of_every_two(name: str, floor: bool = False, zero_divisor: str = "zero", overflow: str = "wrap") -> Array:
    return exact(name, *crossed(values(name)), floor=floor, zero_divisor=zero_divisor, overflow=overflow)


def exact(name: str, a: Array, b: Array, *, floor: bool, **policies: str) -> Array:
    """Divide by the reference; a negative number of four bits has its sign in the upper half of the byte too."""
    rounding = IntegerRounding.FLOOR if floor else IntegerRounding.TRUNCATING
    quotients = reference.divide(a, b, TYPES[name], rounding=rounding, **policies)
    if TYPES[name].bits != 4:
        return quotients
    return np.array(reference.elements(quotients, TYPES[name]), np.int8).view(DTYPES[name]).reshape(a.shape)
