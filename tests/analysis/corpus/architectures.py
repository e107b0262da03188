"""Architectures of the transformers library; ``python -m tests.analysis.corpus.make_architectures`` writes them."""

from __future__ import annotations

import gzip
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import onnx
from onnx import ModelProto, helper

from tests.analysis.corpus.entry import Entry

FOLDER = Path(__file__).parent / "models" / "architectures"
_SOURCES = {"dynamo": "transformers, torch", "script": "transformers, torchscript"}
_IMAGES = "/model/vision_model/embeddings/Add_output_0"
_TEXTS = "/model/text_model/embeddings/Add_output_0"
_UNREACHED = "no input is known on which an embedding is zero; zeros inside show that the division has no guard"


@dataclass(frozen=True)
class _Label:
    """What is to be found in an architecture, and what shows it: inputs, or values inside that are made zeros."""

    rules: tuple[str, ...]
    witness: Mapping[str, float] = field(default_factory=dict)
    inner: Mapping[str, tuple[str, ...]] = field(default_factory=dict)


def _unguarded_norms(dynamo: tuple[str, ...], script: tuple[str, ...] = (_IMAGES, _TEXTS), **witness: float) -> _Label:
    return _Label(("zero-over-zero",), witness, {"dynamo": dynamo, "script": script})


_LABELS = {
    "clip": _unguarded_norms(("add", "add_5")),
    "clipseg": _unguarded_norms(("add", "add_5")),
    "owlvit": _unguarded_norms(("add", "add_5")),
    "siglip": _unguarded_norms(("add", "add_6")),
    "blip": _unguarded_norms(("add", "add_5")),
    "chinese_clip": _unguarded_norms(("add", "add_6"), (_IMAGES, "/model/text_model/embeddings/Add_1_output_0")),
    # Every bias of its image tower is zero, so that black pixels stay zeros.
    "groupvit": _unguarded_norms(("conv2d", "add_20"), (_TEXTS,), pixel_values=0, input_ids=3, attention_mask=1),
    "modernbert_mean": _Label(("zero-over-zero",), {"input_ids": 3, "attention_mask": 0}),
    # Every token is the mask: the share of those that are not is zero, and so are the embeddings.
    "esm": _Label(("zero-over-zero",), {"input_ids": 31, "attention_mask": 1}),
}
"""Hazards; what is not here is a control."""

_RANGES = (("mask", "0|1"), ("ids", "0:31"), ("bbox", "0:15"))
"""What is declared of inputs, by what their names hold."""


def load(path: Path) -> ModelProto:
    """Return the model of a packed file."""
    return onnx.load_from_string(gzip.decompress(path.read_bytes()))


def _entries() -> Iterator[Entry]:
    for path in sorted(FOLDER.glob("*.onnx.gz")):
        name, export = path.name.split(".")[:2]
        label = _LABELS.get(name, _Label(()))
        inputs = load(path).graph.input
        yield Entry(
            f"{name}.{export}",
            f"{FOLDER.name}/{path.name}",
            label.rules,
            _SOURCES[export[:6]],
            tuple(_declared([value.name for value in inputs])),
            witness={value.name: _filled(value, label.witness[value.name]) for value in inputs if label.witness},
            inner=label.inner.get(export[:6], ()),
            reason=_UNREACHED if label.inner and not label.witness else "",
        )


def _declared(inputs: list[str]) -> Iterator[str]:
    for name in inputs:
        yield from (f"{name}={text}" for word, text in _RANGES if word in name)


def _filled(value: onnx.ValueInfoProto, number: float) -> Any:
    declared = value.type.tensor_type
    shape = [d.dim_value for d in declared.shape.dim]
    return np.full(shape, number, helper.tensor_dtype_to_np_dtype(declared.elem_type))


ENTRIES: tuple[Entry, ...] = tuple(_entries())
