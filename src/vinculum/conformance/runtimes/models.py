"""An operation as a model of one node: in ONNX for every runtime that reads it, and as an OpenVINO IR."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from xml.sax.saxutils import quoteattr

from onnx import AttributeProto, ModelProto, helper, numpy_helper

from vinculum.conformance.cases.operation import Operation, quotient_shape
from vinculum.models.engines.onnxruntime.session import IR_VERSION
from vinculum.models.engines.openvino.reading import AXIS
from vinculum.models.engines.openvino.tensors import openvino_name, packed
from vinculum.spec.model import AttributeValue
from vinculum.tensors.storage import element_type_of

_PRECISIONS = {"f16": "FP16", "f32": "FP32", "f64": "FP64"}
_ALIGNMENT = 64


def onnx_model(operation: Operation) -> ModelProto:
    """Return the ONNX model of an operation: operands declared as they are, the quotient with the dividend's type.

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


def openvino_ir(operation: Operation) -> tuple[bytes, bytes]:
    """Return the contents of the ``.xml`` and the ``.bin`` file of an operation's IR.

    Operands are declared as they are, the quotient with the dividend's type. Attributes are written exactly as given,
    legal or not. The quotient's shape is undeclared where the operands do not fit. The data is that of the constants,
    each followed by `padding`.
    """
    spec, data, layers, ports = operation.spec, b"", list[str](), list[str]()
    for place, (named, array, constant) in enumerate(
        zip(spec.inputs, operation.operands, operation.constant, strict=True)
    ):
        precision = openvino_name(element_type_of(array))
        declared = {"element_type": precision, "shape": ",".join(map(str, array.shape))}
        if constant:
            raw = packed(array, element_type_of(array))
            # OpenVINO writes one byte for a constant without elements, and cannot read a file that has none.
            declared |= {"offset": str(len(data)), "size": str(len(raw) or 1)}
            data += raw + bytes(padding(raw))
        ports.append(_port(place, precision, array.shape))
        output = _port(0, precision, array.shape, named.name)
        layers += _layer(place, named.name, "Const" if constant else "Parameter", declared, (), output)
    count, result = len(ports), spec.outputs[0].name
    precision = openvino_name(element_type_of(operation.operands[0]))
    quotient = _port(count, precision, quotient_shape(operation) or (), result)
    attributes = {AXIS if name == "axis" else name: _text(value) for name, value in operation.attributes.items()}
    layers += _layer(count, spec.name, spec.name, attributes, ports, quotient)
    layers += _layer(count + 1, result, "Result", {}, [_port(0, precision, quotient_shape(operation) or ())], "")
    edges = [_edge((place, 0), (count, place)) for place in range(count)]
    text = [
        '<?xml version="1.0"?>',
        f'<net name={quoteattr(spec.title)} version="11">',
        *("\t<layers>", *layers, "\t</layers>"),
        *("\t<edges>", *edges, _edge((count, count), (count + 1, 0)), "\t</edges>"),
        "</net>\n",
    ]
    return "\n".join(text).encode(), data


def padding(raw: bytes) -> int:
    """Return the number of zeros, at least one, after a constant's bytes in the data of an IR."""
    return _ALIGNMENT - len(raw) % _ALIGNMENT


def _layer(
    number: int, name: str, kind: str, data: Mapping[str, str], inputs: Sequence[str], output: str
) -> Sequence[str]:
    """Return the lines of a layer."""
    attributes = "".join(f" {key}={quoteattr(value)}" for key, value in data.items())
    named = f" output_names={quoteattr(name)}" if kind == "Result" else ""
    return [
        f'\t\t<layer id="{number}" name={quoteattr(name)} type="{kind}" version="opset1"{named}>',
        *([f"\t\t\t<data{attributes} />"] if data else ()),
        *([f"\t\t\t<input>{''.join(inputs)}</input>"] if inputs else ()),
        *([f"\t\t\t<output>{output}</output>"] if output else ()),
        "\t\t</layer>",
    ]


def _port(number: int, element_type: str, shape: Sequence[int], name: str = "") -> str:
    precision = _PRECISIONS.get(element_type, element_type.upper())
    named = f" names={quoteattr(name)}" if name else ""
    dims = "".join(f"<dim>{size}</dim>" for size in shape)
    return f'<port id="{number}" precision="{precision}"{named}>{dims}</port>'


def _edge(source: tuple[int, int], target: tuple[int, int]) -> str:
    ends = f'from-layer="{source[0]}" from-port="{source[1]}" to-layer="{target[0]}" to-port="{target[1]}"'
    return f"\t\t<edge {ends} />"


def _text(value: AttributeValue) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)
