"""Cases written by hand, for the tests of what judges them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vinculum.conformance.cases.case import Case, CaseId, Expectation, Level
from vinculum.conformance.cases.operation import Operation
from vinculum.spec.element_types import ElementType
from vinculum.spec.model import AttributeValue, OperatorSpec
from vinculum.spec.onnx_div import DIV_14
from vinculum.tensors.storage import dtype_of


def array(values: Any, element_type: ElementType) -> NDArray[Any]:
    """Return values as an array of an element type."""
    return np.array(values, object if element_type.bits == 0 else None).astype(dtype_of(element_type))


def case_id(text: str) -> CaseId:
    """Return the id that a text is of."""
    row, *parts = text.split("/")
    operator, _, rounding = row.rpartition(" ") if row.endswith((" floor", " truncating")) else (row, "", "")
    return CaseId(operator, rounding, *parts)


def case(
    element_type: ElementType,
    operands: Sequence[Any],
    quotient: Any,
    *,
    unspecified: Any = None,
    spec: OperatorSpec = DIV_14,
    attributes: Mapping[str, AttributeValue] | None = None,
) -> Case:
    """Return a case; a quotient of None must be refused."""
    arrays = tuple(array(operand, element_type) for operand in operands)
    operation = Operation(spec, attributes or {}, arrays, (False,) * len(arrays))
    expected = None if quotient is None else array(quotient, element_type)
    expectation = Expectation(expected, None if unspecified is None else np.array(unspecified, bool))
    id = CaseId(spec.title, "", str(element_type), "a", "b", "c")
    return Case(id, spec.clauses[0].tag, element_type, lambda: operation, lambda: expectation, Level.QUICK)
