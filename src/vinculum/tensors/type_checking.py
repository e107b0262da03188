"""Whether an operator version takes operands of these element types."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

from vinculum.errors import ElementTypeError
from vinculum.spec.element_types import ElementType
from vinculum.spec.model import Dialect, OperatorSpec
from vinculum.spec.rows import versions


@lru_cache(maxsize=1024)
def check_element_types(spec: OperatorSpec, given: tuple[ElementType, ...]) -> ElementType:
    """Return the one element type of the operands, which is the result's too.

    ElementTypeError if there are too few or too many, they differ, or the version does not allow the type.
    """
    names = spec.operand_names
    if len(given) != len(names):
        raise ElementTypeError(f"{spec.title} takes {len(names)} operands ({', '.join(names)}); {len(given)} given")
    if len(set(given)) > 1:
        pairs = " and ".join(f"{name} {element_type}" for name, element_type in zip(names, given, strict=True))
        raise ElementTypeError(
            f"{pairs}: {spec.title} has one element type for all operands and converts nothing; cast one of them"
        )
    element_type = given[0]
    if element_type not in spec.element_types:
        allowed = ", ".join(str(t) for t in spec.element_types)
        raise ElementTypeError(
            f"{spec.title} does not take {element_type}; allowed: {allowed}{_elsewhere(spec, element_type)}"
        )
    return element_type


def _elsewhere(spec: OperatorSpec, element_type: ElementType) -> str:
    """Return which version of the operator takes the type, or that none does."""
    rows: Sequence[OperatorSpec] = versions(spec.name, dialect=spec.dialect)
    first = next((row for row in rows if element_type in row.element_types), None)
    if first is None:
        if spec.dialect is Dialect.SONNX:
            return f"; no {spec.dialect.standard} {spec.name} takes it"
        return f"; no version of {spec.name} takes it"
    if spec.dialect is Dialect.ONNX:
        return f"; {first.title} is the first that does (opset={first.since_version})"
    return f"; {first.title} does"
