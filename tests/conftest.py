"""Markers, options, Hypothesis without deadlines, and hidden runtimes, for all tests.

The tests of real runtimes and of the machine run only if their folders are named: ``pytest tests/runtimes``.
"""

from __future__ import annotations

import gc
import importlib.util
import os
from pathlib import Path

import pytest
from hypothesis import settings

from tests import fake_runtime
from tests.warm_processes import fork_processes

_TESTS = Path(__file__).parent
_APART = tuple(_TESTS / name for name in ("runtimes", "machine"))
_DRAWN = 50  # Examples of each property, different in each run; `make exhaustive` draws twenty times as many.


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the options of our tests."""
    parser.addoption(
        "--require-all",
        action="store_true",
        help="fail tests that need a program or package which is not installed, instead of skipping them",
    )
    parser.addoption(
        "--one-in",
        type=int,
        default=1,
        metavar="N",
        help="of each exhaustive enumeration take only every Nth part, in random order",
    )
    parser.addoption(
        "--backend",
        action="append",
        default=[],
        metavar="NAME",
        help="enumerate on this backend of vinculum.kernels alone; may be repeated",
    )
    parser.addoption(
        "--record",
        action="store_true",
        help="write into tests/exhaustive/recorded.txt which enumerations passed, unless one fails",
    )


def pytest_configure(config: pytest.Config) -> None:
    """Declare the markers, load the Hypothesis profile, and use the portable backend where there is no core."""
    # Tests start hundreds of processes that import NumPy and multiply no matrices. OpenBLAS' threads, which wait
    # actively, would take as much processor time as the import.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    if not _is_named(_TESTS / "runtimes", config):
        os.environ[fake_runtime.VARIABLE] = ""
    fake_runtime.hide_runtimes()
    if importlib.util.find_spec("vinculum.kernels._core") is None:
        os.environ.setdefault("VINCULUM_BACKEND", "portable")  # without the warning, which would be an error here
    config.addinivalue_line("markers", "clause(tag): the clause of the specification, by its tag, that is tested")
    config.addinivalue_line("markers", "exhaustive: takes minutes and runs only with `-m exhaustive`")
    config.addinivalue_line("markers", "installing: takes what `make wheel` made, and runs only with `-m installing`")
    # Hypothesis stores failing examples in the checkout, and warns if it cannot write there.
    database = settings().database if os.access(config.rootpath, os.W_OK) else None
    settings.register_profile("vinculum", deadline=None, database=database, max_examples=_DRAWN)
    settings.register_profile("thorough", deadline=None, database=database, max_examples=20 * _DRAWN)
    settings.load_profile(config.getoption("--hypothesis-profile") or "vinculum")


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Leave out the folders that must be named."""
    return True if collection_path in _APART and not _is_named(collection_path, config) else None


def _is_named(folder: Path, config: pytest.Config) -> bool:
    """Return whether an argument of the command line lies in a folder."""
    named = (config.invocation_params.dir / argument.partition("::")[0] for argument in config.args)
    return any(path.resolve().is_relative_to(folder) for path in named)


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out slow tests and those of `make wheel`, unless there is a marker expression."""
    if config.option.markexpr:
        return
    left_out = {item for item in items if any(map(item.get_closest_marker, ("exhaustive", "installing")))}
    items[:] = [item for item in items if item not in left_out]
    config.hook.pytest_deselected(items=list(left_out))


def pytest_collection_finish() -> None:
    """Exempt all that has been imported from garbage collection, since it stays to the end."""
    gc.freeze()


@pytest.fixture(scope="session", autouse=True)
def warm_processes() -> None:
    """Fork the sandbox's processes from a server that has imported their modules."""
    fork_processes()
