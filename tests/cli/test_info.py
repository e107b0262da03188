"""`vinculum info`: the backend in use, and the installed runtimes."""

from __future__ import annotations

import inspect
import json
import tomllib
from collections.abc import Callable
from importlib.metadata import PackageNotFoundError
from importlib.util import find_spec
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

import vinculum
from tests.processes import importing, output_of, python
from vinculum import kernels
from vinculum.conformance.run import installation as module
from vinculum.conformance.run.installation import RUNTIMES
from vinculum.conformance.runtimes import protocol

Here = Callable[..., int]
Streams = pytest.CaptureFixture[str]


def told(here: Here, capsys: Streams) -> dict[str, object]:
    assert here("info", "--json") == 0
    found: dict[str, object] = json.loads(capsys.readouterr().out)
    return found


class TestJson:
    """Every fact has a name and is right."""

    def test_the_facts(self, here: Here, capsys: Streams) -> None:
        with vinculum.threads(1):
            found = told(here, capsys)
        assert found["threads"] == 1
        dividing = kernels.backend().name
        assert found["version"] == vinculum.__version__
        assert (found["backend"], found["target"]) == (
            ("portable", None) if dividing == "portable" else ("core", dividing)
        )
        assert found["numpy"] == np.__version__

    def test_runtimes(self, here: Here, capsys: Streams) -> None:
        found = told(here, capsys)["runtimes"]
        assert isinstance(found, dict)
        assert {name: version is not None for name, version in found.items()} == {
            name: find_spec(name) is not None for name in RUNTIMES
        }

    def test_a_runtime_of_another_distribution(
        self, here: Here, capsys: Streams, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        def none_of_that_name(name: str) -> str:
            if name == "onnx":
                return "1"
            raise PackageNotFoundError(name)

        monkeypatch.setattr(module, "find_spec", lambda name: SimpleNamespace() if name == "torch" else None)
        monkeypatch.setattr(module, "version", none_of_that_name)
        monkeypatch.setattr(protocol, "_providers", lambda: {"torch": ["numpy"]})
        # Other tests have asked for PyTorch's real version, which is cached.
        monkeypatch.setattr(protocol, "versions_of", inspect.unwrap(protocol.versions_of))
        assert told(here, capsys)["runtimes"] == dict.fromkeys(RUNTIMES) | {"torch": f"{np.__version__} (numpy)"}


def test_the_page(here: Here, capsys: Streams, monkeypatch: pytest.MonkeyPatch) -> None:
    """The page has the same facts, and how to install what is missing."""
    monkeypatch.setattr(module, "find_spec", lambda name: None)
    for backend, words in (
        ("x86-64-v4", "compiled core, x86-64-v4"),
        ("portable", "portable, NumPy alone: slower than"),
    ):
        monkeypatch.setattr(module, "backend", lambda backend=backend: SimpleNamespace(name=backend))
        with vinculum.threads(1):
            assert here("info") == 0
        told = " ".join(capsys.readouterr().out.split())
        assert told.startswith(f"vinculum {vinculum.__version__} Here Backend {words}")
        assert " Threads 1 of " in told
        assert "openvino not installed: pip install openvino" in told


class TestPromises:
    """It is fast, and everything that it says to install can be installed."""

    def test_nothing_heavy_is_imported(self) -> None:
        program = (
            "import sys; from vinculum.cli.main import main; sys.argv = ['vinculum', 'info', '--json']; main();"
            f"print({{'onnx', 'psutil', 'asyncio', *{RUNTIMES!r}}} & set(sys.modules), file=sys.stderr)"
        )
        shown = output_of(python(f"import sys; sys.stderr = sys.stdout; {program}"), env=importing())
        assert shown.splitlines()[-1] == "set()"

    def test_each_runtime_is_an_extra(self) -> None:
        project = tomllib.loads((Path(__file__).parents[2] / "pyproject.toml").read_text("utf-8"))["project"]
        assert set(RUNTIMES) <= set(project["optional-dependencies"])
