"""The notebook of the tutorial is up to date with the page. tests/runtimes executes it."""

from __future__ import annotations

from building.documentation.notebook import NOTEBOOK, PAGE, notebook


def test_up_to_date() -> None:
    expected = notebook(PAGE.read_text(encoding="utf-8"))
    assert NOTEBOOK.read_text(encoding="utf-8") == expected, "run python -m building.documentation.notebook"
