"""Random models: every computed value lies within its bounds."""

from __future__ import annotations

import pytest

from tests.analysis.random_graphs import complaints, unreported


@pytest.mark.parametrize("first", range(0, 60, 10))
def test_every_value_lies_inside(first: int) -> None:
    assert [said for seed in range(first, first + 10) for said in complaints(seed)] == []


def test_every_zero_divisor_that_a_run_meets_is_told_of() -> None:
    assert [said for seed in range(5000, 5060) for said in unreported(seed)] == []
