"""The layer Convert: what the OpenVINO specification leaves undefined is defined, and values are rounded once."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from tests.cases import case
from vinculum.models.engines.reference.element_conversion import convert
from vinculum.reference.rounding import decode, infinity, round_to_nearest_even
from vinculum.spec.element_types import DOUBLE, ELEMENT_TYPES, FLOAT, INT4, INT8, INT64, REAL, UINT4, UINT8, ElementType
from vinculum.tensors.storage import dtype_of

NUMERIC = [element_type for element_type in ELEMENT_TYPES if element_type is not REAL]
FLOATS = [element_type for element_type in NUMERIC if element_type.binary_format is not None]
INTEGERS = [element_type for element_type in NUMERIC if element_type.is_integer]


def _near_midpoints() -> list[float]:
    """Return doubles near the midpoints of narrow formats, where two roundings go wrong, and at every edge."""
    rng = np.random.default_rng(0)
    values = []
    for form in (element_type.binary_format for element_type in FLOATS):
        assert form is not None
        encodings = rng.integers(0, form.largest, 200, dtype=np.uint64).tolist()
        for bits in [0, 1, 2, form.largest - 1, form.largest, *encodings]:
            low, above = decode(int(bits), form).value, decode(min(int(bits) + 1, form.largest), form).value
            middle = (low + above) / 2
            values += [low, middle, middle * (1 + Fraction(1, 2**40)), middle * (1 - Fraction(1, 2**40))]
    doubles = [float(value) for value in values if value < Fraction(2) ** 1023]
    return [*doubles, *(-value for value in doubles)]


def _hard(source: ElementType) -> NDArray[Any]:
    """Return numbers of a type at which some conversion could go wrong."""
    if source.is_integer:
        numbers = {sign * (2**k + d) for k in range(source.bits + 1) for d in (-1, 0, 1) for sign in (1, -1)}
        numbers |= {source.minimum // 3, source.maximum // 3}
        # The midpoints of every narrow significand, and their neighbours far below.
        for p in (4, 8, 11, 24, 53):
            numbers |= {2**k + q * 2 ** (k - p) + d for k in range(p, 64) for q in (1, 3) for d in (-1, 0, 1)}
        fitting = sorted(n for n in numbers if source.minimum <= n <= source.maximum)
        return np.array(fitting, np.uint64 if source.minimum == 0 else np.int64).astype(dtype_of(source))
    limits = [limit for target in INTEGERS for limit in (target.minimum, target.maximum)]
    near = [float(limit + d) for limit in limits for d in (-1.5, -1, -0.5, 0, 0.5, 1, 1.5)]
    near += [2.0**63 - 1024, 2.0**64 - 2048, -0.5, 0.9, -1.9, 7.99, 1e300, -1e300, np.inf, -np.inf, np.nan]
    near += _near_midpoints() if source is DOUBLE else []
    encodings = np.arange(256) if source.bits == 8 else np.random.default_rng(0).integers(0, 2**source.bits, 2000, "u8")
    with np.errstate(all="ignore"):
        edges = np.array(near).astype(dtype_of(source))
    return np.concatenate([edges, encodings.astype(f"u{source.bits // 8}").view(dtype_of(source))])


def _exact(values: NDArray[Any], source: ElementType) -> list[Any]:
    """Return numbers as integers or floats of Python."""
    with np.errstate(invalid="ignore"):  # NumPy reports signalling NaN.
        return list(map(int, values)) if source.is_integer else values.astype(np.float64).tolist()


def _integer(value: float, target: ElementType) -> int:
    """Return what a number becomes: an integer keeps its low bits; a float is truncated and saturated, NaN gives 0."""
    if isinstance(value, int):
        return (value - target.minimum) % (1 << target.bits) + target.minimum
    if np.isnan(value):
        return 0
    return target.maximum if value > target.maximum else target.minimum if value < target.minimum else int(value)


def _rounded(value: float, target: ElementType) -> int:
    """Return the encoding nearest to a float or an integer, by exact rationals."""
    form = target.binary_format
    assert form is not None
    if isinstance(value, float) and not np.isfinite(value):
        return _one_nan(form.nan if np.isnan(value) else infinity(form, negative=value < 0), target)
    negative_zero = value == 0 and np.signbit(np.float64(value))
    return _one_nan(round_to_nearest_even(Fraction(value), form, negative_zero=bool(negative_zero)), target)


def _one_nan(bits: int, element_type: ElementType) -> int:
    form = element_type.binary_format
    assert form is not None
    return form.nan if decode(bits, form).is_nan else bits


@pytest.mark.parametrize("source", NUMERIC, ids=str)
class TestEveryPair:
    """From every type to every type."""

    def test_to_floats(self, source: ElementType) -> None:
        """A value is rounded once, to nearest with ties to even."""
        values = _hard(source)
        numbers = _exact(values, source)
        for target in FLOATS:
            with case("to", target):
                found = convert(values, target)
                encodings = [_one_nan(int(bits), target) for bits in found.view(f"u{found.itemsize}")]
                assert encodings == [_rounded(number, target) for number in numbers]

    def test_to_integers_and_boolean(self, source: ElementType) -> None:
        values = _hard(source)
        numbers = _exact(values, source)
        for target in INTEGERS:
            with case("to", target):
                assert [int(n) for n in convert(values, target)] == [_integer(number, target) for number in numbers]
        assert convert(values, "bool").tolist() == [number != 0 for number in numbers]
        assert convert(np.array([False, True]), source).astype(np.float64).tolist() == [0, 1]


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
