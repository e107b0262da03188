"""Shapes of numbers, names and unknowns."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from vinculum.errors import BroadcastError
from vinculum.tensors.shapes import check_dimensions, is_static, static


@pytest.mark.parametrize("shape", [(), (0,), (1, 2, 3), ("N", 3), (None, "N"), (2**62,), (2**40, 0)])
def test_sizes_names_and_unknowns_are_kept(shape: tuple[Any, ...]) -> None:
    assert check_dimensions(shape) == shape
    assert check_dimensions(list(shape)) == shape


def test_numpys_whole_numbers_are_sizes() -> None:
    assert check_dimensions(np.array([2, 3])) == (2, 3)
    shape: Any = (np.int64(2), "N")
    assert check_dimensions(shape) == (2, "N")


@pytest.mark.parametrize("dimension", [-1, True, False, 1.0, 2.5, b"N", (2,), [2]])
def test_anything_else_is_refused_in_one_line(dimension: Any) -> None:
    with pytest.raises(BroadcastError, match="allowed: a size from 0 on, a name, or None") as refusal:
        check_dimensions((2, dimension))
    assert "\n" not in str(refusal.value)


@pytest.mark.parametrize("shape", ["ab", "", b"ab", 5, None, 1.5])
def test_what_is_no_sequence_of_dimensions(shape: Any) -> None:
    """The letters of one name are no dimensions, nor are its bytes."""
    with pytest.raises(BroadcastError, match="is not a shape; allowed: a sequence of sizes from 0, names, or None"):
        check_dimensions(shape)


@pytest.mark.parametrize("shape", [(2**63,), (2**32, 2**32), (2**21, 2**21, 2**21, "N"), (2**64, None)])
def test_a_size_that_overflows(shape: tuple[Any, ...]) -> None:
    with pytest.raises(BroadcastError, match=r"more than 2\^63 - 1 elements"):
        check_dimensions(shape)


def test_static() -> None:
    assert is_static((2, 0))
    assert is_static(())
    assert not is_static(("N",))
    assert not is_static((2, None))
    assert static((2, 0)) == (2, 0)
