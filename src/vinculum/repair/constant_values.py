"""The values of operands that are the same in every run, found through nodes that only reshape them."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from onnx import FunctionProto, NodeProto, TensorProto, helper

from vinculum.models.onnx.scopes import Scope
from vinculum.models.onnx.tensors import array_of

_KEEP_VALUES = ("Identity", "Reshape", "Squeeze", "Unsqueeze", "Flatten", "Transpose", "Expand", "Tile")


class ConstantValues:
    """The distinct values of the constants in scope."""

    def __init__(self, scope: Scope) -> None:
        self._tensors = scope.constants
        self._makers = scope.producers
        outermost = scope
        while outermost.around is not None:
            outermost = outermost.around
        called = isinstance(outermost.holder, FunctionProto)
        self._parameters = set(outermost.holder.input) if called else set[str]()
        self._found: dict[str, NDArray[Any] | None] = {}

    def of(self, name: str) -> NDArray[Any] | None:
        """Return the distinct values in one dimension; None if they are not known."""
        origin, steps = self._traced(name)
        values = self._own(origin)
        for node in reversed(steps):
            values = None if values is None else _after(node, values)
        return values

    def may_be_found(self, dividend: str, divisor: str) -> bool:
        """Whether a runtime may find a constant dividend that is not known here, and yet not fold the division.

        A call may pass a constant to a function, and functions are inlined before constants are folded. A division by a
        divisor of unknown size is not folded.
        """
        origin, _ = self._traced(dividend)
        if origin in self._parameters:
            return True
        _, steps = self._traced(divisor)
        sized = all(name in self._tensors for node in steps for name in node.input[1:])
        return not sized and (self._makers.get(origin) is not None or origin in self._tensors)

    def _traced(self, name: str) -> tuple[str, list[NodeProto]]:
        """Return the value at the start of a chain of nodes that keep its elements, and these nodes, last one first."""
        steps: list[NodeProto] = []
        while name not in self._tensors:
            node = self._makers.get(name)
            if node is None or node.domain or not _keeps_values(node):
                break
            steps.append(node)
            name = node.input[0]
        return name, steps

    def _own(self, name: str) -> NDArray[Any] | None:
        if name not in self._found:
            tensor = self._tensors.get(name)
            self._found[name] = None if tensor is None else _distinct(tensor)
        return self._found[name]


def cast_target(cast: NodeProto) -> int:
    """Return the number of a Cast's element type, 0 if it is an attribute of the function."""
    return next((a.i for a in cast.attribute if a.name == "to" and not a.ref_attr_name), TensorProto.UNDEFINED)


def _keeps_values(node: NodeProto) -> bool:
    return bool(node.input) and (node.op_type in _KEEP_VALUES or node.op_type == "Cast")


def _after(node: NodeProto, values: NDArray[Any]) -> NDArray[Any] | None:
    if node.op_type != "Cast":
        return values
    code = cast_target(node)
    if code not in (TensorProto.INT32, TensorProto.INT64):
        return None
    dtype = helper.tensor_dtype_to_np_dtype(code)
    # A Cast that changes a value would need its rule here.
    same = values.dtype.kind in "iu" and bool(np.all(values.astype(dtype) == values))
    return values.astype(dtype) if same else None


def _distinct(tensor: TensorProto) -> NDArray[Any] | None:
    if helper.tensor_dtype_to_np_dtype(tensor.data_type).kind not in "iu":
        return None  # Only integers matter; the data may be large and is not decoded.
    return np.unique(array_of(tensor))
