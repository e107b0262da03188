"""The steps of README.md and docs/ that need a runtime do what their page says, and so do the notebook's cells."""

from __future__ import annotations

import json
import re
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path

import pytest

from building.documentation.notebook import NOTEBOOK, PAGE
from tests.acceptance.conftest import Vinculum
from tests.acceptance.documents import ROOT, difference
from tests.acceptance.page_runs import EXTRAS, done, each_page, needs_a_runtime, read, run_page
from tests.cases import case
from tests.fake_runtime import FOREIGN
from tests.optional import skip_or_fail

PINNED = dict(requirement.partition(";")[0].split("==") for requirement in EXTRAS["runtimes"])
COMMANDS = re.findall(r"^  `(vinculum [^`]+)`$", (ROOT / "README.md").read_text("utf-8"), re.MULTILINE)


def check_versions(page: Path, request: pytest.FixtureRequest) -> None:
    """Skip a page whose steps need what is not installed, or was written with another version."""
    for name in {name for step in read(page) for name in step.needs} & set(FOREIGN):
        if find_spec(name) is None:
            skip_or_fail(request, name)
        if version(name).partition("+")[0] != PINNED[name]:
            pytest.skip(f"the pages show what {name} {PINNED[name]} does")


@each_page(needs_a_runtime)
def test_quick_steps(page: Path, tmp_path: Path, vinculum: Vinculum, request: pytest.FixtureRequest) -> None:
    check_versions(page, request)
    run_page(page, tmp_path, vinculum, FOREIGN)


@pytest.mark.exhaustive
@each_page(lambda step: step.slow is not None and needs_a_runtime(step))
def test_all_steps(page: Path, tmp_path: Path, vinculum: Vinculum, request: pytest.FixtureRequest) -> None:
    check_versions(page, request)
    run_page(page, tmp_path, vinculum, FOREIGN, slow=True)


class TestReadme:
    """Issue 20, point 4: four problems, each with one command, which finds or does what is said of it."""

    def test_four(self) -> None:
        assert [command.split()[1] for command in COMMANDS] == ["check", "audit", "harden", "conform"]

    def test_each_as_pasted(self, tmp_path: Path, vinculum: Vinculum) -> None:
        for name in ("examples", "known_deviations"):
            (tmp_path / name).symlink_to(ROOT / name)
        assert [done(command, tmp_path, vinculum)[0] for command in COMMANDS] == [1, 1, 0, 1]


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
    """The tutorial's notebook, executed cell by cell as Jupyter does, prints what stands below its cells."""
    check_versions(PAGE, request)
    cells = [cell for cell in json.loads(NOTEBOOK.read_text(encoding="utf-8"))["cells"] if cell["cell_type"] == "code"]
    assert len(cells) > 10
    for number, cell in enumerate(cells):
        with case(f"cell {number}"):
            printed = executed("".join(cell["source"]), tmp_path, vinculum)
            for output in cell["outputs"]:
                assert (parted := difference("".join(output["text"]), printed)) is None, parted
