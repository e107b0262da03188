"""Edge values: those at which divisions go wrong, and pairs of them."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from vinculum.models.sampling.edge_values import edge_values, paired
from vinculum.spec.element_types import ELEMENT_TYPES, INT64, REAL, ElementType
from vinculum.tensors.storage import dtype_of

TYPES = [element_type for element_type in ELEMENT_TYPES if element_type is not REAL]
INTEGERS = [element_type for element_type in TYPES if element_type.is_integer]
FLOATS = [element_type for element_type in TYPES if not element_type.is_integer]


def _codes(element_type: ElementType) -> set[int]:
    values = edge_values(element_type)
    return {int(code) for code in values.view(f"u{values.itemsize}")}


class TestValues:
    """Conversions are compared on edge cases: of every element type, the values where divisions go wrong."""

    @pytest.mark.parametrize("element_type", TYPES, ids=str)
    def test_form(self, element_type: ElementType) -> None:
        values = edge_values(element_type)
        assert (values.dtype, values.ndim, values.flags.writeable) == (dtype_of(element_type), 1, False)
        assert len(_codes(element_type)) == len(values)
        assert values is edge_values(element_type)

    @pytest.mark.parametrize("element_type", INTEGERS, ids=str)
    def test_integers(self, element_type: ElementType) -> None:
        values = set(map(int, edge_values(element_type)))
        lowest, highest = element_type.minimum, element_type.maximum
        limits = {lowest, lowest + 1, highest, highest - 1, highest // 2 + 1}
        small = {sign * n for n in range(4) for sign in (1, -1)}
        powers = {sign * (2**k + d) for k in (24, 31, 53, 63) for d in (-1, 0, 1) for sign in (1, -1)}
        assert {v for v in limits | small | powers if lowest <= v <= highest} <= values
        assert all(lowest <= v <= highest for v in values)
        assert len(values) == 16 or element_type.bits > 4

    @pytest.mark.parametrize("element_type", FLOATS, ids=str)
    def test_floats(self, element_type: ElementType) -> None:
        info = element_type.binary_format
        assert info is not None
        values = edge_values(element_type).astype(np.float64)
        smallest, normal = 2.0**info.subnormal_exponent, 2.0**info.smallest_exponent
        ulp = 2.0**-info.trailing_bits
        largest = float(np.array([info.largest], f"u{element_type.bits // 8}").view(dtype_of(element_type))[0])
        wanted = {smallest, normal, normal - smallest, normal + smallest, 1, 1 + ulp, 1 - ulp / 2, 2, 2 - ulp, 0.5, 3}
        wanted |= {largest, 3 * smallest, 5 * smallest}  # Half of an odd multiple lies between two numbers.
        assert {sign * v for v in wanted for sign in (1, -1)} <= set(values.tolist())
        assert np.isnan(values).sum() == 1
        assert sorted(np.copysign(1, values[values == 0])) == [-1, 1]
        assert np.isinf(values).sum() == (2 if info.infinities else 0)


class TestPairs:
    """Every pair of edge values meets at least once, or as many as fit, the most telling first."""

    def test_the_most_telling_ones_first(self) -> None:
        a, b = paired(INT64, 0, 25)
        assert set(zip(a.tolist(), b.tolist(), strict=True)) == set(product([0, -(2**63), -1, 1, 2**63 - 1], repeat=2))

    def test_parts_that_follow_one_another(self) -> None:
        whole = paired(INT64, 0, 50)
        parts = [paired(INT64, start, 25) for start in (0, 25)]
        for k in range(2):
            np.testing.assert_array_equal(np.concatenate([part[k] for part in parts]), whole[k])
            cycle = paired(INT64, len(edge_values(INT64)) ** 2, 25)
            np.testing.assert_array_equal(cycle[k], parts[0][k])
