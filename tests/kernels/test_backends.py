"""Which backend divides: the quickest, one that the environment names, or NumPy alone where nothing is compiled."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

import vinculum
from tests import processes
from vinculum.kernels import VARIABLE, backends

DIVIDE = """
import warnings
with warnings.catch_warnings(record=True) as told:
    warnings.simplefilter("always")
    import numpy, vinculum
    from vinculum.kernels import backend
    quotients = vinculum.div(numpy.int8([-7, 7]), numpy.int8([2, 2])).tolist()
print(backend().name, quotients, *(warning.message for warning in told))
"""
Divided = Callable[..., str]


@pytest.fixture
def divided(monkeypatch: pytest.MonkeyPatch) -> Divided:
    """Return what tells of a division in a process for which a backend is named, from sources that it may import."""

    def run(backend: str = "", sources: Path | None = None) -> str:
        monkeypatch.setenv(VARIABLE, backend)
        if sources is not None:
            monkeypatch.setenv("PYTHONPATH", str(sources))
        return processes.output_of(processes.python(DIVIDE)).strip()

    return run


@pytest.fixture
def not_compiled(tmp_path: Path) -> Path:
    """Return where a copy of the package stands whose core was not compiled."""
    package = Path(vinculum.__file__).parent
    shutil.copytree(package, tmp_path / "vinculum", ignore=shutil.ignore_patterns("_core.*", "__pycache__", "core"))
    return tmp_path


def test_the_quickest(divided: Divided) -> None:
    assert divided() == f"{backends()[0].name} [-3, 3]"


@pytest.mark.parametrize("name", [backend.name for backend in backends()])
def test_one_that_is_named(divided: Divided, name: str) -> None:
    assert divided(name) == f"{name} [-3, 3]"


def test_one_that_there_is_not(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(VARIABLE, "abacus")
    done = processes.run([*processes.python("from vinculum.cli.main import main; raise SystemExit(main())"), "info"])
    names = ", ".join(backend.name for backend in backends())
    assert done.returncode == 2
    assert " ".join(done.stderr.split()) == f"vinculum: error: {VARIABLE} is 'abacus'; allowed on this machine: {names}"


def test_without_a_compiled_core(divided: Divided, not_compiled: Path) -> None:
    """NumPy divides, and a warning says so once."""
    told = divided(sources=not_compiled)
    assert told.startswith("portable [-3, 3] Vinculum's compiled core is missing")
    assert told.count("core is missing") == 1


def test_without_a_compiled_core_as_wanted(divided: Divided, not_compiled: Path) -> None:
    assert divided("portable", not_compiled) == "portable [-3, 3]"
