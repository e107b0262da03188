"""What tests of real runtimes share: PyTorch where it is, signals that can be handled after OpenVINO, and a report."""

from __future__ import annotations

import importlib
import importlib.util
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from tests.optional import skip_or_fail
from tests.runtimes import signal_stack

DIFFERENCES = "differences"
"""The property of a test that tells what runtimes answer otherwise than known_deviations/ says."""
_REPORT = Path(__file__).parents[2] / "build" / "runtimes" / Path(sys.prefix).name / "report.txt"


def pytest_configure() -> None:
    """Keep OpenVINO from sending telemetry, for which it would fork each time."""
    sys.modules["openvino_telemetry"] = None  # type: ignore[assignment]  # None: not installed


def pytest_collection_finish() -> None:
    """Remember the stack on which signals are handled, before OpenVINO sets others."""
    signal_stack.remember()


@pytest.hookimpl(trylast=True)
def pytest_runtest_teardown() -> None:
    """Let signals be handled after tests that have run OpenVINO in this process."""
    if "openvino" in sys.modules:
        signal_stack.restore()


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Tell what differs from known_deviations/, and write it to build/runtimes/, in each environment's folder."""
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
        _REPORT.parent.mkdir(parents=True, exist_ok=True)
        _REPORT.write_text("\n".join([*told, ""]), encoding="utf-8")


@pytest.fixture(scope="session")
def torch_or_skip(request: pytest.FixtureRequest) -> ModuleType:
    """Return PyTorch; without it skip the test, or fail it under ``--require-all``."""
    if importlib.util.find_spec("torch") is None:
        skip_or_fail(request, "PyTorch: pip install torch")
    return importlib.import_module("torch")


@pytest.fixture
def saved(tmp_path: Path) -> Callable[..., Path]:
    """Return a function that writes the model of outputs and Parameters as OpenVINO does."""

    def save(outputs: list[Any], parameters: list[Any]) -> Path:
        import openvino
        from openvino import opset13

        path = tmp_path / "model.xml"
        openvino.save_model(openvino.Model([opset13.result(node) for node in outputs], parameters, "m"), path, False)
        return path

    return save
