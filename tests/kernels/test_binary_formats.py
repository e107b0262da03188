"""Every encoding of binary16 and bfloat16 widened, and rounded to from both sides of every boundary."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from functools import cache
from typing import Any

import ml_dtypes
import numba
import numpy as np
import numpy.typing as npt
import pytest

from tests.kernels.comparing import assert_same, encodings
from vinculum.kernels import binary_formats
from vinculum.reference.rounding import round_to_nearest_even
from vinculum.spec.element_types import BFLOAT16, FLOAT16, ElementType

Array = npt.NDArray[Any]
Rule = Callable[..., Any]

FORMATS = {np.dtype(np.float16): FLOAT16, np.dtype(ml_dtypes.bfloat16): BFLOAT16}

WIDENINGS = {
    "binary16 as the processor does": (binary_formats.binary32_of_binary16, np.float16),
    "binary16 by integers": (binary_formats.widen_by_integers, np.float16),
    "bfloat16": (binary_formats.binary32_of_bfloat16, ml_dtypes.bfloat16),
}
ROUNDINGS = {
    "binary16 as the processor does": (binary_formats.binary16_of_binary32, np.float16),
    "binary16 by integers": (binary_formats.round_by_integers, np.float16),
    "bfloat16": (binary_formats.bfloat16_of_binary32, ml_dtypes.bfloat16),
}


@cache
def compiled(rule: Rule) -> Callable[[Array, Array], None]:
    """Compile the application of a scalar rule to each element."""

    @numba.njit(error_model="numpy")  # type: ignore[untyped-decorator]  # Numba's decorators have no types
    def loop(x: Array, y: Array) -> None:
        for i in range(x.size):
            y[i] = rule(x[i])

    apply: Callable[[Array, Array], None] = loop
    return apply


def applied(rule: Rule, x: Array, result: type[np.generic]) -> Array:
    """Apply a scalar rule to each element."""
    y = np.empty(x.shape, result)
    compiled(rule)(x, y)
    return y


def around_every_boundary(dtype: npt.DTypeLike) -> Array:
    """Return binary32 values: every number of the format, every midpoint of two, and two neighbours on either side."""
    element_type = FORMATS[np.dtype(dtype)]
    assert element_type.binary_format is not None
    largest = element_type.binary_format.largest
    positive = np.arange(largest + 1, dtype=np.uint16).view(dtype).astype(np.float64)
    # Half a step beyond the largest number lies the boundary to infinity.
    next_one = np.append(positive[1:], 2 * positive[-1] - positive[-2])
    centres = np.concatenate([positive, (positive + next_one) / 2]).astype(np.float32).view(np.uint32)
    near = (centres.astype(np.int64)[:, np.newaxis] + np.arange(-2, 3)).ravel()
    magnitudes = near[near >= 0].astype(np.uint32)
    return np.concatenate([magnitudes, magnitudes | np.uint32(1 << 31)]).view(np.float32)


def special_values() -> Array:
    """Return binary32's own edges: its exponents, its subnormals, infinities, and NaNs that carries could corrupt."""
    exponents = np.arange(256, dtype=np.uint32) << np.uint32(23)
    edges = np.concatenate([exponents + np.uint32(d) for d in (0, 1, 2, 0x1000, 0x7FFFFE, 0x7FFFFF)])
    fractions = np.random.default_rng(1).integers(0, 1 << 32, 50_000, dtype=np.uint32)
    return np.concatenate([edges, edges | np.uint32(1 << 31), fractions]).view(np.float32)


@pytest.mark.clause("ieee-754")
class TestWidening:
    """binary16 and bfloat16 to binary32: exact, for every encoding."""

    @pytest.mark.parametrize("which", WIDENINGS)
    def test_every_encoding(self, which: str) -> None:
        rule, dtype = WIDENINGS[which]
        every = np.arange(1 << 16, dtype=np.uint16)
        assert_same(applied(rule, every, np.float32), every.view(dtype).astype(np.float32))


@pytest.mark.clause("ieee-754")
class TestRounding:
    """binary32 to binary16 and bfloat16: to nearest, ties to even, subnormals kept, NaN stays NaN."""

    @pytest.mark.parametrize("which", ROUNDINGS)
    @pytest.mark.parametrize("values", ["around every boundary", "special"])
    def test_as_numpy_and_ml_dtypes_do(self, which: str, values: str) -> None:
        rule, dtype = ROUNDINGS[which]
        x = special_values() if values == "special" else around_every_boundary(dtype)
        with np.errstate(all="ignore"):
            expected = x.astype(dtype)
        assert_same(applied(rule, x, np.uint16).view(dtype), expected)

    @pytest.mark.parametrize("which", ROUNDINGS)
    def test_a_nan_is_the_quiet_one(self, which: str) -> None:
        rule, dtype = ROUNDINGS[which]
        fmt = FORMATS[np.dtype(dtype)].binary_format
        assert fmt is not None
        payloads = np.array([0x7F800001, 0x7FBFFFFF, 0x7FC00000, 0x7FFFFFFF, 0xFF800001, 0xFFFFFFFF], np.uint32)
        rounded = applied(rule, payloads.view(np.float32), np.uint16)
        assert ((rounded & 0x7FFF) >= fmt.nan).all()

    @pytest.mark.parametrize("element_type", FORMATS.values(), ids=str)
    def test_what_it_is_held_against_agrees_with_the_reference(self, element_type: ElementType) -> None:
        dtype = np.dtype(element_type.numpy)
        fmt = element_type.binary_format
        assert fmt is not None
        x = around_every_boundary(dtype)[::97]
        exact = [round_to_nearest_even(Fraction(v), fmt, negative_zero=bool(np.signbit(v))) for v in x.tolist()]
        with np.errstate(all="ignore"):
            rounded = x.astype(dtype)
        assert encodings(rounded).tolist() == exact
