"""The trials of each transfer function, with attributes and operands that the operator takes, read from `known.txt`.

A line there that begins with ``-`` is one. Attributes come first, then operands:

- ``(2,3)``: the shape of one that is open; ``None``: left out;
- ``[1.5,2]``: a constant, of float32, int64 or bool by its numbers, or of the type before a colon: ``uint8:3``;
- ``ones(2,3)``, ``count(2,3)``, ``drawn(2,3)#5``: a larger one of ones, 0, 1, 2, ..., or random numbers of that seed;
- ``int64:0..2:(3,)``: any such integers of that shape.

Behind a bar stand options: the element types to try it in, but for float32, the operator set, how many outputs there
are, and the words ``tame`` and ``uncomputed``, which `Trial` explains.
"""

from __future__ import annotations

import re
from ast import literal_eval
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

RECORDED = Path(__file__).parent / "transfer" / "known.txt"
OF_ITS_OWN = "SimplifiedLayerNormalization"
"""What ONNX Runtime has of its own in ONNX's domain."""
_ATTRIBUTE = re.compile(r"(\w+)=(.*)")
_OPERAND = re.compile(
    r"(?:(?P<type>\w+):)?(?:(?P<low>-?\d+)\.\.(?P<high>-?\d+):|(?P<maker>ones|count|drawn))?(?P<value>.*)"
)


@dataclass(frozen=True, eq=False)
class Trial:
    """One operator with attributes."""

    operator: str
    # The shape of each, a constant, None for what is left out, or (low, high, type, shape) for integers of their own.
    operands: Sequence[Any] = ((2, 3),)
    attributes: Mapping[str, Any] = field(default_factory=dict)
    types: Sequence[str] = ("float32",)  # The element types to try it in.
    opset: int = 18
    results: int = 1  # How many outputs it has.
    tame: bool = False  # Whether runtimes agree on finite operands of common size alone.
    uncomputed: bool = False  # Whether ONNX's reference evaluator, or ONNX Runtime of its own, computes it otherwise.
    domain: str = ""
    line: str = ""  # Where it is recorded.

    def __str__(self) -> str:
        return f"{self.operator} {self.line}"

    def is_taken(self, *operands: Any) -> bool:
        """Tell whether runtimes can be given operands: no integers over 0, and no smallest one over -1."""
        if self.operator not in ("Div", "Mod") or operands[1].dtype.kind not in "iu":
            return True
        dividend, divisor = operands
        overflows = (divisor == -1).any() and (dividend == np.iinfo(dividend.dtype).min).any()
        return bool((divisor != 0).all() and not overflows)


def _value(text: str) -> Any:
    try:
        return literal_eval(text.replace("inf", "1e999"))
    except (SyntaxError, ValueError):
        return text  # A word.


def _operand(text: str) -> Any:
    parts = _OPERAND.fullmatch(text)
    assert parts is not None
    value, element_type = _value(parts["value"].partition("#")[0]), parts["type"]
    if parts["low"]:
        return int(parts["low"]), int(parts["high"]), np.dtype(element_type), value
    if parts["maker"] == "drawn":
        rng, dtype = np.random.default_rng(int(text.partition("#")[2])), element_type or "float32"
        return rng.integers(0, 256, value, dtype) if element_type else rng.normal(size=value).astype(dtype)
    if parts["maker"]:
        count = np.arange(np.prod(value)).reshape(value)
        return (count if parts["maker"] == "count" else np.ones(value)).astype(element_type or "float32")
    if value is None or isinstance(value, tuple):
        return value
    array = np.asarray(value)
    return array.astype(element_type or ("float32" if array.dtype.kind == "f" else array.dtype))


def _trial(section: str, line: str) -> Trial:
    domain, _, operator = section.rpartition(".")
    what, _, options = line.removeprefix("- ").partition("|")
    attributes: dict[str, Any] = {}
    operands: list[Any] = []
    for part in what.split():
        if found := _ATTRIBUTE.fullmatch(part):
            attributes[found[1]] = _value(found[2])
        else:
            operands.append(_operand(part))
    if isinstance(attributes.get("value"), list):
        attributes["value"] = np.array(attributes["value"])  # The only attribute that is a tensor.
    more: dict[str, Any] = {"opset": 17 if domain or operator == OF_ITS_OWN else 18}
    for option in options.split():
        key, _, value = option.partition("=")
        more[key] = value.split(",") if key == "types" else int(value) if value else True
    return Trial(operator, operands, attributes, domain=domain, line=line, **more)


def recorded() -> Mapping[str, Sequence[str]]:
    """Return the lines of `known.txt` by operator, of ONNX Runtime's own with the domain."""
    sections: dict[str, list[str]] = {}
    for line in RECORDED.read_text(encoding="utf-8").splitlines():
        if line.startswith("# "):
            section = sections.setdefault(line.split()[1], [])
        section.append(line)
    return sections


def _trials() -> Iterator[tuple[str, list[Trial]]]:
    for section, lines in recorded().items():
        yield section, [_trial(section, line) for line in lines if line.startswith("- ")]


TRIALS_OF: Mapping[str, Sequence[Trial]] = dict(_trials())
_COMPUTED = [trial for trials in TRIALS_OF.values() for trial in trials if not trial.uncomputed]
TRIALS = tuple(trial for trial in _COMPUTED if not trial.domain and trial.operator != OF_ITS_OWN)
OF_ONNXRUNTIME = tuple(trial for trial in _COMPUTED if trial.domain or trial.operator == OF_ITS_OWN)
