"""The guard against getting slower names the cells that changed, and only those."""

from __future__ import annotations

import io
import json

import pytest
from rich.console import Console

from benchmarks.guard.__main__ import DUMP, EXPECTED, TOLERANCE, cost, judge
from benchmarks.guard.cells import cells


def judged(counts: dict[str, int], expected: dict[str, int]) -> tuple[bool, str]:
    text = io.StringIO()
    return judge(counts, expected, Console(file=text, width=100)), text.getvalue()


class TestJudgement:
    """More instructions than are expected fail, and so does a cell that is missing on one side."""

    @pytest.mark.parametrize(("part", "content"), [(0.9, True), (1.1, False), (-0.9, True), (-2, True), (2, False)])
    def test_tolerance(self, part: float, content: bool) -> None:
        counted = round(100_000 * (1 + TOLERANCE * part))
        assert judged({"int8": counted}, {"int8": 100_000})[0] is content

    def test_the_slower_cell_is_named(self) -> None:
        content, text = judged({"int8, many": 1500, "int16, many": 2000}, {"int8, many": 1000, "int16, many": 2000})
        assert not content
        assert "int8, many" in text
        assert "+50.0%" in text
        assert "int16" not in text

    def test_a_missing_cell(self) -> None:
        for counts, expected in (({}, {"int8": 1}), ({"int8": 1}, {})):
            content, text = judged(counts, expected)
            assert not content
            assert "int8" in text


def test_a_wrong_prediction_costs_as_many_instructions() -> None:
    """A branch on random signs costs more than the instructions that it saves."""
    dump = DUMP.search(
        "desc: Trigger: Client Request: int64, floor|1\n\nevents: Ir Bc Bcm Bi Bim\nfn=(1)\n"
        "1 2 3\ntotals: 900 80 7 6 5\n"
    )
    assert dump is not None
    assert (dump["cell"], cost(dump)) == ("int64, floor", 900 + 20 * (7 + 5))


def test_every_cell_is_expected() -> None:
    """Cells and expectations are changed together."""
    kept = json.loads(EXPECTED.read_text(encoding="utf-8"))["instructions"]
    assert {cell.name for cell in cells()} == set(kept)
