"""Classes of operands: numbers that test one thing, under one English name; those of all sizes, and those of reals."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass
from enum import Enum
from fractions import Fraction
from functools import cache
from itertools import product
from math import prod
from typing import Any, Protocol
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from vinculum.conformance.cases.case import Level, Subject
from vinculum.conformance.cases.operation import BOTH, DIVISOR, Placement
from vinculum.spec.element_types import REAL, BinaryFormat, ElementType
from vinculum.tensors.storage import dtype_of

CHOSEN_TYPES = ("float", "int32", "real")  # They run the cases that hardly depend on the element type.

Array = NDArray[Any]
Operands = tuple[Array, ...]
Maker = Callable[[ElementType], Operands]
"""Makes operands of an element type, always the same."""

Types = Callable[[ElementType], bool]
"""Returns whether a class applies to an element type."""


def every(_: ElementType) -> bool:
    """Return True: the class applies to all element types of its table."""
    return True


def of_bits(*bits: int) -> Types:
    """Return the predicate of element types of these widths in bits."""
    return lambda t: t.bits in bits


def above(bits: int) -> Types:
    """Return the predicate of element types of more than this number of bits."""
    return lambda t: t.bits > bits


class Joined(Enum):
    """How the shapes of a class's operands are joined."""

    EQUAL = "equal shapes"
    SCALAR_DIVISOR = "scalar divisor"
    SCALAR_DIVIDEND = "scalar dividend"


class Numbers(Hashable, Protocol):
    """What makes the operands of cases; that of equal numbers is equal."""

    def operands(self, element_type: ElementType) -> Operands:
        """Return the operands, the same whenever they are asked for."""

    def aligned(self, element_type: ElementType) -> Operands:
        """Return the operands, those that a version broadcasts unlike NumPy with dimensions of size 1 for that."""


@dataclass(frozen=True, eq=False)
class ValueClass:
    """Operands that test one thing: a row of a table.

    - `tried`: The scenario in English, as in the id.
    - `subject`: What the operands test.
    - `make`: Makes the operands.
    - `level`: The first level that runs them with an operator's newest version, as run-time operands.
    - `older`: The first level that runs them with its older versions.
    - `constants`: The other placements that the default level runs for the newest version; the remaining ones run at
      the last, or never if this is None.
    - `joined`: How the shapes are joined.
    - `types`: Returns whether the class applies to an element type.
    - `label`: The text for the shapes in the id, where it differs from that of `joined`.
    """

    tried: str
    subject: Subject
    make: Maker
    level: Level = Level.DEFAULT
    older: Level = Level.FULL
    constants: tuple[Placement, ...] | None = ()
    joined: Joined = Joined.EQUAL
    types: Types = every
    label: str = ""

    def operands(self, element_type: ElementType) -> Operands:
        """Return the operands, which are made once."""
        return _made(self, element_type)

    aligned = operands

    def shapes(self, operands: int) -> str:
        """Return the text for the shapes in the id, for an operator with this number of operands."""
        return self.label or (self.joined.value if operands > 1 else "one dimension")


@cache
def _made(values: ValueClass, element_type: ElementType) -> Operands:
    return values.make(element_type)


_LARGEST = 1 << 12
_PRIME = 4093  # So that dividends and divisors repeat with different periods.


def floats(codes: Iterable[int], element_type: ElementType) -> Array:
    """Return the floating-point numbers with these encodings."""
    return np.array(list(codes), np.uint64).astype(f"u{element_type.bits // 8}").view(dtype_of(element_type))


def whole(numbers: Iterable[int] | NDArray[np.int64], element_type: ElementType) -> Array:
    """Return integers in any element type; integer types hold them exactly, floating-point types round them."""
    if element_type is REAL:
        return np.array([Fraction(int(number)) for number in numbers], dtype=object)
    wide = np.float64 if element_type.binary_format else np.int64 if element_type.minimum else np.uint64
    array = numbers if isinstance(numbers, np.ndarray) else np.array(list(numbers), wide)
    return array.astype(wide).astype(dtype_of(element_type))


def paired(pairs: Iterable[tuple[Any, Any]], array: Callable[[Sequence[Any]], Array]) -> Operands:
    """Return an array of the first and one of the second numbers of pairs."""
    dividends, divisors = zip(*pairs, strict=True)
    return array(dividends), array(divisors)


def scalar(number: int, element_type: ElementType) -> Array:
    """Return one integer as an array of rank 0."""
    return whole([number], element_type).reshape(())


def random_bits(what: str, element_type: ElementType, count: int) -> list[int]:
    """Return random words of the element type's width; the same `what` gives the same words on every machine."""
    seed = crc32(f"{what}, {element_type.name}".encode())
    words: NDArray[np.uint64] = np.random.PCG64(seed).random_raw(count)
    codes: list[int] = (words >> np.uint64(64 - element_type.bits)).tolist()
    return codes


def random_below(what: str, bound: int, count: int) -> list[int]:
    """Return random integers from 0 to `bound` - 1; the same `what` gives the same numbers."""
    words: list[int] = np.random.PCG64(crc32(what.encode())).random_raw(2 * count).tolist()
    return [(high << 64 | low) % bound for high, low in zip(words[::2], words[1::2], strict=True)]


