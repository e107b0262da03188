"""How our pages count, break lines and shorten what is long."""

from __future__ import annotations

from io import StringIO
from typing import IO, cast

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console

from tests.reporting.printing import printed
from vinculum.reporting.escape import cut, escaped, short
from vinculum.reporting.terminal import Sentences, WithoutTrailingBlanks, counted, grid


@pytest.mark.parametrize(
    ("count", "text"), [(0, "0 nodes"), (1, "1 node"), (2, "2 nodes"), (1_234_567, "1,234,567 nodes")]
)
def test_counted(count: int, text: str) -> None:
    assert counted(count, "node") == text


def test_a_number_and_its_unit_stay_together() -> None:
    told = "It took 12.5 ms, then 3 s. In 12 sums 7 more."
    for width in range(8, 60):
        lines = printed(Sentences(told), width)
        assert " ".join(lines) == told
        assert not [line for line in lines if line.endswith(("12.5", " 3")) or line == "3"]


@given(st.text(), st.integers(5, 60), st.sampled_from(["...", "…"]))
def test_long_text_is_shortened(text: str, longest: int, dots: str) -> None:
    safe, middle, end = escaped(text), short(text, longest, dots), cut(escaped(text), longest)
    assert (middle + end).isprintable()
    if len(safe) <= longest:
        assert middle == end == safe
        return
    assert (end[-3:], len(end)) == ("...", longest)
    head, tail = middle.split(dots) if not set(dots) & set(safe) else (middle[: len(middle) // 2 - 1], "")
    assert (safe.startswith(head), safe.endswith(tail)) == (True, True)
    assert longest - 1 <= len(middle) <= longest


def test_blanks_at_the_ends_of_lines_are_not_written() -> None:
    file = StringIO()
    Console(file=cast("IO[str]", WithoutTrailingBlanks(file)), width=40).print(grid([("a", "longer"), ("longer", "b")]))
    assert file.getvalue() == "a       longer\nlonger  b\n"
