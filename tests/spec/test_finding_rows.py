"""Rows are found by operator, operator set, dialect and variant, or refused in one clear line."""

from __future__ import annotations

from typing import Any

import pytest
from onnx.defs import onnx_opset_version

from vinculum.errors import SpecLookupError
from vinculum.spec.model import Dialect, OperatorSpec
from vinculum.spec.onnx_div import DIV_1, DIV_6, DIV_7, DIV_13, DIV_14
from vinculum.spec.onnx_reciprocal import RECIPROCAL_6, RECIPROCAL_13
from vinculum.spec.openvino_divide import DIVIDE_1
from vinculum.spec.rows import NEWEST_OPERATOR_SET, find, find_version, versions
from vinculum.spec.sonnx_div import DIV_FLOAT, DIV_INT, DIV_REAL


class TestFind:
    """An operator set selects the version in force there; none selects the newest."""

    @pytest.mark.parametrize(
        ("name", "opset", "row"),
        [
            ("Div", None, DIV_14),
            ("Div", 1, DIV_1),
            ("Div", 10, DIV_7),
            ("Div", 14, DIV_14),
            ("Div", 28, DIV_14),
            ("Reciprocal", 12, RECIPROCAL_6),
            ("Reciprocal", None, RECIPROCAL_13),
            ("Divide", None, DIVIDE_1),
            ("Divide", 8, DIVIDE_1),
        ],
    )
    def test_by_name_and_operator_set(self, name: str, opset: int | None, row: OperatorSpec) -> None:
        assert find(name, opset=opset) is row

    def test_the_newest_operator_set(self) -> None:
        assert onnx_opset_version() == NEWEST_OPERATOR_SET

    @pytest.mark.parametrize(("variant", "row"), [("real", DIV_REAL), ("float", DIV_FLOAT), ("int", DIV_INT)])
    def test_sonnx_by_variant(self, variant: str, row: OperatorSpec) -> None:
        assert find("Div", dialect="sonnx", variant=variant) is row
        assert find("Div", dialect=Dialect.SONNX, variant=variant) is row


class TestVersions:
    """Versions stand oldest first, and a version is found by its own number only."""

    def test_oldest_first(self) -> None:
        assert versions("Div") == (DIV_1, DIV_6, DIV_7, DIV_13, DIV_14)
        assert versions("Div", dialect="sonnx") == (DIV_REAL, DIV_FLOAT, DIV_INT)


class TestRefusals:
    """A SpecLookupError says in one line what was given and what is allowed."""

    @pytest.mark.parametrize(
        ("arguments", "words"),
        [
            ({"name": "div"}, ["'div'", "Div, Reciprocal, Divide", "did you mean 'Div'?"]),
            ({"name": "Reciprocol"}, ["did you mean 'Reciprocal'?"]),
            ({"name": "Softmax"}, ["'Softmax'", "allowed: Div, Reciprocal, Divide"]),
            ({"name": None}, ["None", "allowed"]),
            ({"name": "Divide", "dialect": "onnx"}, ["'Divide' is of OpenVINO", "allowed: Div, Reciprocal"]),
            ({"name": "Reciprocal", "dialect": "sonnx"}, ["SONNX", "'Reciprocal'", "allowed: Div"]),
            ({"name": "Div", "dialect": "tflite"}, ["'tflite'", "onnx, openvino, sonnx"]),
            ({"name": "Div", "opset": 29}, ["operator set 29 is not known", "1 to 28"]),
            ({"name": "Div", "opset": 10**30}, ["is not known", "1 to 28"]),
            ({"name": "Div", "dialect": "sonnx"}, ["no variant given", "real, float, int"]),
            ({"name": "Div", "dialect": "sonnx", "variant": "Int"}, ["'Int'", "real, float, int"]),
            (
                {"name": "Div", "dialect": "sonnx", "variant": "int", "opset": 14},
                ["opset=14", "leave it out"],
            ),
            ({"name": "Div", "variant": "int"}, ["'int'", "leave it out", "'sonnx'"]),
        ],
    )
    def test_find(self, arguments: dict[str, Any], words: list[str]) -> None:
        with pytest.raises(SpecLookupError) as refusal:
            find(**arguments)
        line = str(refusal.value)
        assert [word for word in words if word not in line] == []
        assert "\n" not in line

    @pytest.mark.parametrize(
        ("name", "version", "words"),
        [
            ("Div", 10, ["no version 10", "1, 6, 7, 13, 14", "operator set 10 uses Div-7"]),
            ("Reciprocal", 7, ["1, 6, 13", "Reciprocal-6"]),
            ("Div", 0, ["0", "from 1 on"]),
            ("Div", False, ["False", "from 1 on"]),
        ],
    )
    def test_find_version(self, name: str, version: int, words: list[str]) -> None:
        with pytest.raises(SpecLookupError) as refusal:
            find_version(name, version)
        assert [word for word in words if word not in str(refusal.value)] == []

    def test_sonnx_numbers_no_versions(self) -> None:
        with pytest.raises(SpecLookupError, match="does not number"):
            find_version("Div", 1, dialect="sonnx", variant="int")
