"""An operation as an IR: what a runtime reads is what was asked, and what is not asked is not written."""

from __future__ import annotations

from xml.etree.ElementTree import Element, fromstring

import numpy as np
import pytest

from tests.conformance.asking import operation, small
from vinculum.conformance.cases.operation import Operation
from vinculum.conformance.runtimes.programs.openvino_ir import openvino_ir
from vinculum.spec.element_types import INT32
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
    def test_layers(self, constant: bool) -> None:
        asked = small(DIVIDE_1, INT32, constant)
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
