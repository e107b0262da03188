"""An operation as an IR: what a runtime reads is what was asked, and what is not asked is not written."""

from __future__ import annotations

from pathlib import Path
from xml.etree.ElementTree import Element, fromstring

import numpy as np
import pytest

from tests.conformance.asking import operation, same_bits, small
from vinculum.conformance.cases.operation import Operation
from vinculum.conformance.runtimes.programs.models import openvino_ir
from vinculum.models.source import load
from vinculum.ops.openvino import divide
from vinculum.spec.element_types import ElementType
from vinculum.spec.openvino_divide import DIVIDE_1

A = np.arange(6, dtype=np.int32).reshape(2, 3)


def _layers(asked: Operation) -> list[Element]:
    return fromstring(openvino_ir(asked)[0]).findall("layers/layer")  # our own text


def _attributes(asked: Operation) -> dict[str, str]:
    (layer,) = (layer for layer in _layers(asked) if layer.get("type") == "Divide")
    data = layer.find("data")
    return {} if data is None else data.attrib


class TestFiles:
    """Operands as Parameters or as real Const layers, of every element type."""

    @pytest.mark.parametrize("constant", [False, True], ids=["run-time", "constant"])
    @pytest.mark.parametrize("element_type", DIVIDE_1.element_types, ids=str)
    def test_what_our_reader_makes_of_them(self, tmp_path: Path, element_type: ElementType, constant: bool) -> None:
        asked = small(DIVIDE_1, element_type, constant)
        xml, data = openvino_ir(asked)
        path = tmp_path / "division.xml"
        path.write_bytes(xml)
        path.with_suffix(".bin").write_bytes(data)
        (quotient,) = load(path).run(asked.inputs).values()
        assert same_bits(quotient, divide(*asked.operands))
        kinds = [layer.get("type") for layer in _layers(asked)]
        assert kinds == [*(["Const" if constant else "Parameter"] * 2), "Divide", "Result"]
        assert len(asked.inputs) == (0 if constant else 2)


class TestAttributes:
    """Those that are given, as OpenVINO spells them."""

    def test_nothing_is_written_that_is_not_asked(self) -> None:
        assert _attributes(operation(DIVIDE_1, A, A)) == {}

    def test_booleans_and_the_axis(self) -> None:
        asked = operation(DIVIDE_1, A, A, m_pythondiv=False, auto_broadcast="pdpd", axis=1)
        written = {"m_pythondiv": "false", "auto_broadcast": "pdpd", "auto_broadcast.auto_broadcast_axis": "1"}
        assert _attributes(asked) == written

    def test_what_must_be_refused_is_written_too(self) -> None:
        assert _attributes(operation(DIVIDE_1, A, A, auto_broadcast="sideways")) == {"auto_broadcast": "sideways"}

    def test_a_shape_that_is_not_known_is_left_open(self) -> None:
        (result,) = (layer for layer in _layers(operation(DIVIDE_1, A, A[:, :2])) if layer.get("type") == "Divide")
        assert result.findall("output/port/dim") == []
