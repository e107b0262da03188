"""Numbers with nouns, shortened texts, and lines without trailing blanks."""

from __future__ import annotations

from io import StringIO
from typing import IO, cast

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console

from vinculum.reporting.escape import cut, escaped, short
from vinculum.reporting.terminal import WithoutTrailingBlanks, counted, grid


@pytest.mark.parametrize(
    ("count", "text"), [(0, "0 nodes"), (1, "1 node"), (2, "2 nodes"), (1_234_567, "1,234,567 nodes")]
)
def test_counted(count: int, text: str) -> None:
    assert counted(count, "node") == text


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
