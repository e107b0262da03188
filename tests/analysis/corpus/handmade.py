"""Models written by hand, read from `handmade.txt` and `guards.txt`: each hazard beside its guarded twin.

`handmade.txt` has the simplest model of each hazard; `guards.txt` has the guards that people write against a zero
divisor, each before the same model without it, or with it done wrong. An entry is a paragraph:

- ``# NAME: RULES``: its name, and the hazards that it has;
- ``INPUTS -> OUTPUTS``, if they are not ``float[2, 3] x -> float[2, 3] y``;
- indented lines: its nodes;
- ``KEY: VALUE``: another field of `Entry`, or an argument of `written`.

A witness gives inputs as ``x = 0; n = [1, 2]``; a number alone is in every place. Without a witness and a reason, zeros
show a hazard.
"""

from __future__ import annotations

import re
from ast import literal_eval
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from tests.analysis.corpus.entry import Entry, written

_INPUT = re.compile(r"(\w+)(?:\[(.+?)\])? (\w+)")
_LIKE_ITS_INPUTS = ("float[2, 3] x", "float[2, 3] y")


def _entries(file: str, source: str) -> Iterator[Entry]:
    text = (Path(__file__).parent / file).read_text(encoding="utf-8")
    for paragraph in text.strip().split("\n\n"):
        yield _entry(paragraph.splitlines(), source)


def _entry(lines: list[str], source: str) -> Entry:
    name, _, rules = lines[0].removeprefix("# ").partition(": ")
    nodes = " ".join(line.strip() for line in lines[1:] if line.startswith("  "))
    inputs, outputs = next((line.split(" -> ") for line in lines if " -> " in line), _LIKE_ITS_INPUTS)
    more: dict[str, Any] = dict(line.split(": ", 1) for line in lines[1:] if re.match(r"\w+: ", line))
    shown = bool(rules) and "reason" not in more
    witness = more.pop("witness", "; ".join(f"{one} = 0" for _, _, one in _INPUT.findall(inputs)) if shown else "")
    more["opset"] = int(more.get("opset", 18))
    return written(name, inputs, outputs, nodes, rules, source=source, witness=_arrays(witness, inputs), **more)


def _arrays(witness: str, inputs: str) -> Mapping[str, Any]:
    """Return the inputs of a witness; one of open sizes is given element by element."""
    given = dict(part.split(" = ") for part in witness.split("; ") if part)
    arrays = {}
    for kind, sizes, name in _INPUT.findall(inputs):
        if name in given:
            array = np.array(literal_eval(given[name]), "float32" if kind == "float" else kind)
            shape = [int(size) for size in sizes.split(",") if size.strip().isdigit()]
            arrays[name] = np.broadcast_to(array, shape) if array.ndim == 0 else array
    return arrays


ENTRIES = (*_entries("handmade.txt", "by hand"), *_entries("guards.txt", "guards"))
