"""Which values an operand can have that is the same in every run: looked up through nodes that only reshape it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray
from onnx import FunctionProto, GraphProto, NodeProto, TensorProto, helper, numpy_helper

_KEEP_VALUES = ("Identity", "Reshape", "Squeeze", "Unsqueeze", "Flatten", "Transpose", "Expand", "Tile")
_VALUES_OF_CONSTANT = ("value_int", "value_ints")


class ConstantValues:
    """The distinct values of what is the same in every run, as one scope sees it.

    Parameters
    ----------
    holder : GraphProto or FunctionProto
        The scope.
    tensors : Mapping of str to TensorProto
        Its constants and those around, as `vinculum.models.convert.constants` finds them.
    """

    def __init__(self, holder: GraphProto | FunctionProto, tensors: Mapping[str, TensorProto]) -> None:
        self._makers = {name: node for node in holder.node for name in node.output}
        self._tensors = tensors
        self._found: dict[str, NDArray[Any] | None] = {}

    def of(self, name: str) -> NDArray[Any] | None:
        """Return the distinct values in one dimension; None if they are not known."""
        steps: list[NodeProto] = []
        while name not in self._found and name not in self._tensors:
            node = self._makers.get(name)
            if node is None or node.domain or not _keeps_values(node):
                break
            steps.append(node)
            name = node.input[0]
        values = self._own(name)
        for node in reversed(steps):
            values = None if values is None else _after(node, values)
        return values

    def _own(self, name: str) -> NDArray[Any] | None:
        if name not in self._found:
            tensor, node = self._tensors.get(name), self._makers.get(name)
            if tensor is not None:
                self._found[name] = _distinct(numpy_helper.to_array(tensor))
            else:
                self._found[name] = None if node is None else _plain_constant(node)
        return self._found[name]


def _keeps_values(node: NodeProto) -> bool:
    return bool(node.input) and (node.op_type in _KEEP_VALUES or node.op_type == "Cast")


def _after(node: NodeProto, values: NDArray[Any]) -> NDArray[Any] | None:
    if node.op_type != "Cast":
        return values
    code = next((a.i for a in node.attribute if a.name == "to" and not a.ref_attr_name), TensorProto.UNDEFINED)
    if code not in (TensorProto.INT32, TensorProto.INT64):
        return None
    dtype = helper.tensor_dtype_to_np_dtype(code)
    # Only a Cast in which every value stays itself needs no rule.
    same = values.dtype.kind in "iu" and bool(np.all(values.astype(dtype) == values))
    return values.astype(dtype) if same else None


def _plain_constant(node: NodeProto) -> NDArray[Any] | None:
    """Return what a Constant of plain integers holds."""
    if node.domain or node.op_type != "Constant":
        return None
    for attribute in node.attribute:
        if attribute.name in _VALUES_OF_CONSTANT and not attribute.ref_attr_name:
            return _distinct(np.array(helper.get_attribute_value(attribute), np.int64))
    return None


def _distinct(array: NDArray[Any]) -> NDArray[Any] | None:
    if array.dtype.kind not in "iu":
        return None
    return np.unique(array)
