"""Whether a runtime's package is installed, and its version, without importing it."""

from __future__ import annotations

import sys
from importlib.metadata import version
from pathlib import Path

import pytest

import vinculum
from tests.conformance.asking import message
from vinculum.conformance.runtimes.backends import MAKER
from vinculum.conformance.runtimes.protocol import asked_elsewhere, check_package, versions_of
from vinculum.errors import AttributeValueError, ModelError


class TestInstalled:
    """One line says what to install."""

    def test_missing(self) -> None:
        line = message(ModelError, lambda: check_package("Runtime X", "runtime_x"))
        assert line == ("Runtime X cannot be used: the package runtime_x is not installed: pip install runtime_x")

    def test_what_installs_it(self) -> None:
        line = message(ModelError, lambda: check_package("X", "runtime_x.core", "x x-cpu"))
        assert line == "X cannot be used: the package runtime_x.core is not installed: pip install x x-cpu"

    def test_there(self) -> None:
        check_package("Hypothesis", "hypothesis")


class TestVersions:
    """By the names of the distributions, which may differ from those of the packages."""

    def test_of_distributions(self) -> None:
        found = versions_of("_pytest", "onnx", "runtime_x")
        assert found == {"pytest": version("pytest"), "onnx": version("onnx"), "runtime_x": "not installed"}

    @pytest.mark.parametrize(
        ("package", "name"), [("markdown_it", "markdown-it-py"), ("_hypothesis_globals", "hypothesis")]
    )
    def test_of_what_only_lists_its_files(self, package: str, name: str) -> None:
        assert versions_of(package) == {name: version(name)}

    def test_of_ourselves(self) -> None:
        """What runs is told, also where it runs from its sources and is not installed."""
        assert versions_of("vinculum", "onnx")["vinculum"] == vinculum.__version__


class TestElsewhere:
    """What is wrong with a runtime's start in another process is told here."""

    RUNTIME = """
import os
class Runtime:
    def __init__(self, options): self.how = options["how"]
    def start(self):
        if self.how == "dies":
            os._exit(7)
        if self.how == "refuses":
            raise ValueError("not\\ntoday")
"""

    @pytest.mark.parametrize(("how", "words"), [("refuses", "not today"), ("dies", "the process ended: exit code 7")])
    def test_start(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, how: str, words: str) -> None:
        (tmp_path / "starting.py").write_text(self.RUNTIME)
        monkeypatch.syspath_prepend(tmp_path)
        assert f"Mine cannot be started: {words}" == message(
            ModelError, lambda: asked_elsewhere("start", "starting:Runtime", {"how": how}, called="Mine")
        )
        assert asked_elsewhere("start", "starting:Runtime", {"how": "starts"}, called="Mine") is None
        assert "starting" not in sys.modules

    def test_made(self) -> None:
        assert "no option" in message(
            AttributeValueError, lambda: asked_elsewhere("start", MAKER, "numpy[a=b]", called="Mine")
        )
