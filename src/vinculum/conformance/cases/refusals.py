"""Element types that must be refused: those that an operator version does not list, and two of them together."""

from __future__ import annotations

from vinculum.spec.element_types import DOUBLE, ELEMENT_TYPES, REAL, ElementType
from vinculum.spec.model import Dialect, OperatorSpec
from vinculum.spec.registry import versions


def unlisted_types(spec: OperatorSpec) -> tuple[ElementType, ...]:
    """Return the element types that a version does not list and that its standard can write down.

    SONNX tells its three operators of one name apart by the element type, so that what another of them lists is no
    mistake: only what none of them lists is refused, integers by the one for integers and floats by the one for floats.
    """
    if spec.dialect is not Dialect.SONNX:
        return tuple(t for t in ELEMENT_TYPES if t not in spec.element_types and t is not REAL)
    arithmetic = {t.kind for t in spec.element_types}
    return tuple(t for t in ELEMENT_TYPES if t not in spec.element_types and t.kind in arithmetic)


def is_likely(spec: OperatorSpec, element_type: ElementType) -> bool:
    """Tell whether a model may well hold an unlisted type: the newest division of the standard lists it."""
    newest = versions("Div" if spec.dialect is Dialect.ONNX else spec.name, dialect=spec.dialect)[-1]
    return element_type in newest.element_types or spec.dialect is not Dialect.ONNX


def divisor_type(spec: OperatorSpec, element_type: ElementType) -> ElementType | None:
    """Return another listed type for the divisor, so that the operands are of two; None if there is none.

    It is the next in the document's order, which mostly is one of another width; beside SONNX's reals a float.
    """
    if len(spec.inputs) < 2:
        return None
    types = (*spec.element_types, DOUBLE) if element_type is REAL else spec.element_types
    return types[(types.index(element_type) + 1) % len(types)]
