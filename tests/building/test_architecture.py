"""ARCHITECTURE.md: its picture shows the imports, which run in no circle, and the places that it names are there."""

from __future__ import annotations

import re
from graphlib import CycleError

import pytest

from building.documentation.layers import PACKAGE, PICTURE, ROOT, drawn, imports, rows


def test_the_picture_is_up_to_date() -> None:
    assert PICTURE.read_text("utf-8") == drawn(imports()), "python -m building.documentation.layers"


def test_what_the_picture_shows() -> None:
    graph = imports()
    assert graph["spec"] == {"errors"}
    assert "kernels" not in graph["reference"]
    assert "reference" not in graph["kernels"]
    assert all(f">{room}<" in drawn(graph) for room in ("cli", "models", "kernels", "reference", "spec"))


def test_a_circle_is_refused() -> None:
    with pytest.raises(CycleError):
        rows({"ops": {"models"}, "models": {"ops"}})


def test_every_place_is_there() -> None:
    text = (ROOT / "ARCHITECTURE.md").read_text("utf-8")
    named = set(re.findall(r"`([a-z][\w./]*(?:/|\.\w+))`", text))
    assert len(named) > 30
    folders = (ROOT, PACKAGE, *(PACKAGE / room for room in ("models", "analysis", "conformance", "kernels/core")))
    assert [name for name in named if not any((folder / name).exists() for folder in folders)] == []
