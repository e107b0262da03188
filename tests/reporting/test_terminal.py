"""How our pages count."""

from __future__ import annotations

from io import StringIO
from typing import IO, cast

import pytest
from rich.console import Console

from vinculum.reporting.terminal import WithoutTrailingBlanks, counted, grid


@pytest.mark.parametrize(
    ("count", "text"), [(0, "0 nodes"), (1, "1 node"), (2, "2 nodes"), (1_234_567, "1,234,567 nodes")]
)
def test_counted(count: int, text: str) -> None:
    assert counted(count, "node") == text


def test_blanks_at_the_ends_of_lines_are_not_written() -> None:
    file = StringIO()
    Console(file=cast("IO[str]", WithoutTrailingBlanks(file)), width=40).print(grid([("a", "longer"), ("longer", "b")]))
    assert file.getvalue() == "a       longer\nlonger  b\n"
