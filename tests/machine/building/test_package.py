"""The source distribution holds every file of the package, and installs and divides without a compiler."""

from __future__ import annotations

import os
import sys
import tarfile
from pathlib import Path
from subprocess import STDOUT

import pytest

from tests.machine.building.environment import PROGRAMS, ROOT, backend_of, finding, has_compiler
from tests.processes import output_of

BUILD = (sys.executable, "-m", "build", "--sdist", "--no-isolation", "--config-setting=setup-args=-Dcore=disabled")
# Without its cache, in which pip keeps wheels, and which would hide a step that fails now. Nothing imports most of what
# is installed, which is not compiled to byte code.
OPTIONS = ("--verbose", "--no-cache-dir", "--no-build-isolation", "--no-deps", "--no-compile")
INSTALL = (sys.executable, "-m", "pip", "install", *OPTIONS)


@pytest.fixture(scope="module")
def sdist(tracked: frozenset[str], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the source distribution."""
    folder = tmp_path_factory.mktemp("sdist")
    output_of([*BUILD, "--outdir", folder, ROOT], env=finding(PROGRAMS, *os.get_exec_path()))
    (archive,) = folder.iterdir()
    return archive


@pytest.fixture(scope="module")
def installed(sdist: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder into which it is installed on a machine without a compiler, less what it depends on."""
    if has_compiler(PROGRAMS):
        pytest.skip("a compiler cannot be hidden that stands beside this Python")
    folder = tmp_path_factory.mktemp("installed")
    shown = output_of([*INSTALL, "--target", folder, sdist], env=finding(PROGRAMS), stderr=STDOUT)
    assert shown.count("The compiled core is left out") == 1
    return folder


def test_no_file_of_the_source_distribution_is_forgotten(sdist: Path, tracked: frozenset[str]) -> None:
    with tarfile.open(sdist) as archive:
        held = {member.name.partition("/")[2] for member in archive if not member.isdir()}
    assert held - {"PKG-INFO"} == tracked


def test_no_file_of_the_package_is_forgotten(installed: Path, package_files: frozenset[str]) -> None:
    package = installed / "vinculum"
    found = {path.relative_to(installed).as_posix() for path in package.rglob("*") if path.is_file()}
    assert {name for name in found if "__pycache__" not in name} == package_files


def test_it_divides_without_a_compiler(installed: Path) -> None:
    environment = finding() | {"PYTHONPATH": str(installed)}
    assert backend_of(sys.executable, environment, installed) == ("portable", None)
