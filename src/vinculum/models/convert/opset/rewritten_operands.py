"""Version adapters for operators whose attributes became operands, or whose operands changed.

`table` describes the adapters' interface.
"""

from __future__ import annotations

from collections.abc import Callable
from math import ceil, copysign, inf
from typing import Any

import numpy as np
from numpy.typing import NDArray
from onnx import FunctionProto, NodeProto, TensorProto, helper
from onnx.defs import OpSchema

from vinculum.models.convert.opset.adaptation import Adaptation
from vinculum.models.convert.opset.operator_versions import version_title
from vinculum.models.onnx.tensors import NUMBERS_AND_STRINGS, tensor_of
from vinculum.text import quoted

_FLOATS = (TensorProto.FLOAT, TensorProto.FLOAT16, TensorProto.DOUBLE)
"""The element types of most operators in the first operator sets."""
_UNBOUNDED = ((1, "min", -inf), (2, "max", inf))


def cast_6(step: Adaptation) -> list[NodeProto]:
    """Write the element type by number, not by name."""
    step.give("to", TensorProto.DataType.Value(step.value("to").decode().upper()))
    return [step.node]


def clip_11(step: Adaptation) -> list[NodeProto]:
    """Write bounds as operands from operator set 11 on; ONNX's own version converter would make them float.

    From 11 on an omitted bound does not limit; below, its default is the largest float, which clips infinities.
    """
    x = step.operand(0)
    if step.up:
        bounds = [None if step.value(name) == at else step.value(name) for _, name, at in _UNBOUNDED]
        step.drop("min", "max")
        step.set_operands([x, *(_scalar_like(step, x, bound) for bound in bounds)])
    else:
        for place, name, unbounded in _UNBOUNDED:
            step.give(name, _one_float(step, place, name) if step.operand(place) else unbounded)
        step.set_operands([x])
    return [step.node]


def pad_11(step: Adaptation) -> list[NodeProto]:
    """Write pads and value as operands from operator set 11 on, the value in the data's element type."""
    x = step.operand(0)
    if step.up:
        pads = step.rewriter.constant(np.array(step.value("pads"), np.int64), "pads")
        value = step.value("value")
        if value == 0 and copysign(1, value) == 1:
            value = None  # It is the default; -0.0 is not.
        step.drop("pads", "value")
        step.set_operands([x, pads, _scalar_like(step, x, value)])
    else:
        step.give("pads", _constant(step, 1, "pads").tolist())
        if step.operand(2):
            step.give("value", _one_float(step, 2, "value"))
        step.set_operands([x])
    return [step.node]


def resize_11(step: Adaptation) -> list[NodeProto] | None:
    """Write out the coordinate mode of Resize-10, which leaves the nearest element undefined when it shrinks."""
    if not step.up:
        return None
    scales = step.constant(step.operand(1))
    if step.value("mode") == b"nearest":
        if scales is None or np.any(scales < 1):
            raise ValueError("below operator set 11 it is undefined which element is nearest when it shrinks")
        step.give("nearest_mode", "floor")
    step.give("coordinate_transformation_mode", "asymmetric")
    region = step.rewriter.constant(np.zeros(0, np.float32), "roi")
    step.set_operands([step.operand(0), region, step.operand(1)])
    return [step.node]


def resize_13(step: Adaptation) -> list[NodeProto]:
    """Omit unused operands from operator set 13 on, write them as empty tensors below."""
    x, roi, scales, sizes = map(step.operand, range(4))
    if step.up:
        scales = "" if sizes else scales
    else:
        roi = roi or step.rewriter.constant(np.zeros(0, np.float32), "roi")
        scales = scales or step.rewriter.constant(np.zeros(0, np.float32), "scales")
    step.set_operands([x, roi, scales, sizes])
    return [step.node]


def moved(*names: str, kind: type[np.generic] = np.int64) -> Callable[[Adaptation], list[NodeProto]]:
    """Return an adapter for attributes of the older version that the newer has as operands after the first."""

    def rule(step: Adaptation) -> list[NodeProto]:
        if step.up:
            operands = list(step.node.input[:1])
            for name in (name for name in names if step.given(name)):
                value = np.atleast_1d(np.array(step.value(name), kind))
                operands.append(step.rewriter.constant(value, "constant"))
            step.drop(*names)
        else:
            for place in range(len(names) + 1, len(step.node.input)):
                if step.operand(place):
                    raise ValueError(f"{version_title(step.target)} has no {quoted(step.source.inputs[place].name)}")
            for place, name in enumerate(names, 1):
                if step.operand(place):
                    value = _constant(step, place, name)
                    single = step.target.attributes[name].type == OpSchema.AttrType.INT
                    step.give(name, value.item() if single else value.tolist())
            operands = [step.operand(0)]
        step.set_operands(operands)
        return [step.node]

    return rule


