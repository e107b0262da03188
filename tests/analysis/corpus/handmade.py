"""Models written by hand: each hazard beside its guarded twin.

`handmade.txt` has the simplest models of each hazard. `guards.txt` has the guards that people write against a zero
divisor, each before the same model without the guard, or with it done wrong.

- ``values: INPUTS -> OUTPUTS``, if they are not ``float[2, 3] x -> float[2, 3] y``;
- ``witness: x = 0; n = [1, 2]``: inputs; a number alone is in every place.

Without a witness and a reason, zeros show the hazard.
"""

from __future__ import annotations

import re
from ast import literal_eval
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from tests.analysis.corpus.entry import Entry, paragraphs, written

_INPUT = re.compile(r"(\w+)(?:\[(.+?)\])? (\w+)")


def _entries(file: str, source: str) -> Iterator[Entry]:
    for name, nodes, rules, more in paragraphs(file):
        inputs, outputs = more.pop("values", "float[2, 3] x -> float[2, 3] y").split(" -> ")
        shown = rules and "reason" not in more
        witness = more.pop("witness", "; ".join(f"{one} = 0" for _, _, one in _INPUT.findall(inputs)) if shown else "")
        more["witness"] = _arrays(witness, inputs)
        yield written(name, inputs, outputs, nodes, rules, source=source, **more)


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
