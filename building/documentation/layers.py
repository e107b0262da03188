"""The picture of the layers, ``docs/assets/layers.svg``, drawn from the imports of ``src/vinculum``.

``python -m building.documentation.layers`` writes it. A test fails when it is out of date, or imports run in a circle.
A line leads from a room to each room that it imports and that it does not reach through another.
"""

from __future__ import annotations

import ast
import tomllib
from collections import Counter
from collections.abc import Iterator, Mapping
from functools import cache
from graphlib import TopologicalSorter
from pathlib import Path

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "src" / "vinculum"
PICTURE = ROOT / "docs" / "assets" / "layers.svg"

SERVICES = ("errors", "text", "files", "sandbox", "interruption", "shown")
"""Rooms that know nothing of division; every other may use them, which is not drawn."""
_NO_ROOMS = ("__init__", "__main__", "version")
_WIDTH, _BOX, _HEIGHT, _GAP, _BETWEEN, _ACROSS = 390, 106, 30, 26, 28, 3
_COLUMNS = {1: (1,), 2: (0, 2), 3: (0, 1, 2)}
_STYLE = """\
text { font: 14px sans-serif; fill: #222; text-anchor: middle }
rect { fill: #eef; stroke: #556 } path { stroke: #889; stroke-width: 1.5; fill: none }
@media (prefers-color-scheme: dark) { text { fill: #ddd } rect { fill: #2a2d3a; stroke: #99a } }"""


@cache
def modules() -> dict[str, ast.Module]:
    """Return the modules of the package by name; of the compiled one, what type checkers know."""
    paths = sorted([*PACKAGE.rglob("*.py"), *PACKAGE.rglob("*.pyi")])
    names = [".".join(path.relative_to(PACKAGE.parent).with_suffix("").parts) for path in paths]
    trees = [ast.parse(path.read_text("utf-8")) for path in paths]
    return {name.removesuffix(".__init__"): tree for name, tree in zip(names, trees, strict=True)}


@cache
def imports() -> dict[str, set[str]]:
    """Return what each room, a file or folder of the package, imports of others when it runs."""
    files = [(name.split(".")[1], tree) for name, tree in modules().items() if name != PACKAGE.name]
    rooms = {room for room, _ in files}.difference(_NO_ROOMS)
    found: dict[str, set[str]] = {room: set() for room in sorted(rooms)}
    for room, tree in files:
        if room in rooms:
            found[room] |= {name.split(".")[1] for name in imported(tree)} & rooms - {room}
    return found


def order(trees: Mapping[str, ast.Module]) -> list[str]:
    """Return modules, each after those that it imports, be it in a function or for type checkers only.

    Raises
    ------
    graphlib.CycleError
        If imports run in a circle.
    """
    graph = {
        module: {name if name in trees else name.rpartition(".")[0] for name in imported(tree, typed=True)}
        & trees.keys()
        for module, tree in trees.items()
    }
    return [*TopologicalSorter(graph).static_order()]


