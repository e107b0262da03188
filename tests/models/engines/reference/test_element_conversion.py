"""The layer Convert: what the OpenVINO specification leaves undefined is defined, and values are rounded once."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from tests.cases import case
from vinculum.models.engines.reference.element_conversion import convert
from vinculum.reference.rounding import decode, infinity, round_to_nearest_even
from vinculum.spec.element_types import (
    BFLOAT16,
    DOUBLE,
    ELEMENT_TYPES,
    FLOAT,
    FLOAT8E4M3FN,
    FLOAT8E5M2,
    FLOAT16,
    INT4,
    INT8,
    INT64,
    REAL,
    UINT4,
    UINT8,
    UINT64,
    ElementType,
)
from vinculum.tensors.storage import dtype_of

NUMERIC = [element_type for element_type in ELEMENT_TYPES if element_type is not REAL]
FLOATS = [element_type for element_type in NUMERIC if element_type.binary_format is not None]
INTEGERS = [element_type for element_type in NUMERIC if element_type.is_integer]
RNG = np.random.default_rng(0)


def _encodings(array: Any, element_type: ElementType) -> list[int]:
    """Return the encodings of an array, every NaN as the one that `_rounded` gives."""
    form = element_type.binary_format
    assert form is not None
    encodings = [int(bits) for bits in array.view(f"u{array.dtype.itemsize}")]
    return [form.nan if decode(bits, form).is_nan else bits for bits in encodings]


def _rounded(value: Any, element_type: ElementType) -> int:
    """Return the encoding nearest to a float or an integer, by exact rationals."""
    form = element_type.binary_format
    assert form is not None
    if isinstance(value, float) and not np.isfinite(value):
        bits = form.nan if np.isnan(value) else infinity(form, negative=value < 0)
    else:
        negative_zero = value == 0 and np.signbit(np.float64(value))
        bits = round_to_nearest_even(Fraction(value), form, negative_zero=bool(negative_zero))
    return form.nan if decode(bits, form).is_nan else bits


def _hard_floats() -> Any:
    """Return doubles near the midpoints of narrow formats, where two roundings go wrong, and at every edge."""
    values = []
    for element_type in FLOATS:
        form = element_type.binary_format
        assert form is not None
        encodings = RNG.integers(0, form.largest, 200, dtype=np.uint64).tolist()
        for bits in [0, 1, 2, form.largest - 1, form.largest, *encodings]:
            low = decode(int(bits), form).value
            above = min(int(bits) + 1, form.largest)
            middle = (low + decode(above, form).value) / 2
            values += [low, middle, middle * (1 + Fraction(1, 2**40)), middle * (1 - Fraction(1, 2**40))]
    doubles = [float(value) for value in values if value < Fraction(2) ** 1023]
    return np.array([*doubles, *(-value for value in doubles), np.inf, -np.inf, np.nan])


class TestToFloat:
    """To a float the value is rounded once, to nearest with ties to even."""

    @pytest.mark.parametrize("target", FLOATS, ids=str)
    def test_from_double(self, target: ElementType) -> None:
        values = _hard_floats()
        expected = [_rounded(value, target) for value in values.tolist()]
        assert _encodings(convert(values, target), target) == expected

    @pytest.mark.parametrize("source", FLOATS, ids=str)
    def test_from_every_float(self, source: ElementType) -> None:
        count = min(2**source.bits, 3000)
        encodings = RNG.integers(0, 2**source.bits, count, dtype=np.uint64) if source.bits > 8 else np.arange(count)
        values = encodings.astype(f"u{source.bits // 8}").view(dtype_of(source))
        with np.errstate(invalid="ignore"):  # NumPy reports signalling NaN
            wide = values.astype(np.float64).tolist()
        for target in FLOATS:
            with case("to", target):
                assert _encodings(convert(values, target), target) == [_rounded(value, target) for value in wide]

    @pytest.mark.parametrize("source", INTEGERS, ids=str)
    def test_from_every_integer(self, source: ElementType) -> None:
        edges = {sign * (2**k + d) for k in range(source.bits + 1) for d in (-1, 0, 1) for sign in (1, -1)}
        # The midpoints of every narrow significand, and their neighbours far below.
        edges |= {2**k + 2 ** (k - p) + d for p in (4, 8, 11, 24, 53) for k in range(p, 64) for d in (-1, 0, 1)}
        edges |= {
            2**k + 2 ** (k - p) + 2 ** (k - p + 1) + d
            for p in (4, 8, 11, 24, 53)
            for k in range(p, 63)
            for d in (-1, 0, 1)
        }
        numbers = sorted(n for n in edges if source.minimum <= n <= source.maximum)
        values = np.array(numbers, np.uint64 if source.minimum == 0 else np.int64).astype(dtype_of(source))
        for target in FLOATS:
            with case("to", target):
                assert _encodings(convert(values, target), target) == [_rounded(n, target) for n in numbers]


class TestToInteger:
    """Integers keep their low bits; floats are truncated toward zero, saturated, NaN giving 0."""

    @pytest.mark.parametrize("source", INTEGERS, ids=str)
    def test_from_integers(self, source: ElementType) -> None:
        for target in INTEGERS:
            with case("to", target):
                numbers = [source.minimum, source.maximum, 0, 1, source.maximum // 3, source.minimum // 3]
                values = np.array(numbers, np.uint64 if source.minimum == 0 else np.int64).astype(dtype_of(source))
                expected = [(n - target.minimum) % 2**target.bits + target.minimum for n in numbers]
                assert [int(n) for n in convert(values, target)] == expected

    @pytest.mark.parametrize("source", [FLOAT16, BFLOAT16, FLOAT, DOUBLE, FLOAT8E5M2, FLOAT8E4M3FN], ids=str)
    def test_from_floats(self, source: ElementType) -> None:
        for target in INTEGERS:
            with case("to", target):
                near = [
                    float(n + d) for n in (target.minimum, target.maximum) for d in (-1.5, -1, -0.5, 0, 0.5, 1, 1.5)
                ]
                values = np.array([*near, -0.5, 0.9, -1.9, 7.99, 1e300, -1e300, np.inf, -np.inf, np.nan])
                with np.errstate(all="ignore"):
                    values = values.astype(dtype_of(source))
                expected = []
                for value in values.astype(np.float64).tolist():
                    if np.isnan(value):
                        expected.append(0)
                    elif np.isinf(value):
                        expected.append(target.maximum if value > 0 else target.minimum)
                    else:
                        expected.append(min(max(int(value), target.minimum), target.maximum))
                assert [int(n) for n in convert(values, target)] == expected

    def test_the_last_doubles_that_fit(self) -> None:
        values = np.array([2.0**63 - 1024, 2.0**63, -(2.0**63), 2.0**64 - 2048, 2.0**64])
        assert convert(values, INT64).tolist() == [2**63 - 1024, 2**63 - 1, -(2**63), 2**63 - 1, 2**63 - 1]
        assert convert(values, UINT64).tolist() == [2**63 - 1024, 2**63, 0, 2**64 - 2048, 2**64 - 1]


class TestBoolean:
    """To boolean, everything but 0 is true; from it, 0 and 1."""

    @pytest.mark.parametrize("source", NUMERIC, ids=str)
    def test_both_ways(self, source: ElementType) -> None:
        values = np.array([0, 1, 3]).astype(dtype_of(source))
        assert convert(values, "bool").tolist() == [False, True, True]
        assert convert(np.array([False, True]), source).astype(np.float64).tolist() == [0, 1]

    def test_nan_and_zeros(self) -> None:
        assert convert(np.array([np.nan, -0.0, 1e-300]), "bool").tolist() == [True, False, True]


class TestLayout:
    """Every shape and order; nothing is copied that need not be."""

    def test_the_same_type(self) -> None:
        values = np.ones(3, np.int8)
        assert convert(values, INT8) is values

    def test_views_rank_0_and_empty(self) -> None:
        values = np.arange(24.0).reshape(2, 3, 4)
        assert convert(values.T, UINT8).tolist() == values.T.astype(np.uint8).tolist()
        assert convert(np.array(-3.7), INT4).shape == ()
        assert convert(np.zeros((0, 2)), UINT4).shape == (0, 2)

    def test_more_than_one_piece(self) -> None:
        values = np.arange(2**18 + 3, dtype=np.float64)
        assert (convert(values, INT64) == values).all()
        assert (convert(values[::-1], FLOAT) == values[::-1]).all()
