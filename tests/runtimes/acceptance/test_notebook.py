"""The tutorial's notebook, executed cell by cell as Jupyter does, prints what stands below its cells."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from building.documentation.notebook import NOTEBOOK, PAGE
from tests.acceptance.conftest import Vinculum
from tests.acceptance.documents import difference
from tests.acceptance.page_runs import done
from tests.cases import case
from tests.runtimes.acceptance.test_documents import check_versions


def executed(source: str, folder: Path, vinculum: Vinculum) -> str:
    """Execute a cell of the kinds that the notebook has, and return what it prints."""
    if source.startswith("%%writefile "):
        first, _, body = source.partition("\n")
        (folder / first.split()[1]).write_text(body, encoding="utf-8")
        return ""
    if source.startswith("%pip install"):
        return ""  # what is tested is installed
    commands = source.splitlines()
    assert all(command.startswith("!") for command in commands), source
    return "".join(done(command[1:], folder, vinculum)[1] for command in commands)


def test_every_cell(tmp_path: Path, vinculum: Vinculum, request: pytest.FixtureRequest) -> None:
    check_versions(PAGE, request)
    cells = [cell for cell in json.loads(NOTEBOOK.read_text(encoding="utf-8"))["cells"] if cell["cell_type"] == "code"]
    assert len(cells) > 10
    for number, cell in enumerate(cells):
        with case(f"cell {number}"):
            printed = executed("".join(cell["source"]), tmp_path, vinculum)
            for output in cell["outputs"]:
                assert (parted := difference("".join(output["text"]), printed)) is None, parted
