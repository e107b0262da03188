"""An operation as an ONNX model of one node, which every runtime that reads ONNX can be asked."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from numpy.typing import NDArray
from onnx import AttributeProto, ModelProto, helper, numpy_helper

from vinculum.conformance.cases.operation import Operation, quotient_shape
from vinculum.models.engines.onnxruntime.session import IR_VERSION
from vinculum.spec.model import AttributeValue


@dataclass(frozen=True, eq=False)
class OnnxProgram:
    """A model, and what it is to be given.

    Attributes
    ----------
    model : ModelProto
        It imports the operator set that introduced the version, so that older versions are really asked. Nothing has
        checked it: whether it is legal is what the runtime is asked.
    inputs : Mapping of str to array
        The operands that are not constants, in the operator's order.
    """

    model: ModelProto
    inputs: Mapping[str, NDArray[Any]]


def onnx_program(operation: Operation) -> OnnxProgram:
    """Return the model that asks for an operation: every operand declared as it is, the quotient as the dividend.

    The quotient's shape is left open where the operands do not fit.
    """
    spec = operation.spec
    named = list(zip((operand.name for operand in spec.inputs), operation.operands, operation.constant, strict=True))
    codes = {name: helper.np_dtype_to_tensor_dtype(array.dtype) for name, array, _ in named}
    result, shape = spec.outputs[0].name, quotient_shape(operation)
    node = helper.make_node(spec.name, list(codes), [result])
    node.attribute.extend(_attribute(name, value) for name, value in operation.attributes.items())
    graph = helper.make_graph(
        [node],
        spec.title,
        [helper.make_tensor_value_info(name, codes[name], a.shape) for name, a, constant in named if not constant],
        [helper.make_tensor_value_info(result, codes[named[0][0]], shape)],
        [numpy_helper.from_array(array, name) for name, array, constant in named if constant],
    )
    opset = helper.make_opsetid(spec.domain, spec.since_version)
    model = helper.make_model(graph, opset_imports=[opset], ir_version=IR_VERSION)
    return OnnxProgram(model, {name: array for name, array, constant in named if not constant})


def _attribute(name: str, value: AttributeValue) -> AttributeProto:
    # Of an empty list onnx cannot tell what it would hold.
    return helper.make_attribute(name, value, attr_type=AttributeProto.INTS if value == () else None)
