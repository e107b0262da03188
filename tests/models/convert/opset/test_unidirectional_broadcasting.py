"""How B on a run of A's dimensions is aligned for multidirectional broadcasting."""

from __future__ import annotations

import pytest

from vinculum.models.convert.opset.unidirectional_broadcasting import trailing_ones


class TestTrailingOnes:
    """The dimensions of size 1 that put B where `axis` says."""

    @pytest.mark.parametrize(
        ("rank_a", "rank_b", "axis", "ones"),
        [(4, 2, 1, 1), (4, 1, 0, 3), (4, 2, 2, 0), (4, 2, None, 0), (4, 0, 0, 4), (2, 1, 2, 0)],
    )
    def test_count(self, rank_a: int, rank_b: int, axis: int | None, ones: int) -> None:
        assert trailing_ones(rank_a, rank_b, axis) == ones
