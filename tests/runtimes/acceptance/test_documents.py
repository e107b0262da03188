"""The steps of README.md, docs/ and the help that need a runtime, and the cells of the notebook, do what they say."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path

import pytest

from building.documentation.notebook import NOTEBOOK, PAGE
from tests.acceptance.conftest import Vinculum
from tests.acceptance.documents import ROOT, difference
from tests.acceptance.page_runs import EXTRAS, done, each_page, needs_a_runtime, read, run_page
from tests.cases import case
from tests.cli.conftest import here
from tests.cli.test_help import in_a_clone, run_all
from tests.fake_runtime import FOREIGN
from tests.optional import package_or_skip

__all__ = ["here", "in_a_clone"]

PINNED = dict(requirement.partition(";")[0].split("==") for requirement in EXTRAS["runtimes"])
COMMANDS = re.findall(r"^  `(vinculum [^`]+)`$", (ROOT / "README.md").read_text("utf-8"), re.MULTILINE)


def check_versions(page: Path, request: pytest.FixtureRequest) -> None:
    """Skip a page that needs a runtime which is not installed, or shows another version of it."""
    for name in {name for step in read(page) for name in step.needs} & set(FOREIGN):
        package_or_skip(request, name)
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
    """Each of the four problems has a command, which finds or solves it."""

    def test_four(self) -> None:
        assert [command.split()[1] for command in COMMANDS] == ["check", "audit", "harden", "conform"]

    def test_each_as_pasted(self, tmp_path: Path, vinculum: Vinculum) -> None:
        for name in ("examples", "known_deviations"):
            (tmp_path / name).symlink_to(ROOT / name)
        assert [done(command, tmp_path, vinculum)[0] for command in COMMANDS] == [1, 1, 0, 1]


def executed(source: str, folder: Path, vinculum: Vinculum) -> str:
    """Execute a cell of one of the notebook's kinds, and return its output."""
    if source.startswith("%%writefile "):
        first, _, body = source.partition("\n")
        (folder / first.split()[1]).write_text(body, encoding="utf-8")
        return ""
    if source.startswith("%pip install"):
        return ""  # the package under test is installed
    commands = source.splitlines()
    assert all(command.startswith("!") for command in commands), source
    return "".join(done(command[1:], folder, vinculum)[1] for command in commands)


def test_every_cell(tmp_path: Path, vinculum: Vinculum, request: pytest.FixtureRequest) -> None:
    """Executed cell by cell as by Jupyter, the notebook of the tutorial prints the outputs that it stores."""
    check_versions(PAGE, request)
    cells = [cell for cell in json.loads(NOTEBOOK.read_text(encoding="utf-8"))["cells"] if cell["cell_type"] == "code"]
    assert len(cells) > 10
    for number, cell in enumerate(cells):
        with case(f"cell {number}"):
            printed = executed("".join(cell["source"]), tmp_path, vinculum)
            for output in cell["outputs"]:
                assert (parted := difference("".join(output["text"]), printed)) is None, parted


@pytest.mark.usefixtures("in_a_clone")
def test_examples_of_the_help(here: Callable[..., int], capsys: pytest.CaptureFixture[str]) -> None:
    """Those that read or write OpenVINO's files."""
    run_all(here, capsys, lambda example: ".xml" in example)
