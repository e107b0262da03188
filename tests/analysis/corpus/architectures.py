"""Architectures of the transformers library, which ``tests.runtimes.analysis.corpus.make_architectures`` writes."""

from __future__ import annotations

import gzip
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import onnx
from onnx import ModelProto, ValueInfoProto, helper

from tests.analysis.corpus.entry import Entry

FOLDER = Path(__file__).parent / "models" / "architectures"
_SOURCES = {"dynamo": "transformers, torch", "script": "transformers, torchscript"}
_IMAGES = "/model/vision_model/embeddings/Add_output_0"
_TEXTS = "/model/text_model/embeddings/Add_output_0"
_UNREACHED = "no input of common size is known whose embedding is zeros; zeros inside show that nothing guards it"


@dataclass(frozen=True)
class _Label:
    """The hazards, and what shows the first: inputs that are not ordinary, or inner values that are set to zero."""

    rules: tuple[str, ...] = ()
    witness: Mapping[str, float] | None = None
    inner: Mapping[str, tuple[str, ...]] = field(default_factory=dict)


def _unguarded_norms(dynamo: tuple[str, ...], script: tuple[str, ...] = (_IMAGES, _TEXTS)) -> _Label:
    return _Label(("zero-over-zero",), None, {"dynamo": dynamo, "script": script})


_LABELS = {
    "clip": _unguarded_norms(("add", "add_5")),
    "clipseg": _unguarded_norms(("add", "add_5")),
    "owlvit": _unguarded_norms(("add", "add_5")),
    "siglip": _unguarded_norms(("add", "add_6")),
    "blip": _unguarded_norms(("add", "add_5")),
    "chinese_clip": _unguarded_norms(("add", "add_6"), (_IMAGES, "/model/text_model/embeddings/Add_1_output_0")),
    # Every bias of its image tower is zero, so that black pixels stay zeros.
    "groupvit": replace(_unguarded_norms(("conv2d", "add_20"), (_TEXTS,)), witness={}),
    "modernbert_mean": _Label(("zero-over-zero",), {"mask": 0}),
    "sew_classify": _Label(("zero-over-zero",), {"mask": 0}),
    "deformable_detr": _Label(("zero-divisor",), {"mask": 0}),
    # Every token is the mask: the share of those that are not is zero, and so are the embeddings.
    "esm": _Label(("zero-over-zero",), {"ids": 31}),
}
"""Hazards; what is not here is a control."""

_EMPTY_MASKS = """
    albert bert blip cohere2_moe conditional_detr deepseek_v3 detr distilbert electra esm gemma gpt2 groupvit layoutlm
    llama mistral mixtral modernbert_cls modernbert_mean mpnet phi qwen2 qwen2_moe qwen3 roberta sew_classify t5_encoder
""".split()  # noqa: SIM905 - a list of so many words is read more easily
"""Models that mask with the smallest float32. It is -inf in float16, so an empty mask masks the whole row."""

_LOST = ("epsilon-lost", "zero-over-zero")
_AS_FLOAT16 = {
    "bert.script14": _Label(_LOST, {"mask": 0}),
    "vit.script14": _Label(_LOST, None, {"script": ("/model/embeddings/Add_output_0",)}),
    "swinv2.script17": _Label(_LOST, {}),
    "deepseek_v3.script17": _Label(_LOST, {"mask": 0}),
    # PyTorch's exporter leaves its guard of 1e-20 out, which float32 needs as little; sigmoids can be 0 in float16.
    "deepseek_v3.dynamo18": _Label(("zero-over-zero",), {"mask": 0}),
    "cohere2_moe.dynamo18": _Label(("zero-over-zero",), {"mask": 0}),
}
"""Hazards that float16 adds beside those of empty masks."""

_RANGES = {"mask": "0|1", "ids": "0:31", "bbox": "0:15"}
_ORDINARY = {"mask": 1.0, "ids": 3.0}
"""The declared ranges and the values in a witness, by a part of the input's name; other inputs are 0."""


_LENGTHS_IN_FLOAT32 = ("hubert_classify.dynamo18", "wav2vec2_classify.dynamo18", "wavlm_classify.dynamo18")
_LENGTHS = "a mask of any integers may sum to more than float32 holds, in which lengths are divided and rounded down"


@cache
def load(path: Path) -> ModelProto:
    """Return the model of a packed file."""
    return onnx.load_from_string(gzip.decompress(path.read_bytes()))


def _entries() -> Iterator[Entry]:
    for path in sorted(FOLDER.glob("*.onnx.gz")):
        name, export = path.name.split(".")[:2]
        label = _LABELS.get(name, _Label())
        declared = _entry(path, name, export, label, None)
        yield declared
        if f"{name}.{export}" in _LENGTHS_IN_FLOAT32:
            found = ("integers-through-float",)
            yield replace(declared, name=f"{declared.name} undeclared", assume=(), rules=found, reason=_LENGTHS)
        lost = _AS_FLOAT16.get(f"{name}.{export}", _Label())
        masked = _Label(("masked-row",), {"mask": 0}) if name in _EMPTY_MASKS else _Label()
        rules = tuple(dict.fromkeys((*masked.rules, *lost.rules, *label.rules)))
        first = next((one for one in (masked, lost, label) if one.rules), label)
        yield _entry(path, name, export, replace(first, rules=rules), "float16")


def _entry(path: Path, name: str, export: str, label: _Label, as_type: str | None) -> Entry:
    inputs = load(path).graph.input
    return Entry(
        f"{name}.{export}" + (f" as {as_type}" if as_type else ""),
        f"{FOLDER.name}/{path.name}",
        label.rules,
        _SOURCES[export[:6]],
        tuple(f"{value.name}={_of(value, _RANGES)}" for value in inputs if _of(value, _RANGES)),
        as_type,
        witness={} if label.witness is None else {value.name: _filled(value, label.witness) for value in inputs},
        inner=label.inner.get(export[:6], ()),
        reason=_UNREACHED if label.inner and label.witness is None else "",
    )


def _of(value: ValueInfoProto, by_word: Mapping[str, Any]) -> Any:
    return next((found for word, found in by_word.items() if word in value.name), None)


def _filled(value: ValueInfoProto, witness: Mapping[str, float]) -> Any:
    declared = value.type.tensor_type
    shape = [d.dim_value for d in declared.shape.dim]
    return np.full(
        shape, _of(value, {**_ORDINARY, **witness}) or 0, helper.tensor_dtype_to_np_dtype(declared.elem_type)
    )


ENTRIES: tuple[Entry, ...] = tuple(_entries())
