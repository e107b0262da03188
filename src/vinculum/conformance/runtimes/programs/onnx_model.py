"""An operation as an ONNX model of one node, for every runtime that reads ONNX."""

from __future__ import annotations

from onnx import AttributeProto, ModelProto, helper, numpy_helper

from vinculum.conformance.cases.operation import Operation, quotient_shape
from vinculum.models.engines.onnxruntime.session import IR_VERSION
from vinculum.spec.model import AttributeValue


def onnx_model(operation: Operation) -> ModelProto:
    """Return the model of an operation: operands declared as they are, the quotient with the dividend's type.

    The quotient's shape is undeclared where the operands do not fit. The model imports the operator set that introduced
    the version, so that older versions are really tested. It is not checked: the runtime must find out whether it is
    legal.
    """
    spec = operation.spec
    names = [operand.name for operand in spec.inputs]
    codes = [helper.np_dtype_to_tensor_dtype(array.dtype) for array in operation.operands]
    node = helper.make_node(spec.name, names, [spec.outputs[0].name])
    node.attribute.extend(_attribute(name, value) for name, value in operation.attributes.items())
    types = dict(zip(names, codes, strict=True))
    graph = helper.make_graph(
        [node],
        spec.title,
        [helper.make_tensor_value_info(name, types[name], array.shape) for name, array in operation.inputs.items()],
        [helper.make_tensor_value_info(spec.outputs[0].name, codes[0], quotient_shape(operation))],
        [numpy_helper.from_array(array, name) for name, array in operation.constants.items()],
    )
    opset = helper.make_opsetid(spec.domain, spec.since_version)
    return helper.make_model(graph, opset_imports=[opset], ir_version=IR_VERSION)


def _attribute(name: str, value: AttributeValue) -> AttributeProto:
    # onnx cannot infer the type of an empty list.
    return helper.make_attribute(name, value, attr_type=AttributeProto.INTS if value == () else None)
