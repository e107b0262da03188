"""The catalogue of ways to divide: the first is correct, and each has its own form and complexity."""

from __future__ import annotations

from dataclasses import fields, replace
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from vinculum import reference
from vinculum.conformance.arithmetic.catalogue import catalogue, named, right
from vinculum.conformance.arithmetic.division import IntegerDivision
from vinculum.conformance.arithmetic.stages import Narrowing, Rounding, narrowed
from vinculum.spec.element_types import BFLOAT16, DOUBLE, ELEMENT_TYPES, FLOAT, INT8, INT64, REAL, UINT8, ElementType
from vinculum.spec.model import IntegerRounding
from vinculum.tensors.storage import dtype_of

Array = NDArray[Any]

TYPES = [t for t in ELEMENT_TYPES if t is not REAL]
EIGHT_BITS = (INT8, UINT8)


def drawn(element_type: ElementType, count: int) -> tuple[Array, Array]:
    """Return pairs of any encodings, every fifth of floats near zero; no integer divisor is 0 or -1."""
    random = np.random.default_rng(1)
    if element_type.is_integer:
        limits = element_type.minimum, min(element_type.maximum, (1 << 63) - 1)
        a, b = random.integers(*limits, (2, count), endpoint=True, dtype=np.int64)
        return a.astype(dtype_of(element_type)), np.where((b == 0) | (b == -1), 3, b).astype(dtype_of(element_type))
    width = f"u{element_type.bits // 8}"
    bits = random.integers(0, (1 << element_type.bits) - 1, (2, count), width, endpoint=True)
    near_zero = random.random(bits.shape) < 0.2
    bits[near_zero] = random.integers(0, 40, near_zero.sum(), width)
    a, b = bits.view(dtype_of(element_type))
    return a, b


def meaning(array: Array) -> bytes:
    """Return the encodings of an array, with one encoding for all NaN."""
    if array.dtype.kind in "iu" or array.dtype.name in ("int4", "uint4"):
        return array.tobytes()
    with np.errstate(invalid="ignore"):  # ml_dtypes warns of signalling NaN.
        return np.where(np.isnan(array), np.full_like(array, np.nan), array).tobytes()


class TestCatalogue:
    """Each way has its own form, by which it can be looked up; the first way is correct."""

    @pytest.mark.parametrize("element_type", TYPES, ids=str)
    def test_forms_name_the_ways(self, element_type: ElementType) -> None:
        ways = catalogue(element_type)
        assert len({way.form for way in ways}) == len(ways) > 40
        assert all(named(way.form, element_type) is way for way in ways[::17])

    @pytest.mark.parametrize("rounding", IntegerRounding)
    @pytest.mark.parametrize("element_type", TYPES, ids=str)
    def test_the_first_is_the_reference(self, element_type: ElementType, rounding: IntegerRounding) -> None:
        a, b = drawn(element_type, 500)
        exact = reference.divide(a, b, element_type, rounding=rounding)
        first = catalogue(element_type)[0]
        assert first == right(element_type)
        assert first.form == "a / b"
        assert meaning(first.quotients(a, b, rounding)) == meaning(exact)

    @pytest.mark.parametrize("element_type", [t for t in TYPES if not t.is_integer], ids=str)
    def test_each_difference_from_the_right_way_makes_it_more_complex(self, element_type: ElementType) -> None:
        first = right(element_type)
        for way in catalogue(element_type)[1:]:
            for field in fields(way):
                usual = replace(way, **{field.name: getattr(first, field.name)})
                assert usual == way or usual.complexity < way.complexity, (way.form, field.name)


@pytest.mark.parametrize("element_type", EIGHT_BITS, ids=str)
@pytest.mark.parametrize("rounding", [r for r in Rounding if r is not Rounding.AS_ASKED])
def test_roundings_of_every_pair_of_eight_bits(element_type: ElementType, rounding: Rounding) -> None:
    """Each rounding agrees with exact integer arithmetic."""
    numbers = np.arange(element_type.minimum, element_type.maximum + 1)
    a, b = (x.reshape(-1) for x in np.meshgrid(numbers, numbers[numbers != 0]))
    kept = ~((a == -128) & (b == -1))
    a, b = a[kept], b[kept]
    remainder = a % np.abs(b)
    exact = {
        Rounding.TRUNCATED: np.sign(a) * np.sign(b) * (np.abs(a) // np.abs(b)),
        Rounding.FLOORED: a // b,
        Rounding.EUCLIDEAN: (a - remainder) // b,
        Rounding.TO_EVEN: np.rint(a / b),
    }[rounding]
    kept = (exact >= numbers[0]) & (exact <= numbers[-1])
    dtype = dtype_of(element_type)
    given = IntegerDivision(element_type, rounding).quotients(a[kept].astype(dtype), b[kept].astype(dtype))
    assert np.array_equal(given, exact[kept])


@pytest.mark.parametrize(
    ("form", "element_type", "words"),
    [
        ("flush(a) / flush(b)", FLOAT,
         "flushes subnormal numbers to zero, else correctly rounded; subnormal operands count as zero"),
        ("flush(a) * (1/flush(b)) computed in float32, operands and quotients saturated", DOUBLE,
         "computed in float as a * (1/b), a multiplication by the reciprocal, with subnormal numbers flushed to zero; "
         "subnormal operands count as zero; "
         "operands and quotients beyond the range of float, and infinities, become its largest number"),
        ("a / b computed in float32, cut off", BFLOAT16, "computed in float, then cut off instead of rounded"),
        ("trunc(int32(a) / int32(b)) computed in float32", INT64,
         "operands narrowed to int32, computed in float, truncated; "
         "dividends: upper bits dropped, divisors: upper bits dropped"),
    ],
)  # fmt: skip
def test_in_words(form: str, element_type: ElementType, words: str) -> None:
    assert named(form, element_type).statement == words


@pytest.mark.parametrize(
    ("narrowing", "steps"),
    [(Narrowing.ROUNDED, [1, 2, 3, 4]), (Narrowing.CUT, [0, 1, 2, 3]), (Narrowing.ODD, [0, 2, 2, 4])],
)
def test_narrowings(narrowing: Narrowing, steps: list[int]) -> None:
    """The numbers are three quarters of a step above bfloat16 numbers; "rounded if odd" gives even numbers."""
    numbers = 1 + (np.arange(4, dtype=np.float32) + np.float32(0.75)) / 128
    for sign in (1, -1):
        given = narrowed(sign * numbers, dtype_of(BFLOAT16), narrowing)
        assert ((sign * given.astype(np.float32) - 1) * 128).tolist() == steps
