"""How our pages count."""

from __future__ import annotations

import pytest

from vinculum.reporting.terminal import console, counted, grid


@pytest.mark.parametrize(
    ("count", "text"), [(0, "0 nodes"), (1, "1 node"), (2, "2 nodes"), (1_234_567, "1,234,567 nodes")]
)
def test_counted(count: int, text: str) -> None:
    assert counted(count, "node") == text


def test_what_goes_to_a_file_has_no_blanks_at_the_ends_of_lines(capsys: pytest.CaptureFixture[str]) -> None:
    console().print(grid([("a", "longer"), ("longer", "b")]))
    assert capsys.readouterr().out == "a       longer\nlonger  b\n"