def random_normals(
    what: str, element_type: ElementType, fmt: BinaryFormat, lowest: int, highest: int, count: int
) -> list[int]:
    """Return encodings of random signed normal numbers with biased exponents from `lowest` to `highest`."""
    trailing = 1 << fmt.trailing_bits
    first, last = max(lowest, 1), min(highest, fmt.largest >> fmt.trailing_bits)
    magnitudes = random_below(f"{what}, magnitudes of {element_type.name}", (last - first + 1) * trailing, count)
    signs = random_below(f"{what}, signs of {element_type.name}", 2, count)
    codes = (min(first * trailing + m, fmt.largest) for m in magnitudes)
    return [code | sign * fmt.sign_mask for code, sign in zip(codes, signs, strict=True)]


def dividends(shape: tuple[int, ...], t: ElementType) -> Array:
    """Return descending numbers, from the largest that is exact in the type (at most 4096); neighbours differ."""
    top = min(_largest_exact(t), _LARGEST)
    return whole(top - _numbered(shape, 5) % max(top // 2, 1), t).reshape(shape)


def divisors(shape: tuple[int, ...], t: ElementType) -> Array:
    """Return ascending numbers from 1, distinct as far as the type represents them exactly."""
    top = min(_largest_exact(t), _PRIME) if t.is_integer else _largest_exact(t)
    return whole(1 + _numbered(shape, 2) % top, t).reshape(shape)


def _numbered(shape: tuple[int, ...], alone: int) -> Array:
    """Return the numbers of elements; of one alone another number, as powers of two divide exactly in any way."""
    return np.arange(prod(shape)) if prod(shape) != 1 else np.array([alone])


def _largest_exact(t: ElementType) -> int:
    """Return the largest of the integers from 0 that are all exact in a type, or as many as wanted for reals."""
    if t.is_integer:
        return t.maximum
    return 1 << t.binary_format.significand_bits if t.binary_format else _LARGEST


QUICK, DEFAULT, FULL = Level
_SIZES = (1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 31, 32, 33, 64, 65, 1000, 70_001)


def _chosen(t: ElementType) -> bool:
    return t.name in CHOSEN_TYPES


# The level for the newest version, and the element types that it applies to.
_OF_CHOSEN: tuple[tuple[Level, Types], ...] = ((DEFAULT, _chosen), (FULL, lambda t: not _chosen(t)))
_LEVELS: dict[int, tuple[tuple[Level, Types], ...]] = {
    **dict.fromkeys((2, 5, 9), _OF_CHOSEN),
    31: ((QUICK, every),),  # For vectors of every width the remainder is one less than a full vector.
    # Split among threads, with less work for the last one.
    70_001: ((DEFAULT, lambda t: t is not REAL), (FULL, lambda t: t is REAL)),
}
_IN_OLDER = (1, 17)  # Sizes that older versions run at the default level, and the newest with constants too.


def sizes(operands: int) -> tuple[ValueClass, ...]:
    """Return a class for each size, for operators with this number of operands."""
    joined, constants = ("equal shapes", DIVISOR) if operands > 1 else ("a shape", BOTH)
    return tuple(
        ValueClass(
            "numbers in sequence", Subject.SIZE, _in_sequence(size, operands), level,
            DEFAULT if size in _IN_OLDER else FULL, constants if size in _IN_OLDER else (), Joined.EQUAL, types,
            f"{joined} of {size} element{'s' if size > 1 else ''}",
        )
        for size in _SIZES
        for level, types in _LEVELS.get(size, ((DEFAULT, every),))
    )  # fmt: skip


def _in_sequence(size: int, operands: int) -> Maker:
    return lambda t: (dividends((size,), t), divisors((size,), t))[-operands:]


_ZERO = Fraction(0)
_SMALL = [Fraction(n, d) for n in (-35, -7, -1, 1, 2, 3, 10) for d in (1, 2, 3, 7)]


def _rationals(pairs: Callable[[], Iterable[tuple[Fraction, Fraction]]]) -> Maker:
    return lambda _: paired(pairs(), lambda numbers: np.array(numbers, dtype=object))


def _long_rationals() -> Iterable[tuple[Fraction, Fraction]]:
    numbers = [1 + n for n in random_below("fractions of many digits", 10**38, 400)]
    fractions = [Fraction(n, d) for n, d in zip(numbers[::2], numbers[1::2], strict=True)]
    return zip(fractions[::2], fractions[1::2], strict=True)


QUOTIENT, BY_ZERO = Subject.QUOTIENT, Subject.ZERO_DIVISOR
_FOLDED = DIVISOR + BOTH
REALS = (
    ValueClass("fractions", QUOTIENT, _rationals(lambda: product([*_SMALL, _ZERO], _SMALL)), QUICK, QUICK, _FOLDED),
    ValueClass("x divided by itself", QUOTIENT, _rationals(lambda: ((x, x) for x in _SMALL)),
               DEFAULT, DEFAULT, _FOLDED),
    ValueClass("fractions of many digits", QUOTIENT, _rationals(_long_rationals), DEFAULT, DEFAULT, _FOLDED),
    ValueClass("zero divisors", BY_ZERO, _rationals(lambda: ((x, _ZERO) for x in [*_SMALL, _ZERO])),
               QUICK, QUICK, _FOLDED),
    ValueClass("zero divisors beside fractions", BY_ZERO,
               _rationals(lambda: [*((x, Fraction(2, 3)) for x in _SMALL), (Fraction(1), _ZERO)]),
               DEFAULT, DEFAULT, _FOLDED),
)  # fmt: skip
"""The classes of operands of SONNX's real type: exact rationals."""
