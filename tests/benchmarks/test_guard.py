"""Counted instructions: the guard against slower code names the cells that changed, and only those; AArch64."""

from __future__ import annotations

import io
import json

import pytest
from rich.console import Console

from benchmarks import aarch64
from benchmarks.guard.__main__ import DUMP, EXPECTED, TOLERANCE, cost, judge
from benchmarks.guard.cells import cells


def judged(counts: dict[str, int], expected: dict[str, int]) -> tuple[bool, str]:
    text = io.StringIO()
    return judge(counts, expected, Console(file=text, width=100)), text.getvalue()


class TestJudgement:
    """More instructions than expected fail, and so does a cell that is missing on one side."""

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


def test_the_instructions_between_two_marks_are_counted() -> None:
    def call(instructions: int) -> list[str]:
        other, mark = "Trace 0: 0x7f [00/0000000000400b00/00/ff] run", "Trace 0: 0x7f [00/0000000000400a00/00/ff] mark"
        return [other, mark, *[other] * (instructions - 1), mark, "IN: no address"]

    log = [line for n in (100, 100 + 3 * aarch64.COUNTED, 50, 50 + aarch64.COUNTED // 2) for line in call(n)]
    assert aarch64.per_element(log, "0000000000400a00") == [3, 0.5]


def test_without_a_compiler_a_line_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(aarch64, "COMPILER", "no-such-compiler")
    with pytest.raises(SystemExit) as ended:
        aarch64.main()
    assert "no-such-compiler" in str(ended.value)
    assert str(ended.value).endswith(": on Debian, apt install qemu-user-static g++-aarch64-linux-gnu")
