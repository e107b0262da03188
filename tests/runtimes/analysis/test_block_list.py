"""The block list in ONNX Runtime's own converter: with it the float16 model is right, without it it is not."""

from __future__ import annotations

from copy import deepcopy
from typing import Any

import numpy as np
import pytest
from onnx import ModelProto
from onnx.reference import ReferenceEvaluator
from onnxruntime.transformers.float16 import convert_float_to_float16

import vinculum
from tests.analysis.test_narrowing import NORM
from vinculum.reporting.check.words import block_lists


def without_round_trips(model: ModelProto) -> ModelProto:
    """Return a converted model without Casts to float16 and back, nor nodes that the converter writes twice."""
    makers = {node.output[0]: node for node in model.graph.node}
    wide = {
        name: makers[node.input[0]].input[0]
        for name, node in makers.items()
        if node.op_type == "Cast" and node.input[0] in makers and makers[node.input[0]].name.endswith("to_fp16_node")
    }
    for node in makers.values():
        node.input[:] = [wide.get(name, name) for name in node.input]
    made = {value.name for value in (*model.graph.input, *model.graph.initializer)}
    nodes, waiting = [], list(makers.values())
    while waiting:  # The reference evaluator wants each node behind those that it reads.
        ready = [node for node in waiting if made.issuperset(node.input)]
        nodes += ready
        made.update(node.output[0] for node in ready)
        waiting = [node for node in waiting if node.output[0] not in made]
    del model.graph.node[:]
    model.graph.node.extend(nodes)
    return model


def result(blocked: list[str], x: float) -> Any:
    """Return what a converted model computes where float16 is float16; ONNX Runtime's CPU keeps float32 on the way."""
    made = convert_float_to_float16(deepcopy(NORM), node_block_list=blocked, keep_io_types=True)
    with np.errstate(all="ignore"):
        (y,) = ReferenceEvaluator(without_round_trips(made)).run(["y"], {"x": np.full(4, x, np.float32)})
    return y


@pytest.mark.parametrize(("assume", "x", "expected"), [("x=1:300", 300, 1), ("x=-1:1", 0, 0)])
def test_it_keeps_a_model_right(assume: str, x: float, expected: float) -> None:
    lists = block_lists(vinculum.check(NORM, assume=[assume], as_type="float16").block_list)
    assert (result(lists["node_block_list"], x) == expected).all()


def test_without_it_squares_overflow() -> None:
    assert not (result([], 300) == 1).all()
