"""ARCHITECTURE.md: its picture shows the imports, no modules import each other, and the places that it names exist."""

from __future__ import annotations

import ast
import re
from graphlib import CycleError

import pytest

from building.documentation.layers import PACKAGE, PICTURE, ROOT, drawn, imports, modules, order

HIDDEN = "if TYPE_CHECKING:\n    from vinculum.b import g"


def test_the_picture_is_up_to_date() -> None:
    assert PICTURE.read_text("utf-8") == drawn(imports()), "python -m building.documentation.layers"


def test_no_modules_import_each_other() -> None:
    found = order(modules())
    assert found.index("vinculum.spec.model") < found.index("vinculum.ops.onnx") < found.index("vinculum.cli.main")


@pytest.mark.parametrize("source", ["from vinculum import b", "def f():\n    import vinculum.b", HIDDEN])
def test_a_circle_is_found(source: str) -> None:
    with pytest.raises(CycleError):
        order({"vinculum.a": ast.parse(source), "vinculum.b": ast.parse("from vinculum.a import f")})


def test_every_place_is_there() -> None:
    text = (ROOT / "ARCHITECTURE.md").read_text("utf-8")
    named = set(re.findall(r"`([a-z][\w./]*(?:/|\.\w+))`", text))
    assert len(named) > 30
    folders = (ROOT, PACKAGE, *(PACKAGE / room for room in ("models", "analysis", "conformance", "kernels/core")))
    assert [name for name in named if not any((folder / name).exists() for folder in folders)] == []
