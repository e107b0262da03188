"""The XML and the data of an IR."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from xml.etree.ElementTree import Element, fromstring

import numpy as np
import pytest

from tests.conformance.runtimes.programs.ir_models import DIVIDING, pairs
from tests.models.conftest import one_line
from vinculum.conformance.runtimes.programs.ir_writer import OpenvinoWriter, TensorType, Value
from vinculum.errors import ModelError
from vinculum.models.engines.openvino.tensors import unpacked
from vinculum.spec.element_types import DOUBLE, FLOAT, INT4, INT32, UINT4, ElementType
from vinculum.tensors.storage import dtype_of

__all__ = ["one_line"]

OneLine = Callable[..., AbstractContextManager[None]]


def _handing_out(*arrays: Value) -> OpenvinoWriter:
    writer = OpenvinoWriter()
    for number, value in enumerate(arrays):
        writer.result(value, f"y{number}")
    return writer


def _constant(element_type: ElementType, values: object) -> Value:
    array = np.array(values).astype(dtype_of(element_type))
    return Value(TensorType(element_type, array.shape), "", array)


def _ratio() -> OpenvinoWriter:
    writer = OpenvinoWriter()
    writer.reserve(["x"])
    x = writer.parameter("x", TensorType(INT32, (None, 2)))
    data = {"auto_broadcast": "numpy", "m_pythondiv": "false"}
    quotient = Value(TensorType(INT32, (None, 2)), "a,b")
    writer.result(writer.layer("Divide", "x", data, (x, _constant(INT32, [3, -4])), quotient), "a,b")
    return writer


class TestXml:
    """Version 11, layers of opset1, ports with precisions and sizes, names of tensors, edges."""

    def test_layers(self) -> None:
        root = fromstring(_ratio().xml("net"))
        assert (root.tag, root.attrib) == ("net", {"name": "net", "version": "11"})
        layers = root.findall("layers/layer")
        assert [(layer.get("id"), layer.get("name"), layer.get("type"), layer.get("version")) for layer in layers] == [
            ("0", "x", "Parameter", "opset1"),
            ("1", "constant", "Const", "opset1"),
            ("2", "x_2", "Divide", "opset1"),
            ("3", "a,b/sink_port_0", "Result", "opset1"),
        ]
        assert [_data(layer) for layer in layers] == [
            {"shape": "?,2", "element_type": "i32"},
            {"element_type": "i32", "shape": "2", "offset": "0", "size": "8"},
            {"auto_broadcast": "numpy", "m_pythondiv": "false"},
            None,
        ]
        assert layers[3].get("output_names") == "a\\,b"
        port = layers[2].find("output/port")
        assert port is not None
        assert port.attrib == {"id": "2", "precision": "I32", "names": "a\\,b"}
        assert [dim.text for dim in port.iter("dim")] == ["-1", "2"]
        assert [port.get("id") for port in layers[2].iterfind("input/port")] == ["0", "1"]

    def test_edges(self) -> None:
        edges = [tuple(edge.attrib.values()) for edge in fromstring(_ratio().xml("net")).iterfind("edges/edge")]
        assert edges == [("0", "0", "2", "0"), ("1", "0", "2", "1"), ("2", "2", "3", "0")]

    @pytest.mark.parametrize("name", ["\x00", "\x1b[1m", "\x0b", "\ufffe", "\ud800"])
    def test_characters_that_xml_lacks(self, one_line: OneLine, name: str) -> None:
        with one_line(ModelError, "holds a character that XML does not allow; rename it"):
            OpenvinoWriter().parameter(name, TensorType(FLOAT, (2,)))


class TestData:
    """Constants are aligned, equal ones are there once, and every type comes back as it went."""

    def test_alignment_and_repetition(self) -> None:
        values = [_constant(FLOAT, [1, 2]), _constant(DOUBLE, [3]), _constant(FLOAT, [[1], [2]]), _constant(INT32, [])]
        writer = _handing_out(*values, values[0])
        layers = fromstring(writer.xml("m")).findall("layers/layer[@type='Const']")
        places = [(_data(layer) or {}).get("offset") for layer in layers]
        assert places == ["0", "64", "0", "128"]
        assert len(writer.data()) == 129
        assert [(_data(layer) or {}).get("shape") for layer in layers] == ["2", "1", "2, 1", "0"]

    @pytest.mark.parametrize("element_type", DIVIDING)
    def test_every_type(self, element_type: ElementType) -> None:
        values, _ = pairs(element_type)
        writer = _handing_out(Value(TensorType(element_type, values.shape), "", values))
        output = unpacked(np.frombuffer(writer.data(), np.uint8), element_type, values.size)
        assert output.dtype == values.dtype
        assert np.array_equal(output.astype(object), values.astype(object), equal_nan=False) or (
            output.tobytes() == values.tobytes()
        )

    @pytest.mark.parametrize(("element_type", "values"), [(UINT4, [1, 15, 9]), (INT4, [1, -1, -8])])
    def test_two_in_a_byte(self, element_type: ElementType, values: list[int]) -> None:
        assert _handing_out(_constant(element_type, values)).data() == bytes([0xF1, values[2] & 15])


def _data(layer: Element) -> dict[str, str] | None:
    data = layer.find("data")
    return None if data is None else dict(data.attrib)