def scatter_11(step: Adaptation) -> list[NodeProto] | None:
    """Rename it to ScatterElements from operator set 11 on."""
    return _renamed(step, "ScatterElements", "axis") if step.up else None


def upsample_10(step: Adaptation) -> list[NodeProto] | None:
    """Rename it to Resize from operator set 10 on."""
    return _renamed(step, "Resize", "mode") if step.up else None


def _renamed(step: Adaptation, op_type: str, *attributes: str) -> list[NodeProto]:
    """Return the node with another operator's name and explicit attributes."""
    for name in attributes:
        step.give(name, step.value(name))
    step.node.op_type = op_type
    return [step.node]


def constant_9(step: Adaptation) -> list[NodeProto] | None:
    """Make an initializer of a type that Constant lacks below operator set 9; functions cannot hold one."""
    tensor = tensor_of(step.node)
    if step.up or isinstance(step.scope.holder, FunctionProto) or tensor is None or tensor.data_type in _FLOATS:
        return None
    step.rewriter.initializers.append(tensor)
    step.rewriter.initializers[-1].name = step.node.output[0]
    return []


def constant_12(step: Adaptation) -> list[NodeProto] | None:
    """Write numbers and strings as tensors below operator set 12."""
    names = [name for name in NUMBERS_AND_STRINGS if step.given(name)]
    tensor = tensor_of(step.node)
    if step.up or not names or tensor is None:
        return None
    step.drop(*names)
    step.node.attribute.append(helper.make_attribute("value", tensor))
    return [step.node]


def reduction_axes(step: Adaptation) -> list[NodeProto] | None:
    """Write axes as an operand on the way up, as an attribute on the way down, where no axes mean all dimensions."""
    if step.up:
        return moved("axes")(step)
    axes = _constant(step, 1, "axes") if step.operand(1) else np.zeros(0, np.int64)
    if not axes.size and step.value("noop_with_empty_axes"):
        raise ValueError(f"{version_title(step.target)} cannot reduce along no axis")
    step.drop("noop_with_empty_axes")
    if axes.size:
        step.give("axes", axes.tolist())
    step.set_operands([step.operand(0)])
    return [step.node]


def shape_15(step: Adaptation) -> list[NodeProto] | None:
    """Slice the range from start to end out of the whole shape below operator set 15."""
    start, end = step.value("start"), step.value("end")
    if step.up or (start == 0 and end is None):
        return None
    result, whole = step.node.output[0], step.rewriter.fresh("whole")
    bounds = (start, np.iinfo(np.int64).max if end is None else end)
    operands = [step.rewriter.constant(np.array([bound], np.int64), "bound") for bound in bounds]
    step.drop("start", "end")
    step.node.output[0] = whole
    return [step.node, helper.make_node("Slice", [whole, *operands], [result], step.rewriter.fresh("Slice"))]


def split_18(step: Adaptation) -> list[NodeProto] | None:
    """Write the number of parts from operator set 18 on, the sizes of unequal parts below."""
    if step.up and not step.operand(1):
        step.give("num_outputs", len(step.node.output))
    if step.up or not step.given("num_outputs"):
        return None
    parts, axis, shape = step.value("num_outputs"), step.value("axis"), step.shape(step.operand(0))
    size = None if shape is None else shape[axis]
    if not isinstance(size, int):
        raise ValueError(f"{version_title(step.target)} needs the size of dimension {axis} to split it; declare it")
    step.drop("num_outputs")
    if size % parts:
        part = ceil(size / parts)
        last = size - part * (parts - 1)
        if last < 0:
            raise ValueError(f"a dimension of size {size} cannot have {parts} parts")
        sizes = np.array([*[part] * (parts - 1), last], np.int64)
        step.set_operands([step.operand(0), step.rewriter.constant(sizes, "split")])
    return [step.node]


def _scalar_like(step: Adaptation, x: str, value: float | None) -> str:
    """Return the name of a scalar constant in the element type of `x`; empty if the value is None."""
    if value is None:
        return ""
    code = step.element_type(x)
    if not code:
        raise ValueError("the element type is not known; declare it")
    with np.errstate(over="ignore"):  # The largest float is an infinity in a narrower type.
        return step.rewriter.constant(np.array(value).astype(helper.tensor_dtype_to_np_dtype(code)), "bound")


def _constant(step: Adaptation, place: int, name: str) -> NDArray[Any]:
    array = step.constant(step.operand(place))
    if array is None:
        raise ValueError(f"its operand {name} is computed, and {version_title(step.target)} has it as an attribute")
    return array


def _one_float(step: Adaptation, place: int, name: str) -> float:
    array = _constant(step, place, name)
    value = float(np.float32(array.item())) if array.size == 1 else None
    if value is None or (value != array.item() and not np.isnan(value)):
        raise ValueError(f"its {name} is not a float, and {version_title(step.target)} has it as a float attribute")
    return value
