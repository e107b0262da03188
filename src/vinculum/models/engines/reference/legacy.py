"""Operators whose meaning changed in a later operator set.

The reference evaluator implements the newer meaning only, and would compute wrong numbers for the older one without an
error. Here the operands are reshaped to fit the newer meaning, or the node is refused.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray
from onnx import NodeProto, TensorProto, helper
from onnx.reference.ops import load_op

from vinculum.errors import BroadcastError
from vinculum.models.onnx.divisions import ALSO_UNIDIRECTIONAL, DIVIDES

_DROPPED_ATTRIBUTES = {"axis", "broadcast", "consumed_inputs"}
_FLATTENING = ("Hardmax", "LogSoftmax", "Softmax")
# The behaviour of operators before a version, where the evaluator applies that version's default to all versions.
_OLD_ATTRIBUTES: dict[str, tuple[int, dict[str, Any]]] = {
    "AveragePool": (7, {"count_include_pad": 0}),
    "RoiAlign": (16, {"coordinate_transformation_mode": "output_half_pixel"}),
    "Selu": (6, {"alpha": 1.6732, "gamma": 1.0507}),
}

KNOWN_SINCE = {"DequantizeLinear": 19, "Dropout": 7, "Reshape": 5}
"""Operators with the first version that the evaluator implements, and by which it runs older ones."""

Attributes = Mapping[str, Any]


def with_legacy_rules(instance: Any, node: NodeProto, opsets: Mapping[str, int]) -> Any:
    """Return an operator of the evaluator, changed to follow the rules of its node's operator set.

    ValueError if that is not possible.
    """
    version = opsets.get(node.domain, 0)
    if node.domain:
        return instance
    if node.op_type == "Scan" and version < 9:
        raise ValueError("the onnx package's reference evaluator implements Scan from operator set 9 on")
    if version < 6 and node.op_type not in DIVIDES:
        instance.attributes_names_.discard("consumed_inputs")  # A hint that the evaluator lacks.
    attributes = {a.name: helper.get_attribute_value(a) for a in node.attribute if not a.ref_attr_name}
    if node.op_type in ALSO_UNIDIRECTIONAL and version < 7:
        instance.attributes_names_ -= _DROPPED_ATTRIBUTES
        instance.run = _limited(instance.run, attributes)
    elif node.op_type in _FLATTENING and version < 13:
        instance.axis = -1
        instance.run = _flattening(instance.run, attributes.get("axis", 1))
    elif node.op_type == "Cast" and version < 6:
        instance.to = _type_number(attributes.get("to", b""))
    elif node.op_type == "Reshape" and version < 5:
        instance.attributes_names_.discard("shape")
        instance._run = _with_options(instance._run, {"shape": np.array(attributes.get("shape", []), np.int64)})
    elif node.op_type == "Dropout" and version < 7:
        if attributes.get("is_test", 0) != 1:
            raise ValueError("it is in training mode; set is_test=1")
        instance.attributes_names_.discard("is_test")
    elif node.op_type == "PRelu" and version < 7:
        instance.run = _by_channel(instance.run)
    elif node.op_type == "BatchNormalization" and version < 14:
        _check_inference_mode(node, attributes)
        instance.attributes_names_ -= {"is_test", "spatial"}
        instance._run = _with_options(partial(load_op("", "BatchNormalization")._run, instance), {"training_mode": 0})
    elif version < _OLD_ATTRIBUTES.get(node.op_type, (0, {}))[0]:
        left_out = {name: v for name, v in _OLD_ATTRIBUTES[node.op_type][1].items() if name not in attributes}
        instance._run = _with_options(instance._run, left_out)
    return instance


def _check_inference_mode(node: NodeProto, attributes: Attributes) -> None:
    """Refuse training, which the evaluator implements from operator set 14 on, and ``spatial=0``, which it lacks.

    Below 14, a node with one output is in inference mode; the evaluator would train if the node has a momentum.
    """
    if any(node.output[1:]):
        raise ValueError("its outputs request training, which the evaluator implements from operator set 14 on")
    if attributes.get("spatial", 1) != 1:
        raise ValueError("its attribute spatial is not 1, which the evaluator does not implement")


def _with_options(run: Callable[..., Any], options: Attributes) -> Callable[..., Any]:
    return lambda *operands, **others: run(*operands, **{**others, **options})


def _by_channel(run: Callable[..., Any]) -> Callable[..., Any]:
    """Align a slope with one element per channel with the channels, the second dimension."""

    def aligned(x: NDArray[Any], slope: NDArray[Any], **options: Any) -> Any:
        if slope.ndim == 1 and slope.size > 1 and x.ndim > 1:
            slope = slope.reshape(-1, *[1] * (x.ndim - 2))
        return run(x, slope, **options)

    return aligned


def _type_number(name: bytes) -> int:
    """Return the number of an element type; below operator set 6 Cast gives it by name."""
    known = name.decode(errors="replace")
    if known not in TensorProto.DataType.keys():  # noqa: SIM118  an enum, not a dict
        raise ValueError(f"its attribute 'to' is {known!r}; allowed are names such as 'FLOAT'")
    return int(TensorProto.DataType.Value(known))


def _limited(run: Callable[..., Any], attributes: Attributes) -> Callable[..., Any]:
    """Broadcast the second operand by the rule of Div-6, only with ``broadcast=1``."""

    def limited(a: NDArray[Any], b: NDArray[Any], **options: Any) -> Any:
        if attributes.get("broadcast", 0) != 1:
            if a.shape != b.shape:
                raise BroadcastError(
                    f"the shapes {a.shape} and {b.shape} differ; without broadcast=1 they must be equal"
                )
            return run(a, b, **options)
        return run(a, _aligned(b, a.shape, attributes.get("axis")), **options)

    return limited


def _aligned(operand: NDArray[Any], shape: tuple[int, ...], axis: int | None) -> NDArray[Any]:
    """Return the operand with trailing dimensions of 1, so that it is aligned with `shape` from `axis` on.

    A dimension of 1 is broadcast. The documents of these versions do not allow it, but exporters wrote it, ONNX's own
    tests contain it, and it has no other meaning. Div itself follows its document.
    """
    start = len(shape) - operand.ndim if axis is None else axis
    if operand.size == 1 and operand.ndim <= len(shape):
        return operand.reshape((1,) * len(shape))
    run = shape[start : start + operand.ndim] if start >= 0 else ()
    if len(run) != operand.ndim or any(own not in (1, size) for own, size in zip(operand.shape, run, strict=True)):
        raise BroadcastError(f"the shape {operand.shape} does not match the dimensions of {shape} from axis {start} on")
    return operand.reshape(operand.shape + (1,) * (len(shape) - start - operand.ndim))


def _flattening(run: Callable[..., Any], axis: int) -> Callable[..., Any]:
    """Normalise over all dimensions from `axis` on, as below operator set 13."""

    def flattened(x: NDArray[Any], **options: Any) -> Any:
        start = axis + x.ndim if axis < 0 else axis
        if not 0 <= start <= x.ndim:
            raise ValueError(f"axis {axis} is outside the shape {x.shape}")
        (result,) = run(x.reshape(prod(x.shape[:start]), prod(x.shape[start:])), **options)
        return (result.reshape(x.shape),)

    return flattened
