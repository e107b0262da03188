"""The wheel and the source distribution of `make wheel`, installed into empty environments as users do."""

from __future__ import annotations

import json
import os
import shutil
import sys
import tarfile
from pathlib import Path
from typing import Any
from zipfile import ZipFile

import pytest

from tests.machine.building.disassembly import instructions, not_exact, objdump_or_skip
from tests.processes import output_of

pytestmark = pytest.mark.installing

ROOT = Path(__file__).parents[3]
LARGEST = 3_000_000  # bytes
COMPILED_FROM = (".cpp", ".hpp", ".h", ".build")
DIVISION = """
import numpy as np, vinculum
print(vinculum.__file__, vinculum.div(np.int8([-7]), np.int8([2])), vinculum.div(np.float32([-7]), np.float32([2])))
"""


@pytest.fixture(scope="session")
def tracked() -> frozenset[str]:
    """Return the files of the last commit, from which the source distribution is made."""
    if shutil.which("git") is None or not (ROOT / ".git").exists():
        pytest.skip("this is no clone; a source distribution is made of a commit")
    return frozenset(output_of(["git", "ls-tree", "-r", "--name-only", "HEAD"], cwd=ROOT).splitlines())


@pytest.fixture(scope="session")
def package_files(tracked: frozenset[str]) -> frozenset[str]:
    """Return the files of the package that are installed as they are, not compiled."""
    package = {name.removeprefix("src/") for name in tracked if name.startswith("src/vinculum/")}
    return frozenset(name for name in package if not name.endswith(COMPILED_FROM))


def finding(*folders: str | Path) -> dict[str, str]:
    """Return an environment with these folders on the path and without CC and CXX."""
    inherited = {name: value for name, value in os.environ.items() if name not in {"CC", "CXX", "PYTHONPATH"}}
    return inherited | {"PATH": os.pathsep.join(map(str, folders))}


def backend_of(python: str | Path, environment: dict[str, str], folder: Path) -> tuple[str, str | None]:
    """Return the backend and the target of an installation, which must lie in a folder."""
    file, *quotients = output_of([python, "-c", DIVISION], cwd=folder, env=environment).split()
    assert Path(file).is_relative_to(folder)
    assert quotients == ["[-3]", "[-3.5]"]
    told: dict[str, Any] = json.loads(
        output_of([python, "-m", "vinculum", "info", "--json"], cwd=folder, env=environment)
    )
    return told["backend"], told["target"]


def only(pattern: str) -> Path:
    """Return the one file of `make wheel` that matches a pattern."""
    (file,) = (ROOT / "dist").glob(pattern)
    return file


def empty_environment(folder: Path) -> Path:
    """Return the Python of a new environment that has nothing but pip."""
    output_of([sys.executable, "-m", "venv", folder])
    return folder / ("Scripts" if os.name == "nt" else "bin") / "python"


def test_no_file_of_the_source_distribution_is_forgotten(tracked: frozenset[str]) -> None:
    with tarfile.open(only("*.tar.gz")) as archive:
        held = {member.name.partition("/")[2] for member in archive if not member.isdir()}
    assert held - {"PKG-INFO"} == tracked


def test_the_wheel_holds_the_package_the_core_and_the_library(package_files: frozenset[str]) -> None:
    wheel = only("*.whl")
    assert wheel.stat().st_size < LARGEST
    held = {name for name in ZipFile(wheel).namelist() if name.startswith("vinculum/")}
    core, library = sorted(held - package_files)
    assert core.startswith("vinculum/kernels/_core.")
    assert library.startswith("vinculum/onnxruntime/operators.")
    assert package_files <= held


def test_the_wheels_core_rounds_as_ieee_754_says(request: pytest.FixtureRequest, tmp_path: Path) -> None:
    objdump_or_skip(request)
    with ZipFile(only("*.whl")) as wheel:
        (core,) = (
            name for name in wheel.namelist() if name.startswith("vinculum/kernels/_core.") and "pyi" not in name
        )
        found = instructions(Path(wheel.extract(core, tmp_path)))
    assert found
    assert not_exact(found) == {}


def test_the_wheel_divides_by_the_core(tmp_path: Path) -> None:
    python = empty_environment(tmp_path)
    output_of([python, "-m", "pip", "install", only("*.whl")])
    backend, target = backend_of(python, finding(), tmp_path)
    assert backend == "core"
    assert target is not None
    example = ROOT / "examples" / "layer_norm"
    run = ("-m", "vinculum", "run", str(example / "model.onnx"), "--input", f"x={example / 'x.npy'}")
    assert "each right to the last bit" in " ".join(output_of([python, *run], cwd=tmp_path).split())


def test_the_source_distribution_divides_without_a_compiler(tmp_path: Path) -> None:
    """Pip builds it in an isolated environment, with no program on the path but Python's."""
    python = empty_environment(tmp_path)
    output_of([python, "-m", "pip", "install", "--no-cache-dir", only("*.tar.gz")], env=finding(python.parent))
    assert backend_of(python, finding(), tmp_path) == ("portable", None)
