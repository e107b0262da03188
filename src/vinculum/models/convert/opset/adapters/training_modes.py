"""Dropout and BatchNormalization, of whose versions write differently whether they train.

Each rule is as `table` says. Only what does not train has a meaning in all versions.
"""

from __future__ import annotations

import numpy as np
from onnx import NodeProto

from vinculum.models.convert.opset.adapters.adaptation import Adaptation


def inference_7(step: Adaptation) -> list[NodeProto]:
    """Write is_test=1 below operator set 7, where training is the default; from there on there is nothing else."""
    _check_one_result(step)
    if step.up and not step.value("is_test"):
        raise ValueError(f"it trains, and {step.title(step.target)} only tests; set is_test=1")
    step.drop("is_test")
    if not step.up:
        step.give("is_test", 1)
    return [step.node]


def batch_normalization_9(step: Adaptation) -> list[NodeProto]:
    """Drop spatial=1; from operator set 9 on there is nothing else."""
    if step.up and step.value("spatial") != 1:
        raise ValueError(f"{step.title(step.target)} has no spatial={step.value('spatial')}")
    step.drop("spatial")
    return [step.node]


def batch_normalization_14(step: Adaptation) -> list[NodeProto]:
    """Drop training_mode=0; before operator set 14 what trains has other results."""
    _check_one_result(step)
    if step.value("training_mode"):
        raise ValueError(f"it trains, and {step.title(step.target)} has other results of training")
    step.drop("training_mode")
    return [step.node]


def dropout_10(step: Adaptation) -> None:
    """Refuse a mask, which is of the data's element type before operator set 10 and bool from there on."""
    if step.uses_result(1):
        raise ValueError(f"the mask of {step.title(step.target)} has another element type")


def dropout_12(step: Adaptation) -> list[NodeProto]:
    """Give the ratio as an operand from operator set 12 on; it has no effect where nothing is dropped."""
    if step.up:
        given = np.array(step.value("ratio"), np.float32)
        step.drop("ratio")
        step.set_operands([step.operand(0), step.rewriter.constant(given, "ratio")])
        return [step.node]
    training = step.constant(step.operand(2)) if step.operand(2) else np.array(False)
    if training is None or training.any():
        raise ValueError(f"it may train, and {step.title(step.target)} only tests")
    if step.uses_result(1):
        raise ValueError(f"the mask of {step.title(step.target)} is undefined in test mode")
    ratio = step.constant(step.operand(1))
    step.drop("seed")
    if ratio is not None:
        step.give("ratio", float(ratio))
    step.set_operands([step.operand(0)])
    return [step.node]


def _check_one_result(step: Adaptation) -> None:
    if any(step.uses_result(place) for place in range(1, len(step.node.output))):
        raise ValueError("its results beside the first are those of training, which the versions do not share")
    del step.node.output[1:]
