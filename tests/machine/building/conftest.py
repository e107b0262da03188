"""The files of the last commit, which distributions are made of."""

from __future__ import annotations

import shutil

import pytest

from tests.machine.building.environment import ROOT
from tests.processes import output_of

COMPILED_FROM = (".cpp", ".hpp", ".h", ".build")


@pytest.fixture(scope="session")
def tracked() -> frozenset[str]:
    """Return the files of the last commit, of which a source distribution is made."""
    if shutil.which("git") is None or not (ROOT / ".git").exists():
        pytest.skip("this is no clone; a source distribution is made of a commit")
    return frozenset(output_of(["git", "ls-tree", "-r", "--name-only", "HEAD"], cwd=ROOT).splitlines())


@pytest.fixture(scope="session")
def package_files(tracked: frozenset[str]) -> frozenset[str]:
    """Return those that are installed: everything of the package that is not compiled."""
    package = {name.removeprefix("src/") for name in tracked if name.startswith("src/vinculum/")}
    return frozenset(name for name in package if not name.endswith(COMPILED_FROM))
