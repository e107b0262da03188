"""One element type for all operands, one that the version takes; else the line says which version does."""

from __future__ import annotations

import pytest

from tests.cases import case
from vinculum.errors import ElementTypeError
from vinculum.spec.element_types import ELEMENT_TYPES, ElementType
from vinculum.spec.model import Dialect, OperatorSpec
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

    def test_too_many_or_too_few(self, row: OperatorSpec) -> None:
        own = row.element_types[0]
        for count in {0, 1, 2, 3} - {len(row.inputs)}:
            assert refusal_of(row, *(own,) * count).endswith(f"; {count} given")

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
