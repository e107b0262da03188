"""One element type for all operands, one that the version takes; else the line says which version does."""

from __future__ import annotations

import pytest

from tests.cases import case
from vinculum.errors import ElementTypeError
from vinculum.spec.element_types import ELEMENT_TYPES, INT8, ElementType
from vinculum.spec.model import Dialect, OperatorSpec
from vinculum.spec.onnx_div import DIV_1
from vinculum.spec.rows import ROWS
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

    def test_which_version_does(self, row: OperatorSpec) -> None:
        """The line names the first version that takes the type, in the words of the user's own standard.

        ONNX's Div takes bfloat16, so the line of SONNX must not say that no version of Div does.
        """
        for element_type in set(ELEMENT_TYPES) - set(row.element_types):
            like = [other for other in ROWS if (other.name, other.dialect) == (row.name, row.dialect)]
            first = next((other for other in like if element_type in other.element_types), None)
            if first is None:
                ending = f"; no {'SONNX' if row.dialect is Dialect.SONNX else 'version of'} {row.name} takes it"
            elif row.dialect is Dialect.SONNX:
                ending = f"; {first.title} does"
            else:
                ending = f"; {first.title} is the first that does (opset={first.since_version})"
            with case(element_type):
                assert refusal_of(row, *(element_type,) * len(row.inputs)).endswith(ending)


def test_the_first_of_three() -> None:
    assert refusal_of(DIV_1, INT8, INT8).endswith("; Div-14 is the first that does (opset=14)")
