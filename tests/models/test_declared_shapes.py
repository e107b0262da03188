"""Declared shapes are believed only when they are possible."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager

from vinculum.errors import ModelError
from vinculum.models.declared_data import check_size, element_count

OneLine = Callable[..., AbstractContextManager[None]]


class TestElementCount:
    """A shape's elements are counted without being allocated."""

    def test_counts(self) -> None:
        assert element_count((), 32, "x") == 1
        assert element_count((2, 3), 32, "x") == 6
        assert element_count((2**40, 0), 32, "x") == 0

    def test_a_negative_dimension(self, one_line: OneLine) -> None:
        with one_line(ModelError, "tensor 'w'", "(2, -1)", "negative"):
            element_count((2, -1), 32, "tensor 'w'")


class TestCheckSize:
    """Bad input: a declared shape whose size overflows."""

    def test_the_largest_possible_size(self) -> None:
        check_size((2**60, 7), 8, "x")
        check_size((2**61, 3, "N", None), 4, "x")

    def test_too_many_bytes(self, one_line: OneLine) -> None:
        with one_line(ModelError, "2**63 - 1"):
            check_size((2**40, 2**23), 8, "x")

    def test_a_dimension_of_zero_hides_nothing(self, one_line: OneLine) -> None:
        with one_line(ModelError, "2**63 - 1"):
            check_size((2**62, 2**62, 0), 8, "x")

    def test_too_many_dimensions(self, one_line: OneLine) -> None:
        check_size((1,) * 64, 8, "x")
        with one_line(ModelError, "65 dimensions", "at most 64"):
            check_size((1,) * 65, 8, "x")
