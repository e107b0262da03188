"""What `make wheel` made is installed into empty environments, as users do, and divides there."""

from __future__ import annotations

import os
import sys
import tarfile
from pathlib import Path
from zipfile import ZipFile

import pytest

from tests.machine.building.disassembly import instructions, not_exact, objdump_or_skip
from tests.machine.building.environment import ROOT, backend_of, finding
from tests.processes import output_of

pytestmark = pytest.mark.installing

LARGEST = 3_000_000  # bytes


def only(pattern: str) -> Path:
    """Return the one file that `make wheel` made with such a name."""
    (file,) = (ROOT / "dist").glob(pattern)
    return file


def empty_environment(folder: Path) -> Path:
    """Return the Python of a new environment in which nothing is installed but pip."""
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
    """With what it is built with in an environment of pip's own, and no program on the path but Python's."""
    python = empty_environment(tmp_path)
    output_of([python, "-m", "pip", "install", "--no-cache-dir", only("*.tar.gz")], env=finding(python.parent))
    assert backend_of(python, finding(), tmp_path) == ("portable", None)
