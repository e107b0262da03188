"""What tests of real runtimes share: PyTorch where it is, and signals that OpenVINO would not leave to us."""

from __future__ import annotations

import importlib
"""What the tests of real runtimes share: PyTorch where it is, and signals that can be handled after OpenVINO."""

from __future__ import annotations

import importlib.util
import sys
from types import ModuleType

import pytest

from tests import signal_stack
from tests.optional import skip_or_fail


def pytest_configure() -> None:
    """Let OpenVINO send nothing to its maker, for which it would fork the process."""
    sys.modules["openvino_telemetry"] = None  # type: ignore[assignment]  # None: not installed


def pytest_collection_finish() -> None:
    """Remember the stack of signals."""
from tests.optional import skip_or_fail
from tests.runtimes import signal_stack


def pytest_configure() -> None:
    """Keep OpenVINO from sending telemetry, for which it would fork each time."""
    sys.modules["openvino_telemetry"] = None  # type: ignore[assignment]


def pytest_collection_finish() -> None:
    """Remember the stack on which signals are handled, before OpenVINO sets others."""
    signal_stack.remember()


@pytest.hookimpl(trylast=True)
def pytest_runtest_teardown() -> None:
    """Let signals be handled after tests that have run OpenVINO in this process."""
    if "openvino" in sys.modules:
        signal_stack.restore()


@pytest.fixture(scope="session")
def torch_or_skip(request: pytest.FixtureRequest) -> ModuleType:
    """Return PyTorch; without it skip the test, or fail it under ``--require-all``."""
    if importlib.util.find_spec("torch") is None:
        skip_or_fail(request, "PyTorch: pip install 'vinculum-div[torch]'")
    return importlib.import_module("torch")
