"""The page of a benchmark on terminals: one table where it fits, two where not, nothing cut off."""

from __future__ import annotations

from io import StringIO

import pytest
from rich.console import Console

from tests.reporting.bench.reports import report
from vinculum.reporting.bench.page import page


def printed(width: int) -> str:
    """Return the page as a terminal of so many columns shows it."""
    file = StringIO()
    console = Console(file=file, width=width, highlight=False, force_terminal=False)
    console.print(page(report(), width), crop=False)
    return file.getvalue()


@pytest.mark.parametrize("width", [80, 100, 120, 200])
def test_no_line_is_wider_than_the_terminal(width: int) -> None:
    assert max(map(len, printed(width).splitlines())) <= width


@pytest.mark.parametrize("width", [80, 200])
def test_every_time_is_there(width: int) -> None:
    text = printed(width)
    assert text.count("154") >= 12 / 4  # ONNX Runtime's 1234/8 of bytes, whole
    for words in (
        "0.250",
        "0.219*",
        "1.00",
        "1.25",
        "ended",
        "Evil",
        "PyTorch",
        "Runtime",
        "a processor",
        "numpy 2.4.6",
    ):
        assert words in text
    assert "\x1b" not in text


def test_a_wide_table_has_it_all_in_a_row() -> None:
    lines = printed(200).splitlines()
    (row, *_) = [line for line in lines if line.strip().startswith("uint8")]
    assert " ".join(row.split()) == "uint8 0.250 2% 1.00 0.188 154 0.219* 1.12 0.875 1.25 0.75 0.200 1.25"


def test_a_narrow_one_names_the_fastest_exact_peer() -> None:
    lines = printed(80).splitlines()
    (row, *_) = [line for line in lines if line.strip().startswith("uint8")]
    assert " ".join(row.split()) == "uint8 0.250 2% PyTorch 0.188 0.75 0.200 1.25"
