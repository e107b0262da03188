"""Operators whose meaning a later operator set changed, and that the reference evaluator knows only as changed.

Handed to it as they are, they would give wrong numbers without an error. Each is brought to the newer meaning by
reshaping its operands, or refused.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from math import prod
from typing import Any

from numpy.typing import NDArray
from onnx import NodeProto, helper

from vinculum.models.onnx_divisions import DIVIDES

_LIMITED_BROADCASTING = ("Add", "And", "Equal", "Greater", "Less", "Mul", "Or", "Pow", "Sub", "Xor")
_DROPPED_ATTRIBUTES = {"axis", "broadcast", "consumed_inputs"}
_FLATTENING = ("Hardmax", "LogSoftmax", "Softmax")

Attributes = Mapping[str, Any]


def with_legacy_rules(instance: Any, node: NodeProto, opsets: Mapping[str, int]) -> Any:
    """Return an operator of the evaluator, made to keep the rules of the operator set that its node stands in.

    Raises
    ------
    ValueError
        If it cannot be made to.
    """
    version = opsets.get(node.domain, 0)
    if node.domain:
        return instance
    if node.op_type == "Scan" and version < 9:
        raise ValueError("the onnx package's reference evaluator knows Scan from operator set 9 on")
    if version < 6 and node.op_type not in DIVIDES:
        instance.attributes_names_.discard("consumed_inputs")  # A hint that the evaluator does not know.
    attributes = {a.name: helper.get_attribute_value(a) for a in node.attribute if not a.ref_attr_name}
    if node.op_type in _LIMITED_BROADCASTING and version < 7:
        instance.attributes_names_ -= _DROPPED_ATTRIBUTES
        instance.run = _limited(instance.run, attributes)
    elif node.op_type in _FLATTENING and version < 13:
        instance.axis = -1
        instance.run = _flattening(instance.run, attributes.get("axis", 1))
    return instance


def _limited(run: Callable[..., Any], attributes: Attributes) -> Callable[..., Any]:
    """Broadcast the second operand as Div-6 does, and not unless the node says so."""

    def limited(a: NDArray[Any], b: NDArray[Any], **options: Any) -> Any:
        if attributes.get("broadcast", 0) != 1:
            if a.shape != b.shape:
                raise ValueError(f"the shapes {a.shape} and {b.shape} differ; without broadcast=1 they must be equal")
            return run(a, b, **options)
        return run(a, _aligned(b, a.shape, attributes.get("axis")), **options)

    return limited


def _aligned(operand: NDArray[Any], shape: tuple[int, ...], axis: int | None) -> NDArray[Any]:
    """Return the operand with dimensions of 1 after it, so that its shape lies on the run of `shape` at `axis`."""
    start = len(shape) - operand.ndim if axis is None else axis
    if operand.size == 1 and operand.ndim <= len(shape):
        return operand.reshape((1,) * len(shape))
    if start < 0 or operand.shape != shape[start : start + operand.ndim]:
        raise ValueError(f"the shape {operand.shape} is not the run of {shape} that begins at axis {start}")
    return operand.reshape(operand.shape + (1,) * (len(shape) - start - operand.ndim))


def _flattening(run: Callable[..., Any], axis: int) -> Callable[..., Any]:
    """Normalise over all dimensions from `axis` on together, as before operator set 13."""

    def flattened(x: NDArray[Any], **options: Any) -> Any:
        start = axis + x.ndim if axis < 0 else axis
        if not 0 <= start <= x.ndim:
            raise ValueError(f"axis {axis} is outside the shape {x.shape}")
        (result,) = run(x.reshape(prod(x.shape[:start]), prod(x.shape[start:])), **options)
        return (result.reshape(x.shape),)

    return flattened
