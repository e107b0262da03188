"""Rows are found by operator, operator set, dialect and variant, or refused in one clear line."""

from __future__ import annotations

import ast
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from onnx.defs import onnx_opset_version

from vinculum.errors import SpecLookupError
from vinculum.spec import rows
from vinculum.spec.model import Dialect, OperatorSpec
from vinculum.spec.onnx_div import DIV_1, DIV_6, DIV_7, DIV_13, DIV_14
from vinculum.spec.onnx_reciprocal import RECIPROCAL_6, RECIPROCAL_13
from vinculum.spec.openvino_divide import DIVIDE_1
from vinculum.spec.rows import NEWEST_OPERATOR_SET, ROWS, find, find_version, rows_of, versions
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

    def test_numpy_integers_are_whole_numbers(self) -> None:
        assert find("Div", opset=np.int64(10)) is DIV_7  # type: ignore[arg-type]  # typed int, taken as any index

    @pytest.mark.parametrize(("variant", "row"), [("real", DIV_REAL), ("float", DIV_FLOAT), ("int", DIV_INT)])
    def test_sonnx_by_variant(self, variant: str, row: OperatorSpec) -> None:
        assert find("Div", dialect="sonnx", variant=variant) is row
        assert find("Div", dialect=Dialect.SONNX, variant=variant) is row


class TestVersions:
    """Versions stand oldest first, and a version is found by its own number only."""

    def test_oldest_first(self) -> None:
        assert versions("Div") == (DIV_1, DIV_6, DIV_7, DIV_13, DIV_14)
        assert versions("Div", dialect="sonnx") == (DIV_REAL, DIV_FLOAT, DIV_INT)

    def test_find_version(self) -> None:
        assert find_version("Div", 6) is DIV_6
        assert find_version("Divide", 1, dialect="openvino") is DIVIDE_1

    def test_rows_of_a_dialect(self) -> None:
        assert rows_of() == ROWS
        assert rows_of("openvino") == (DIVIDE_1,)


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
            ({"name": "Div", "opset": 0}, ["0", "from 1 on"]),
            ({"name": "Div", "opset": -3}, ["-3", "from 1 on"]),
            ({"name": "Div", "opset": "14"}, ["'14'", "from 1 on"]),
            ({"name": "Div", "opset": 14.0}, ["14.0", "from 1 on"]),
            ({"name": "Div", "opset": True}, ["True", "from 1 on"]),
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

    def test_the_built_in_class_is_lookup_error(self) -> None:
        with pytest.raises(LookupError):
            find("Mod")


def test_the_room_needs_the_standard_library_only() -> None:
    """Its files import the standard library, the errors and one another, so that a row costs nothing."""
    imported = set()
    for path in Path(rows.__file__).parent.glob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Import):
                imported |= {alias.name for alias in node.names}
            elif isinstance(node, ast.ImportFrom):
                imported.add(str(node.module))
    foreign = {name for name in imported if name.partition(".")[0] not in sys.stdlib_module_names}
    assert "vinculum.spec.model" in foreign
    assert {n for n in foreign if n != "vinculum.errors" and not n.startswith("vinculum.spec.")} == set()
