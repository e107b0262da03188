"""One labelled model: its hazards, and the run or the reason that proves the label.

The models of `handmade.txt`, `guards.txt` and `grist.txt` are paragraphs:

- ``# NAME: RULES``: the entry's name, and the hazards that it has;
- indented lines: its nodes, as `onnx.parser` reads them;
- ``KEY: VALUE``: another field of `Entry`, or what the module that reads the file explains.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any


@dataclass(frozen=True, eq=False)
class Entry:
    """A model and its label."""

    name: str  # Of the entry.
    model: str  # The model, as `onnx.parser` reads it, or the name of a file beside this one.
    rules: tuple[str, ...] = ()  # The hazards that it has; none: it is a control.
    # Where such models come from: ``"by hand"``, ``"torch"``, ``"torchscript, opset 11"``, ``"transformers, torch"``.
    source: str = "by hand"
    assume: tuple[str, ...] = ()  # What it is checked with.
    as_type: str | None = None
    profile: tuple[str, ...] = ()
    witness: Mapping[str, Any] = field(default_factory=dict)  # Inputs on which a run shows the first of the hazards.
    inner: tuple[str, ...] = ()  # Values inside; each made zeros shows the first of the hazards.
    reason: str = ""  # Why the label is right where no run shows it.
    wrongly: tuple[str, ...] = ()  # Hazards that are found though they are not there: known false alarms.


_CONSTANTS = {
    "eps": "float eps = {1e-6}",
    "one": "float one = {1}",
    "zero": "float zero = {0}",
    "low": "float low = {-inf}",
    "onoff": "float[2] onoff = {0, 1}",
    "unit": "int64 unit = {1}",
    "two": "int64 two = {2}",
    "nil": "int64 nil = {0}",
    "depth": "int64 depth = {3}",
    "axis": "int64[1] axis = {-1}",
    "rows": "int64[1] rows = {1}",
}
"""Constants that a model gets if its nodes use them."""


def written(
    name: str,
    inputs: str,
    outputs: str,
    nodes: str,
    rules: str = "",
    constants: str = "",
    opset: int = 18,
    **more: Any,
) -> Entry:
    """Return an entry of a model that is written by hand; lists are words with spaces between."""
    used = [word for word in _CONSTANTS if re.search(rf"[(,] ?{word}[,)]", nodes) and f" {word} =" not in constants]
    held = ", ".join(filter(None, (constants, *(_CONSTANTS[word] for word in used))))
    head = f'<ir_version: 8, opset_import: ["" : {opset}]>'
    model = f"{head} g ({inputs}) => ({outputs}) <{held}> {{ {nodes} }}"
    more |= {key: tuple(more.get(key, "").split()) for key in ("assume", "wrongly", "profile")}
    return Entry(name, model, tuple(rules.split()), **more)


def paragraphs(file: str) -> Iterator[tuple[str, str, str, dict[str, Any]]]:
    """Yield the name, the nodes, the rules and the other fields of every entry of a file."""
    for paragraph in (Path(__file__).parent / file).read_text(encoding="utf-8").strip().split("\n\n"):
        title, *lines = paragraph.splitlines()
        name, _, rules = title.removeprefix("# ").partition(": ")
        nodes = " ".join(line.strip() for line in lines if line.startswith("  "))
        yield name, nodes, rules, dict(line.split(": ", 1) for line in lines if not line.startswith("  "))
