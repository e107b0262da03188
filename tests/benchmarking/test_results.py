"""What samples come to: medians, quartiles, and the ratio to the fastest peer that is exact."""

from __future__ import annotations

import pytest

from vinculum.benchmarking.cells import Cell
from vinculum.benchmarking.results import Measured, Missing, Outcome, Row

CELL = Cell("Div", "int8", "equal", 16)


def row(**outcomes: Outcome) -> Row:
    """Return a row in which we take 2 ns and the roofline 1."""
    return Row(CELL, {"vinculum": steady(2.0), **outcomes, "limit": steady(1.0)})


def steady(time: float, *, exact: bool = True) -> Measured:
    """Return what was measured of a peer that always takes as long."""
    return Measured(exact, (time, time))


def test_median_and_quartiles() -> None:
    measured = Measured(True, (5.0, 1.0, 2.0, 4.0, 100.0))
    assert measured.median == 4.0
    assert measured.quartiles == (2.0, 5.0)
    assert measured.spread == pytest.approx(1.5 / 4)


def test_the_ratio_is_to_the_fastest_exact_peer() -> None:
    found = row(numpy=steady(6.0), jax=steady(5.0), openvino=steady(3.0, exact=False), torch=Missing("no"))
    assert found.fastest == "jax"
    assert found.ratio == 2.5
    assert found.of_roofline == 2.0


def test_without_an_exact_peer_there_is_no_ratio() -> None:
    found = row(openvino=steady(3.0, exact=False), torch=Missing("no"))
    assert found.fastest is None
    assert found.ratio is None


def test_without_our_own_time_there_is_no_ratio() -> None:
    found = Row(CELL, {"vinculum": Missing("died", ended=True), "numpy": steady(1.0), "limit": Missing("no")})
    assert (found.fastest, found.ratio, found.of_roofline) == ("numpy", None, None)
