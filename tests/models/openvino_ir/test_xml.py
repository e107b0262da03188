"""The XML of an IR file is well formed, or the error is one line."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager

import pytest

from vinculum.errors import ModelError
from vinculum.models.openvino_ir.xml import read_net, whole_number

OneLine = Callable[..., AbstractContextManager[None]]

PARAMETER = '<layer id="0" name="x" type="Parameter" version="opset1"><output><port id="0"/></output></layer>'
RESULT = '<layer id="1" name="y" type="Result" version="opset1"><input><port id="0"/></input></layer>'
EDGE = '<edge from-layer="0" from-port="0" to-layer="1" to-port="0"/>'


def _net(layers: str = PARAMETER + RESULT, edges: str = EDGE, version: str = "11") -> bytes:
    return f'<net version="{version}"><layers>{layers}</layers><edges>{edges}</edges></net>'.encode()


class TestRead:
    """Layers, ports, edges and names, of IR versions 10 and 11."""

    @pytest.mark.parametrize("version", ["10", "11"])
    def test_layers_and_edges(self, version: str) -> None:
        net = read_net(_net(version=version))
        assert [layer.title for layer in net.layers.values()] == ["layer 'x' (Parameter)", "layer 'y' (Result)"]
        assert net.layers["0"].outputs == (("0", "0"),)
        assert net.sources == {("1", "0"): ("0", "0")}

    def test_names_with_commas(self) -> None:
        named = PARAMETER.replace('id="0"/>', r'id="0" names="a\,b,c"/>')
        assert read_net(_net(named + RESULT)).layers["0"].tensor_names == ("a,b", "c")

    def test_utf_16(self) -> None:
        text = '<?xml version="1.0" encoding="utf-16"?>' + _net().decode()
        assert len(read_net(text.encode("utf-16")).layers) == 2


class TestHostile:
    """Bad input: an XML bomb or external entity."""

    @pytest.mark.parametrize(
        "doctype",
        [
            '<!ENTITY a "aaaa"><!ENTITY b "&a;&a;&a;&a;">',
            '<!ENTITY a SYSTEM "file:///etc/passwd">',
            '<!ENTITY % a SYSTEM "http://localhost/a.dtd"> %a;',
            "",
        ],
    )
    def test_every_declaration_is_refused(self, one_line: OneLine, doctype: str) -> None:
        content = f'<?xml version="1.0"?><!DOCTYPE net [{doctype}]>'.encode() + _net()
        with one_line(ModelError, "DOCTYPE"):
            read_net(content)

    def test_an_external_document_type(self, one_line: OneLine) -> None:
        with one_line(ModelError, "DOCTYPE"):
            read_net(b'<!DOCTYPE net SYSTEM "http://localhost/net.dtd">' + _net())

    def test_elements_nested_without_end(self, one_line: OneLine) -> None:
        with one_line(ModelError, "version"):
            read_net(b"<net>" + b"<a>" * 100_000 + b"</a>" * 100_000 + b"</net>")


class TestMalformed:
    """Bad input: a truncated or malformed XML file."""

    @pytest.mark.parametrize(
        ("content", "part"),
        [
            (b"", "well-formed"),
            (b"<net", "well-formed"),
            (_net()[:-9], "well-formed"),
            (b"\xff\xfe\x00", "well-formed"),
            (b'<?xml version="1.0" encoding="foo"?>' + _net(), "unknown encoding"),
            (b'<html version="11"/>', "root is 'html'"),
            (_net(version="7"), "version '7'; allowed: '10', '11'"),
            (b"<net/>", "version ''"),
            (_net(PARAMETER + PARAMETER), "has the id '0'"),
            (_net(PARAMETER.replace('id="0" name', "name")), "has no id"),
            (_net(PARAMETER.replace('type="Parameter"', "")), "has no type"),
            (_net(PARAMETER.replace('port id="0"', "port")), "output port without an id"),
            (_net(PARAMETER.replace("<output>", '<output><port id="0"/>')), "two ports of one id"),
            (_net(PARAMETER.replace("/></output>", "><dim>x</dim></port></output>")), "'x'; it must be a whole number"),
            (_net(PARAMETER.replace("/></output>", "><dim/></port></output>")), "''; it must be a whole number"),
            (_net(PARAMETER.replace("/></output>", "><dim>-2</dim></port></output>")), "-2; allowed: -1"),
            (
                _net(PARAMETER.replace("/></output>", f"><dim>{2**62}</dim><dim>4</dim></port></output>")),
                "2**63 - 1",
            ),
            (_net(edges='<edge from-layer="0" from-port="0" to-layer="1"/>'), "an edge of the IR file lacks"),
            (_net(edges=EDGE + EDGE), "input port '0' of layer 'y' (Result) has two edges"),
            (_net(edges=EDGE.replace('from-port="0"', 'from-port="5"')), "output port '5' of layer 'x'"),
            (_net(edges=EDGE.replace('from-layer="0"', 'from-layer="8"')), "layer of id '8'"),
            (_net(edges=EDGE.replace('to-port="0"', 'to-port="5"')), "input port '5' of layer 'y'"),
        ],
    )
    def test_every_part(self, one_line: OneLine, content: bytes, part: str) -> None:
        with one_line(ModelError, part):
            read_net(content)


class TestWholeNumber:
    """A number is digits and perhaps a sign; nothing else that Python would take."""

    def test_numbers(self) -> None:
        assert [whole_number(text, "x") for text in ("0", "-1", " 42 ", "9" * 19)] == [0, -1, 42, 10**19 - 1]

    @pytest.mark.parametrize("text", ["", "x", "1.5", "1e3", "0x10", "1_000", "+1", "٣", "9" * 20, "9" * 5000])
    def test_others(self, one_line: OneLine, text: str) -> None:
        with one_line(ModelError, "x is", "whole number"):
            whole_number(text, "x")
