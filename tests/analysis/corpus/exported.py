"""Models exported by PyTorch; ``python -m tests.runtimes.analysis.corpus.make_exports`` writes them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import onnx

from tests.analysis.corpus.entry import Entry

MODELS = Path(__file__).parent / "models"
_ZEROS = np.zeros((3, 4), np.float32)
_SOURCES = {"dynamo": "torch", "script": "torchscript", "script11": "torchscript, opset 11"}
_HAZARDS: dict[str, tuple[tuple[str, ...], tuple[Any, ...], str]] = {
    "normalize_without_guard": (("zero-over-zero",), (_ZEROS,), ""),
    "masked_mean": (("zero-over-zero",), (_ZEROS, np.zeros((3, 4), np.int64)), ""),
    "standardise": (("zero-over-zero",), (_ZEROS,), ""),
    "inverse": (("zero-divisor",), (_ZEROS,), ""),
}
"""The hazards of each module, the inputs in order that show them, or the reason for the label."""
_ASSUMED = {
    "masked_mean": ("", "0|1"),
    "masked_mean_clamped": ("", "0|1"),
    "floor_divide": ("-1000:1000",),
    "truncating_divide": ("-1000:1000",),
    "true_divide_floor": ("-1000:1000",),
    "floor_divide_by_input": ("-1000:1000", "1:9"),
    "remainder": ("-1000:1000", "1:9"),
}
_FLOAT16 = {
    "normalize": ("epsilon-lost", "zero-over-zero"),
    "layer_norm": (),
    "rms": (),
    "masked_mean_clamped": (),
    "standardise_guarded": (),
    "softmax": (),
}
"""The hazards of each module as float16."""


def _entries() -> Iterator[Entry]:
    for path in sorted(MODELS.glob("*.*.onnx")):
        name, exporter, _ = path.name.split(".")
        inputs = [value.name for value in onnx.load(path).graph.input]
        rules, operands, reason = _HAZARDS.get(name, ((), (), ""))
        ranges = zip(inputs, _ASSUMED.get(name, ()), strict=False)
        assume = tuple(f"{given}={text}" for given, text in ranges if text)
        witness = dict(zip(inputs, operands, strict=False))
        yield Entry(path.name, path.name, rules, _SOURCES[exporter], assume, witness=witness, reason=reason)
        if name in _FLOAT16 and exporter != "script11":
            lost = "1e-12 is 0 in float16" if _FLOAT16[name] else ""
            title = f"{path.name} as float16"
            yield Entry(title, path.name, _FLOAT16[name], _SOURCES[exporter], assume, "float16", reason=lost)


ENTRIES: tuple[Entry, ...] = (
    *_entries(),
    Entry(
        "floor without a correction",
        "floor_without_correction.onnx",
        ("floor-expected",),
        "torchscript",
        ("n=-1000:1000", "m=1:9"),
        witness={"n": np.array([-1, -5, 7]), "m": np.array([3, 3, 3])},
    ),
    Entry("floor of positive numbers", "floor_without_correction.onnx", (), "torchscript", ("n=0:1000", "m=1:9")),
)
