"""Rows are found by operator, operator set, dialect and variant; other refusals are in ``tests/acceptance``."""

from __future__ import annotations

from typing import Any

import pytest
from onnx.defs import onnx_opset_version

from vinculum.errors import SpecLookupError
from vinculum.spec.model import Dialect, OperatorSpec
from vinculum.spec.onnx_div import DIV_14
from vinculum.spec.onnx_reciprocal import RECIPROCAL_13
from vinculum.spec.openvino_divide import DIVIDE_1
from vinculum.spec.rows import NEWEST_OPERATOR_SET, find, find_version, versions
from vinculum.spec.sonnx_div import DIV_FLOAT, DIV_INT, DIV_REAL


class TestFind:
    """An operator set selects the version in force there, as in test_onnx_rows; none selects the newest."""

    def test_by_name(self) -> None:
        assert [find(name) for name in ("Div", "Reciprocal", "Divide")] == [DIV_14, RECIPROCAL_13, DIVIDE_1]
        assert find("Div", opset=28) is DIV_14
        assert find("Divide", opset=8) is DIVIDE_1

    def test_the_newest_operator_set(self) -> None:
        assert onnx_opset_version() == NEWEST_OPERATOR_SET

    @pytest.mark.parametrize(("variant", "row"), [("real", DIV_REAL), ("float", DIV_FLOAT), ("int", DIV_INT)])
    def test_sonnx_by_variant(self, variant: str, row: OperatorSpec) -> None:
        assert find("Div", dialect="sonnx", variant=variant) is row
        assert find("Div", dialect=Dialect.SONNX, variant=variant) is row
        assert row in versions("Div", dialect="sonnx")


class TestRefusals:
    """A SpecLookupError has one line with what was given and what is allowed."""

    @pytest.mark.parametrize(
        ("arguments", "words"),
        [
            ({"name": None}, ["None", "allowed"]),
            ({"name": "Div", "dialect": "tflite"}, ["'tflite'", "onnx, openvino, sonnx"]),
            ({"name": "Div", "opset": 29}, ["operator set 29 is not known", "1 to 28"]),
            ({"name": "Div", "opset": 10**30}, ["is not known", "1 to 28"]),
            ({"name": "Div", "dialect": "sonnx", "variant": "Int"}, ["'Int'", "real, float, int"]),
            ({"name": "Div", "dialect": "sonnx", "variant": "int", "opset": 14}, ["opset=14", "leave it out"]),
        ],
    )
    def test_find(self, arguments: dict[str, Any], words: list[str]) -> None:
        with pytest.raises(SpecLookupError) as refusal:
            find(**arguments)
        line = str(refusal.value)
        assert [word for word in words if word not in line] == []
        assert "\n" not in line

    def test_a_truth_value_is_no_version(self) -> None:
        with pytest.raises(SpecLookupError, match="False is not a version; allowed: a whole number from 1 on"):
            find_version("Div", False)
