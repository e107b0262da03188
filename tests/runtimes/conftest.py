"""Tests of real runtimes share PyTorch, a fix of signal handling after OpenVINO, and a report of deviations."""

from __future__ import annotations

import ctypes
import importlib
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from tests.optional import package_or_skip

DIFFERENCES = "differences"
"""The property of a test that holds answers which differ from known_deviations/."""


def pytest_configure() -> None:
    """Keep OpenVINO from sending telemetry, for which it would fork."""
    sys.modules["openvino_telemetry"] = None  # type: ignore[assignment]  # None: not installed


class _Stack(ctypes.Structure):
    """`stack_t` of Linux: the alternate stack on which Python handles signals, which OpenVINO can leave unmapped.

    Each of its CPU plugins installs a stack of its own, and restores the previous one when it ends. If plugins do not
    end last in, first out, the restored stack belongs to one that has ended; the next signal then kills the process.
    """

    _fields_ = (("start", ctypes.c_void_p), ("flags", ctypes.c_int), ("size", ctypes.c_size_t))


_remembered = _Stack()


def pytest_collection_finish() -> None:
    """Remember the stack for signal handlers before OpenVINO installs others."""
    if sys.platform == "linux":
        ctypes.CDLL(None).sigaltstack(None, ctypes.byref(_remembered))


@pytest.hookimpl(trylast=True)
def pytest_runtest_teardown() -> None:
    """Restore the stack for signal handlers after tests that have run OpenVINO in this process."""
    if "openvino" in sys.modules and sys.platform == "linux":
        ctypes.CDLL(None).sigaltstack(ctypes.byref(_remembered), None)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Print the answers that differ from known_deviations/."""
    reports = [report for reports in terminalreporter.stats.values() for report in reports]
    told = [
        str(text)
        for report in reports
        if isinstance(report, pytest.TestReport) and report.when == "call"
        for name, text in report.user_properties
        if name == DIFFERENCES
    ]
    if told:
        terminalreporter.section("answers that differ from known_deviations/")
        terminalreporter.write_line("\n".join(told))


@pytest.fixture(scope="session")
def torch_or_skip(request: pytest.FixtureRequest) -> ModuleType:
    """Return PyTorch; without it skip the test, or fail it under ``--require-all``."""
    package_or_skip(request, "torch")
    return importlib.import_module("torch")


@pytest.fixture
def saved(tmp_path: Path) -> Callable[..., Path]:
    """Return a function by which OpenVINO writes the model of some outputs and Parameters."""

    def save(outputs: list[Any], parameters: list[Any]) -> Path:
        import openvino
        from openvino import opset13

        path = tmp_path / "model.xml"
        openvino.save_model(openvino.Model([opset13.result(node) for node in outputs], parameters, "m"), path, False)
        return path

    return save
