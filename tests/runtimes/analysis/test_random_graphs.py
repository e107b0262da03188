"""Random models: every value that ONNX Runtime computes lies in what is known of it."""

from __future__ import annotations

import pytest

from tests.analysis.random_graphs import complaints, unreported
from tests.runtimes.analysis.sessions import optimised, session


def _said(seed: int, draws: int) -> list[str]:
    return list(complaints(seed, draws=draws, sessions=(session, optimised) if seed % 4 == 0 else (session,)))


@pytest.mark.parametrize("first", range(0, 100, 10))
def test_every_value_lies_inside(first: int) -> None:
    assert [said for seed in range(first, first + 10) for said in _said(seed, 4)] == []


@pytest.mark.parametrize("seed", [2_008_802, 2_017_640])
def test_of_what_once_lay_outside(seed: int) -> None:
    assert _said(seed, 2) == []


@pytest.mark.exhaustive
@pytest.mark.parametrize("first", range(1_000_000, 1_100_000, 1000))
def test_of_a_hundred_thousand(first: int) -> None:
    assert [said for seed in range(first, first + 1000) for said in _said(seed, 2)] == []


def test_every_zero_divisor_that_a_run_meets_is_told_of() -> None:
    assert [said for seed in range(5000, 5060) for said in unreported(seed, session)] == []
