"""The page of Markdown: whole tables, the figure where there is one, and nothing that Markdown takes for its own."""

from __future__ import annotations

import re

from tests.reporting.bench.reports import TITLES, report
from vinculum.reporting.bench.markdown import document


def test_every_table_is_whole() -> None:
    lines = document(report(), None).splitlines()
    rows = [line for line in lines if line.startswith("|")]
    assert len(rows) == 4 * 2 + 26
    # A bar that is no border is escaped.
    assert {len(re.findall(r"(?<!\\)\|", row)) for row in rows} == {len(TITLES) + 3 + 1 + 1}


def test_a_row() -> None:
    assert (
        "| uint8 | 0.250 | 2% | 1.00 | **0.188** | 154 | 0.219\\* | 1.12 | 0.875 | 1.25 | 0.75 | 0.200 | 1.25 |"
        in document(report(), None).splitlines()
    )


def test_we_are_bold_where_we_are_faster() -> None:
    assert "| uint8 | **0.250** | 2% | 1.00 | **0.750** |" in document(report(), None)


def test_a_stranger_s_name_does_nothing() -> None:
    page = document(report(), None)
    assert "\x1b" not in page
    assert "Evil\\|\\`\\<b\\>\\*" in page
    assert "<b>" not in page


def test_it_says_what_it_is_and_how_it_was_made() -> None:
    page = document(report(), "figures/performance.svg")
    assert page.splitlines()[0].startswith("<!-- Written by `vinculum bench --markdown`")
    assert "](figures/performance.svg)" in page
    assert "- system: a\\_system" in page
    assert "](" not in document(report(), None)
    assert page.endswith("\n")
    assert not page.endswith("\n\n")


def test_findings_come_before_the_figure_and_the_figure_before_the_tables() -> None:
    page = document(report(), "figures/performance.svg")
    places = [page.index(words) for words in ("\n- Vinculum is the fastest", "](figures/performance.svg)", "\n| ")]
    assert places == sorted(places)
