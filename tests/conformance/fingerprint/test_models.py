"""The models of arithmetic, and the operands that tell them apart."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from vinculum.conformance.fingerprint.float_models import float_models
from vinculum.conformance.fingerprint.integer_models import IntegerModel, Rounding, integer_models
from vinculum.conformance.fingerprint.operands import float_operands, integer_operands, right_quotients
from vinculum.spec.element_types import (
    BFLOAT16,
    DOUBLE,
    FLOAT,
    FLOAT16,
    INT8,
    INT16,
    INT32,
    INT64,
    UINT8,
    UINT16,
    UINT32,
    UINT64,
    ElementType,
)
from vinculum.spec.model import IntegerRounding

Array = NDArray[Any]

FLOATS = (BFLOAT16, FLOAT16, FLOAT, DOUBLE)
INTEGERS = (INT8, INT16, INT32, INT64, UINT8, UINT16, UINT32, UINT64)
DRAWN = 20_000


def meaning(array: Array) -> bytes:
    """Return the encodings of an array, every NaN the same."""
    if array.dtype.kind in "iu":
        return array.tobytes()
    return np.where(np.isnan(array), np.full_like(array, np.nan), array).tobytes()


def drawn_floats(element_type: ElementType) -> tuple[Array, Array]:
    """Return pairs of any encodings, every fifth near zero, and the probing operands."""
    random = np.random.default_rng(1)
    width = f"u{element_type.bits // 8}"
    bits = random.integers(0, 1 << element_type.bits, (2, DRAWN), width)
    near_zero = random.random(bits.shape) < 0.2
    bits[near_zero] = random.integers(0, 40, near_zero.sum(), width)
    probing = float_operands(element_type)
    a, b = (np.concatenate([drawn.view(own.dtype), own]) for drawn, own in zip(bits, probing, strict=True))
    return a, b


def drawn_integers(element_type: ElementType) -> tuple[Array, Array]:
    """Return pairs of integers of every size which every model divides, and the probing operands."""
    random = np.random.default_rng(2)
    wide = (
        random.integers(0, 1 << 63, (2, DRAWN), np.uint64) * np.uint64(2) + random.integers(0, 2, 2, np.uint64)[:, None]
    )
    wide >>= random.integers(0, 64, (2, DRAWN), np.uint64)
    a, b = wide.astype(np.dtype(element_type.numpy))
    # No divisor may be 0 or -1, as such, as signed or in int32.
    low, signed = b.astype(np.int32), b.view(f"i{b.itemsize}")
    kept = (low != 0) & (low != -1) & (signed != -1) & (b != 0)
    probing = integer_operands(element_type)
    return np.concatenate([a[kept], probing[0]]), np.concatenate([b[kept], probing[1]])


class TestModels:
    """A model is a way of computing; the first one of a type is the right one, and the operands tell all apart."""

    @pytest.mark.parametrize("element_type", FLOATS, ids=str)
    def test_the_first_is_the_reference(self, element_type: ElementType) -> None:
        a, b = float_operands(element_type)
        model = float_models(element_type)[0]
        assert model.statement == "correctly rounded"
        assert meaning(model.quotients(a, b)) == meaning(right_quotients(element_type, IntegerRounding.TRUNCATING))

    @pytest.mark.parametrize("rounding", IntegerRounding)
    @pytest.mark.parametrize("element_type", INTEGERS, ids=str)
    def test_truncating_and_floor_are_the_reference(self, element_type: ElementType, rounding: IntegerRounding) -> None:
        a, b = integer_operands(element_type)
        own = {IntegerRounding.TRUNCATING: Rounding.TRUNCATED, IntegerRounding.FLOOR: Rounding.FLOORED}[rounding]
        expected = right_quotients(element_type, rounding)
        assert np.array_equal(IntegerModel(element_type, own).quotients(a, b), expected)

    @pytest.mark.parametrize("element_type", FLOATS, ids=str)
    def test_probing_operands_tell_float_models_apart(self, element_type: ElementType) -> None:
        models = float_models(element_type)
        probing, drawn = float_operands(element_type), drawn_floats(element_type)
        told = {meaning(model.quotients(*probing)) for model in models}
        assert len(told) == len({meaning(model.quotients(*drawn)) for model in models})
        assert len(told) > 40

    @pytest.mark.parametrize("element_type", INTEGERS, ids=str)
    def test_probing_operands_tell_integer_models_apart(self, element_type: ElementType) -> None:
        models = integer_models(element_type)
        probing, drawn = integer_operands(element_type), drawn_integers(element_type)
        told = {meaning(model.quotients(*probing)) for model in models}
        assert len(told) == len({meaning(model.quotients(*drawn)) for model in models})
        assert len(told) >= 8
