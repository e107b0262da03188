"""No modules of the package import each other in a circle, not even in functions or for type checkers."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from graphlib import CycleError, TopologicalSorter

import pytest

from tests.architecture.clause_markers import TESTS

SOURCES = TESTS.parent / "src"
MODULES = {
    ".".join(path.relative_to(SOURCES).with_suffix("").parts).removesuffix(".__init__"): path.read_text("utf-8")
    for path in (SOURCES / "vinculum").rglob("*.py")
}


def imported(source: str, modules: Mapping[str, str]) -> Iterator[str]:
    """Yield the modules that a file imports; ``from package import name`` is of the module `name`, if there is one."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names if alias.name in modules)
        elif isinstance(node, ast.ImportFrom) and node.module:
            for alias in node.names:
                whole = f"{node.module}.{alias.name}"
                yield from (name for name in (whole if whole in modules else node.module,) if name in modules)


def order(modules: Mapping[str, str]) -> list[str]:
    """Return modules, each after those that it imports; CycleError if there is a circle."""
    return [*TopologicalSorter({name: {*imported(source, modules)} for name, source in modules.items()}).static_order()]


def test_no_circle() -> None:
    found = order(MODULES)
    assert found.index("vinculum.spec.model") < found.index("vinculum.ops.onnx") < found.index("vinculum.cli.main")


def test_a_circle_is_found() -> None:
    with pytest.raises(CycleError):
        order({"p.a": "def f():\n    from p import b", "p.b": "from p.a import f"})
