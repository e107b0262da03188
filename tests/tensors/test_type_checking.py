"""One element type for all operands, one that the version takes; else the line says which version does."""

from __future__ import annotations

import pytest

from tests.cases import case
from vinculum.errors import ElementTypeError
from vinculum.spec.element_types import (
    BFLOAT16,
    DOUBLE,
    ELEMENT_TYPES,
    FLOAT,
    FLOAT8E4M3FN,
    INT4,
    INT8,
    INT32,
    REAL,
    UINT16,
    ElementType,
)
from vinculum.spec.model import OperatorSpec
from vinculum.spec.onnx_div import DIV_1, DIV_6, DIV_7, DIV_13, DIV_14
from vinculum.spec.onnx_reciprocal import RECIPROCAL_1, RECIPROCAL_6, RECIPROCAL_13
from vinculum.spec.openvino_divide import DIVIDE_1
from vinculum.spec.rows import ROWS
from vinculum.spec.sonnx_div import DIV_FLOAT, DIV_INT, DIV_REAL
from vinculum.tensors.type_checking import check_element_types

every_row = pytest.mark.parametrize("row", ROWS, ids=lambda row: row.title)


def refusal_of(row: OperatorSpec, *given: ElementType) -> str:
    """Return the one line with which a row refuses element types."""
    with pytest.raises(ElementTypeError) as refusal:
        check_element_types(row, given)
    line = str(refusal.value)
    assert "\n" not in line
    assert row.title in line
    return line


@every_row
class TestEveryRow:
    """What holds of all twelve rows."""

    def test_the_result_has_the_operands_type(self, row: OperatorSpec) -> None:
        for element_type in ELEMENT_TYPES:
            with case(element_type):
                given = (element_type,) * len(row.inputs)
                if element_type in row.element_types:
                    assert check_element_types(row, given) is element_type
                    continue
                line = refusal_of(row, *given)
                assert line.startswith(f"{row.title} does not take {element_type}; allowed: {row.element_types[0]}")
                assert all(str(allowed) in line for allowed in row.element_types)

    def test_too_many_or_too_few(self, row: OperatorSpec) -> None:
        own = row.element_types[0]
        for count in {0, 1, 2, 3} - {len(row.inputs)}:
            assert refusal_of(row, *(own,) * count).endswith(f"; {count} given")

    def test_no_two_types_mix(self, row: OperatorSpec) -> None:
        if len(row.inputs) == 1:
            return
        for one in row.element_types:
            for other in ELEMENT_TYPES:
                if one is not other:
                    a, b = (operand.name for operand in row.inputs)
                    assert refusal_of(row, one, other).startswith(f"{a} {one} and {b} {other}: ")


class TestWhichVersionDoes:
    """The line names the first version that takes the type, in the words of the user's own standard."""

    @pytest.mark.parametrize(
        ("row", "element_type", "first"),
        [
            (DIV_1, INT32, "Div-6 is the first that does (opset=6)"),
            (DIV_1, BFLOAT16, "Div-13 is the first that does (opset=13)"),
            (DIV_1, INT8, "Div-14 is the first that does (opset=14)"),
            (DIV_6, BFLOAT16, "Div-13 is the first that does (opset=13)"),
            (DIV_7, UINT16, "Div-14 is the first that does (opset=14)"),
            (DIV_13, INT8, "Div-14 is the first that does (opset=14)"),
            (RECIPROCAL_1, BFLOAT16, "Reciprocal-13 is the first that does (opset=13)"),
            (RECIPROCAL_6, BFLOAT16, "Reciprocal-13 is the first that does (opset=13)"),
            (DIV_REAL, FLOAT, "SONNX Div (float) does"),
            (DIV_FLOAT, REAL, "SONNX Div (real) does"),
            (DIV_FLOAT, INT32, "SONNX Div (int) does"),
            (DIV_INT, DOUBLE, "SONNX Div (float) does"),
        ],
        ids=str,
    )
    def test_named(self, row: OperatorSpec, element_type: ElementType, first: str) -> None:
        assert refusal_of(row, *(element_type,) * len(row.inputs)).endswith(f"; {first}")

    @pytest.mark.parametrize(
        ("row", "element_type"),
        [(DIV_14, INT4), (DIV_1, FLOAT8E4M3FN), (DIV_14, REAL), (RECIPROCAL_13, INT32), (DIVIDE_1, REAL)],
        ids=str,
    )
    def test_or_none_does(self, row: OperatorSpec, element_type: ElementType) -> None:
        assert refusal_of(row, *(element_type,) * len(row.inputs)).endswith(f"; no version of {row.name} takes it")

    @pytest.mark.parametrize("element_type", [BFLOAT16, INT4], ids=str)
    def test_no_part_of_sonnx_does_though_onnx_may(self, element_type: ElementType) -> None:
        """ONNX's Div takes bfloat16, so the line must not say that no version of Div does."""
        assert "no version of Div takes it" not in refusal_of(DIV_FLOAT, element_type, element_type)
