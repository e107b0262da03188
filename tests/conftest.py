"""What every test shares: markers, options, hypothesis without deadlines, PyTorch and Chromium where they are."""

from __future__ import annotations

import gc
import importlib
import importlib.util
import os
import shutil
import sys
from collections.abc import Iterator
from types import ModuleType

import pytest
from hypothesis import settings

from tests import signal_stack
from tests.optional import skip_or_fail
from tests.warm_processes import Server, fork_from

_DRAWN = 50  # Examples of each property, new ones in every run; `make exhaustive` draws twenty times as many.


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the options that forbid to skip what is not installed, and the one that shortens enumerations."""
    parser.addoption(
        "--require-torch",
        action="store_true",
        help="fail the tests that need PyTorch where it is not installed, instead of skipping them",
    )
    parser.addoption(
        "--require-chromium",
        action="store_true",
        help="fail the tests that open a page in Chromium where it is not installed, instead of skipping them",
    )
    parser.addoption(
        "--require-provers",
        action="store_true",
        help="fail the tests that need Why3 and its provers where they are not installed, instead of skipping them",
    )
    parser.addoption(
        "--require-mkdocs",
        action="store_true",
        help="fail the tests that build the documentation site where MkDocs is not installed, instead of skipping them",
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
    """Declare the markers, load the hypothesis profile, and do without a compiled core where there is none."""
    # Hundreds of processes that tests start import NumPy, and none multiplies matrices: OpenBLAS need start no threads
    # there, whose waiting takes as much processor time as the import.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    # Importing OpenVINO, or converting a model with it, sends telemetry, and forks the process each time.
    sys.modules["openvino_telemetry"] = None  # type: ignore[assignment]
    if importlib.util.find_spec("vinculum.kernels._core") is None:
        os.environ.setdefault("VINCULUM_BACKEND", "portable")  # without the warning, which would be an error here
    config.addinivalue_line("markers", "clause(tag): the clause of the specification, by its tag, that is tested")
    config.addinivalue_line("markers", "exhaustive: takes minutes and runs only with `-m exhaustive`")
    config.addinivalue_line("markers", "installing: takes what `make wheel` made, and runs only with `-m installing`")
    # Hypothesis keeps what failed in the checkout, and warns if it cannot write there.
    database = settings().database if os.access(config.rootpath, os.W_OK) else None
    settings.register_profile("vinculum", deadline=None, database=database, max_examples=_DRAWN)
    settings.register_profile("thorough", deadline=None, database=database, max_examples=20 * _DRAWN)
    settings.load_profile(config.getoption("--hypothesis-profile") or "vinculum")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out what takes long, or what another command makes first, unless a marker expression decides."""
    if config.option.markexpr:
        return
    left_out = {item for item in items if any(map(item.get_closest_marker, ("exhaustive", "installing")))}
    items[:] = [item for item in items if item not in left_out]
    config.hook.pytest_deselected(items=list(left_out))


def pytest_collection_finish() -> None:
    """Spare the garbage collector what has been collected and imported: all of it stays to the end."""
    gc.freeze()
    signal_stack.remember()


@pytest.hookimpl(trylast=True)
def pytest_runtest_teardown() -> None:
    """Let signals be handled after tests that have run OpenVINO in this process."""
    if "openvino" in sys.modules:
        signal_stack.restore()


@pytest.fixture(scope="session")
def torch_or_skip(request: pytest.FixtureRequest) -> ModuleType:
    """Return PyTorch; without it skip the test, or fail it under ``--require-torch``."""
    if importlib.util.find_spec("torch") is None:
        skip_or_fail(request, "--require-torch", "PyTorch: pip install 'vinculum-div[torch]'")
    return importlib.import_module("torch")


@pytest.fixture(scope="session")
def chromium_or_skip(request: pytest.FixtureRequest) -> str:
    """Return the path of Chromium; without it skip the test, or fail it under ``--require-chromium``."""
    names = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
    found = next(filter(None, map(shutil.which, names)), None)
    if found is None or importlib.util.find_spec("playwright") is None:
        skip_or_fail(request, "--require-chromium", "a browser: apt install chromium, pip install playwright")
    return found


@pytest.fixture(scope="session", autouse=True)
def warm_processes() -> Iterator[Server]:
    """Have the sandbox's processes forked from one that has imported what they import; return that."""
    with Server() as server:
        fork_from(server.address)
        yield server
