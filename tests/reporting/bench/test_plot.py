"""What the figure is of, and what it needs; tests/machine/reporting draws it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.reporting.bench.reports import report
from vinculum.errors import ModelError
from vinculum.reporting.bench import plot
from vinculum.reporting.bench.plot import drawn_rows, svg

if TYPE_CHECKING:
    pass


def test_the_largest_size_is_drawn_each_type_once() -> None:
    rows = drawn_rows(report(3_000))
    assert {row.cell.size for row in rows} == {3_000}
    assert [row.cell.element_type for row in rows][:3] == ["int8", "uint8", "int16"]
    assert len(rows) == 12


def test_without_matplotlib_one_line_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(plot, "find_spec", lambda name: None)
    with pytest.raises(ModelError, match=r"pip install 'vinculum-div\[bench\]'"):
        svg(report())