def imported(tree: ast.AST, *, typed: bool = False) -> Iterator[str]:
    """Yield what a tree imports of the package, in full; if `typed`, what only a type checker sees too."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.expr) or (not typed and isinstance(node, ast.If) and _for_types_only(node.test)):
            continue
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and not node.level:
            names = [f"{node.module}.{alias.name}" for alias in node.names]
        else:
            names = []
        yield from (name for name in names if name.startswith("vinculum."))
        yield from imported(node, typed=typed)


def _for_types_only(test: ast.expr) -> bool:
    return (test.attr if isinstance(test, ast.Attribute) else getattr(test, "id", "")) == "TYPE_CHECKING"


def rows(graph: Mapping[str, set[str]]) -> list[list[str]]:
    """Return the rooms by layer, highest first, as ``pyproject.toml`` has them; others are just above what they import.

    Raises
    ------
    graphlib.CycleError
        If imports run in a circle.
    """
    contracts = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["tool"]["importlinter"]["contracts"]
    stated = [layer.replace("vinculum.", "").split(" | ") for layer in contracts[0]["layers"]]
    places = {room: place for place, layer in enumerate(stated) for room in layer}
    for room in TopologicalSorter(graph).static_order():
        places.setdefault(room, min((places[below] for below in graph[room]), default=len(stated)) - 1)
    layers = [[room for room in graph if places[room] == place] for place in range(len(stated))]
    return [layer[start : start + _ACROSS] for layer in layers for start in range(0, len(layer), _ACROSS)]


def drawn(graph: Mapping[str, set[str]]) -> str:
    """Return the picture."""
    return (
        "\n".join(_lines({room: below.difference(SERVICES) for room, below in graph.items() if room not in SERVICES}))
        + "\n"
    )


def _lines(graph: dict[str, set[str]]) -> Iterator[str]:
    layers = rows(graph)
    places = {
        name: (column, row)
        for row, names in enumerate(layers)
        for column, name in zip(_COLUMNS[len(names)], names, strict=True)
    }
    height = 16 + len(layers) * (_HEIGHT + _GAP) + _HEIGHT
    yield f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {height}" width="{_WIDTH}" height="{height}">'
    yield f"<title>What imports what in vinculum</title><style>{_STYLE}</style>"
    lanes: Counter[int] = Counter()
    for room, below in graph.items():
        for other in sorted(below - {far for near in below for far in _reached(graph, near)}):
            yield f'<path d="{_line(places[room], places[other], lanes)}"/>'
    for room, (column, row) in places.items():
        yield f'<rect x="{_middle(column) - _BOX / 2:g}" y="{_top(row)}" width="{_BOX}" height="{_HEIGHT}" rx="5"/>'
        yield f'<text x="{_middle(column):g}" y="{_top(row) + 20}">{room}</text>'
    yield f'<rect x="8" y="{height - _HEIGHT - 8}" width="{_WIDTH - 16}" height="{_HEIGHT}" rx="5"/>'
    words = f"{', '.join(SERVICES)}: for all"
    yield f'<text x="{_WIDTH / 2:g}" y="{height - _HEIGHT + 12}" style="font-size: 12px">{words}</text>'
    yield "</svg>"


def _middle(column: int) -> float:
    return 8 + _BOX / 2 + column * (_BOX + _BETWEEN)


def _top(row: int) -> int:
    return 8 + row * (_HEIGHT + _GAP)


def _line(start: tuple[int, int], end: tuple[int, int], lanes: Counter[int]) -> str:
    """Return the path of a line, between the columns if it passes any row; no two run on one lane."""
    x, y, to_x, to_y = _middle(start[0]), _top(start[1]) + _HEIGHT, _middle(end[0]), _top(end[1])
    if to_y - y <= _GAP:
        return f"M{x:g},{y}C{x:g},{to_y} {to_x:g},{y} {to_x:g},{to_y}"
    between = min(max(start[0], end[0]), _ACROSS - 1) or 1  # the space to the left of this column
    lanes[between] += 1
    lane = _middle(between) - _BOX / 2 - 2 - lanes[between] * _BETWEEN / 8
    side = 4 * lanes[between] + 8
    x, to_x = (x + side if x < lane else x - side), (to_x + side if to_x < lane else to_x - side)
    first, last = y + _GAP, to_y - _GAP
    return (
        f"M{x:g},{y}C{x:g},{first} {lane:g},{y} {lane:g},{first}V{last}C{lane:g},{to_y} {to_x:g},{last} {to_x:g},{to_y}"
    )


def _reached(graph: Mapping[str, set[str]], room: str) -> set[str]:
    """Return everything that a room imports, through others too."""
    return graph[room].union(*(_reached(graph, below) for below in graph[room]))


if __name__ == "__main__":
    PICTURE.write_text(drawn(imports()), encoding="utf-8")
