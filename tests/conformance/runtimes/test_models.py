"""Operations as models, in ONNX and as an OpenVINO IR."""

from __future__ import annotations

from typing import Any
from xml.etree.ElementTree import Element, fromstring

import ml_dtypes
import numpy as np
import pytest
from onnx import AttributeProto, ModelProto, TensorProto

from tests.conformance.asking import operation
from vinculum.conformance.cases.operation import Operation
from vinculum.conformance.runtimes.models import onnx_model, openvino_ir
from vinculum.spec.onnx_div import DIV_1, DIV_6, DIV_14
from vinculum.spec.openvino_divide import DIVIDE_1

A = np.arange(6, dtype=np.float32).reshape(2, 3)


def _declared(model: ModelProto) -> dict[str, tuple[int, list[int] | None]]:
    types = {value.name: value.type.tensor_type for value in (*model.graph.input, *model.graph.output)}
    return {
        name: (t.elem_type, [dim.dim_value for dim in t.shape.dim] if t.HasField("shape") else None)
        for name, t in types.items()
    }


class TestOnnx:
    """A model has one node of the requested version."""

    @pytest.mark.parametrize(
        ("operands", "declared"),
        [
            ((A, A[0].astype(ml_dtypes.bfloat16)), [(1, [2, 3]), (TensorProto.BFLOAT16, [3]), (1, [2, 3])]),
            ((A, A[:, :2]), [(1, [2, 3]), (1, [2, 2]), (1, None)]),
            ((A[:0], np.ones((), np.float32)), [(1, [0, 3]), (1, []), (1, [0, 3])]),
        ],
        ids=["of two types", "that do not fit", "without elements"],
    )
    def test_operands_are_declared_as_they_are(self, operands: tuple[np.ndarray, ...], declared: list[object]) -> None:
        assert _declared(onnx_model(operation(DIV_14, *operands))) == dict(zip("ABC", declared, strict=True))

    def test_attributes_stand_as_given_legal_or_not(self) -> None:
        (node,) = onnx_model(operation(DIV_6, A, A, broadcast=1, axis=-7)).graph.node
        assert {a.name: a.i for a in node.attribute} == {"broadcast": 1, "axis": -7}
        (node,) = onnx_model(operation(DIV_14, A, A, fuzz="x")).graph.node
        assert {a.name: a.s for a in node.attribute} == {"fuzz": b"x"}
        for value in ((), (0, 1)):
            (node,) = onnx_model(operation(DIV_1, A, A, consumed_inputs=value)).graph.node
            assert [(tuple(a.ints), a.type) for a in node.attribute] == [(value, AttributeProto.INTS)]


def _layers(asked: Operation) -> list[Element]:
    return fromstring(openvino_ir(asked)[0]).findall("layers/layer")  # our own text


@pytest.mark.parametrize("constant", [(False, False), (True, False), (True, True)])
def test_every_port_of_an_ir_is_joined(constant: tuple[bool, bool]) -> None:
    """One edge joins each input to an output of the same declaration; the data of constants are consecutive."""
    content, data = openvino_ir(operation(DIVIDE_1, A, A[0], constant=constant))
    inputs, outputs, at = dict[tuple[str, str], bytes](), dict[tuple[str, str], bytes](), 0
    for layer in fromstring(content).findall("layers/layer"):
        for kind, found in (("input", inputs), ("output", outputs)):
            for port in layer.findall(f"{kind}/port"):
                dims = [size.text for size in port.findall("dim")]
                found[layer.get("id", ""), port.get("id", "")] = f"{port.get('precision')} {dims}".encode()
        if layer.get("type") == "Const":
            declared = {name: int(size) for name, size in layer.find("data").items() if name in ("offset", "size")}  # type: ignore[union-attr]
            assert declared["offset"] == at
            at += declared["size"] + 64 - declared["size"] % 64
    assert at == len(data)
    edges = [edge.attrib for edge in fromstring(content).findall("edges/edge")]
    joined = {(e["to-layer"], e["to-port"]): outputs[e["from-layer"], e["from-port"]] for e in edges}
    assert joined == inputs
    assert len(joined) == len(edges) == 3


def _divide(asked: Operation) -> Element:
    (layer,) = (layer for layer in _layers(asked) if layer.get("type") == "Divide")
    return layer


@pytest.mark.parametrize(
    ("attributes", "written"),
    [
        ({}, None),
        (
            {"m_pythondiv": False, "auto_broadcast": "pdpd", "axis": 1},
            {"m_pythondiv": "false", "auto_broadcast": "pdpd", "auto_broadcast.auto_broadcast_axis": "1"},
        ),
        ({"auto_broadcast": 'side"ways'}, {"auto_broadcast": 'side"ways'}),
    ],
    ids=["none", "legal", "illegal"],
)
def test_attributes_of_an_ir(attributes: dict[str, Any], written: dict[str, str] | None) -> None:
    """Attributes are spelled as in OpenVINO."""
    data = _divide(operation(DIVIDE_1, A, A, **attributes)).find("data")
    assert (None if data is None else data.attrib) == written
