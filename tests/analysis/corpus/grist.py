"""Programs with numerical defects that GRIST collected and RANUM was measured on, rebuilt from GRIST's sources.

An entry stands for all programs that compute the same, and is named by the numbers of their defects. Layers and losses
are theirs, weights are inputs in the ranges that RANUM begins with, logits twice as large. The gradient of a square
root, which is the defect of some, is a part of the model. Left out are 1, 14, 15 and 44. Each kind of defect has a twin
with a guard such as developers wrote.

`grist.txt` has the networks first: their nodes, their inputs, and the ranges of these. Each entry names its ``network``
and adds nodes. Its largest inputs show the first defect; ``signs`` are those of the last layer's weights and of the
labels, first of the first column: ``+-`` if nothing is said, ``00`` for zeros everywhere.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from tests.analysis.corpus.entry import Entry, paragraphs, written

_CONSTANTS = (
    "float half = {0.5}, float tiny = {1e-10}, float micro = {1e-6}, float some = {0.01}, float most = {87},"
    " float least = {-87}, float less = {-100}, float low1 = {-1}, int64[1] first = {0}, int64[1] channel = {1},"
    " float[2] none = {0, 0}, int64[6] row = {0, 0, 0, 1, 1, 1}"
)
_FACTORS = {"+": 1, "-": -1, "0": 0}


def _largest(inputs: str, assume: str, signs: str) -> Mapping[str, Any]:
    """Return the largest value of each input everywhere, but for signs."""
    ends = {name: float(ends.partition(":")[2]) for name, ends in (text.split("=") for text in assume.split())}
    last = max((name for name in ends if name[0] == "W"), default="x")
    arrays = {}
    for sizes, name in re.findall(r"float(?:\[(.+?)\])? (\w+)", inputs):
        shape = [int(size) for size in sizes.split(",") if size]
        columns = np.full(shape[-1:], ends[name], np.float32)
        if name in (last, "y") or signs == "00":
            columns[:1] *= _FACTORS[signs[0]]
            columns[1:] *= _FACTORS[signs[1]]
        arrays[name] = np.broadcast_to(columns, shape)
    return arrays


def _entries() -> Iterator[Entry]:
    networks: dict[str, tuple[str, Mapping[str, str]]] = {}
    for name, nodes, rules, more in paragraphs("grist.txt"):
        if rules == "network":
            networks[name] = nodes, more
            continue
        first, network = networks[more["network"]]
        inputs, assume, reason = network["values"], network["assume"], more.get("reason", "")
        given: dict[str, Any] = {"assume": assume, "profile": "domains", "source": "GRIST", "reason": reason}
        witness = _largest(inputs, assume, more.get("signs", "+-")) if rules and not reason else {}
        yield written(name, inputs, "float loss", f"{first} {nodes}", rules, _CONSTANTS, witness=witness, **given)


ENTRIES = tuple(_entries())
