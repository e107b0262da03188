"""Damaged models: the check reports or refuses them in one line, and never fails otherwise."""

from __future__ import annotations

import random
from contextlib import suppress

import pytest
from onnx import ModelProto, NodeProto, helper

import vinculum
from tests.analysis.corpus.judging import SAMPLE, model_of
from vinculum.analysis.transfer.operators import TABLE
from vinculum.errors import VinculumError

_OPERATORS = sorted({name for _, name in TABLE} | {"If", "Loop", "Scan", "Attention"})
_LARGEST = 30
"""Nodes of a small model."""
_MODELS = {entry.model: entry for entry in SAMPLE}.values()
_SMALL = [entry for entry in _MODELS if len(model_of(entry).graph.node) <= _LARGEST]
_LARGE = [entry for entry in _MODELS if entry not in _SMALL]


def _damage(node: NodeProto, rng: random.Random) -> None:
    kind = rng.randrange(5)
    if kind == 0:
        node.op_type = rng.choice(_OPERATORS)
    elif kind == 1 and node.input:
        node.input.pop()
    elif kind == 2 and node.input:
        node.input[rng.randrange(len(node.input))] = ""
    elif kind == 3 and node.input:
        node.input.append(node.input[0])
    else:
        name = rng.choice(["axis", "axes", "to", "perm", "keepdims", "epsilon", "shape", "split"])
        node.attribute.append(helper.make_attribute(name, rng.choice([1, -9, 0.5, "x", [1, 2], [0]])))


def damaged(seed: int) -> ModelProto:
    """Return a model of the corpus with damaged nodes; large models are chosen seldom, and damaged in more places."""
    rng = random.Random(seed)
    model = ModelProto()
    model.CopyFrom(model_of(rng.choice(_SMALL if seed % 6 else _LARGE)))
    for _ in range(rng.randint(1, 3) + len(model.graph.node) // _LARGEST):
        _damage(rng.choice(list(model.graph.node)), rng)
    return model


@pytest.mark.parametrize("first", range(0, 200, 50))
def test_nothing_breaks(first: int) -> None:
    for seed in range(first, first + 50):
        with suppress(VinculumError):
            assert vinculum.check(damaged(seed), runs=0).nodes >= 1
