"""Operands of two element types, or of an element type that the version does not list: both must be refused."""

from __future__ import annotations

from collections.abc import Iterator

from vinculum.conformance.cases.builder import CaseBuilder, Trial
from vinculum.conformance.cases.case import Level
from vinculum.conformance.cases.clauses import Subject
from vinculum.conformance.cases.expectations import refusal
from vinculum.conformance.cases.values.encodings import dividends, divisors
from vinculum.spec.element_types import DOUBLE, ELEMENT_TYPES, REAL, ElementType
from vinculum.spec.model import Dialect, OperatorSpec
from vinculum.spec.registry import versions


def mixed_type_trials(builder: CaseBuilder) -> Iterator[Trial]:
    """Yield operands of two element types, which must be refused."""
    other = _divisor_type(builder.spec, builder.element_type)
    if other is not None:
        operands = dividends((3,), builder.element_type), divisors((3,), other)
        # For reals, clause [C2] has another subject.
        subject = ("[GR3]",) if builder.element_type is REAL else Subject.TYPES
        yield Trial(f"{other.name} divisors", "equal shapes", subject, {}, lambda: operands, refusal, Level.DEFAULT)


def unlisted_type_trials(builder: CaseBuilder) -> Iterator[Trial]:
    """Yield operands of an element type that the version does not list, which must be refused."""
    count = len(builder.spec.inputs)
    operands = (dividends((3,), builder.element_type), divisors((3,), builder.element_type))[-count:]
    level = Level.DEFAULT if _is_likely(builder.spec, builder.element_type) else Level.FULL
    shapes = "equal shapes" if count > 1 else "one dimension"
    tried = "an element type that the version does not list"
    yield Trial(tried, shapes, Subject.UNLISTED, {}, lambda: operands, refusal, level)


def unlisted_types(spec: OperatorSpec) -> tuple[ElementType, ...]:
    """Return the element types that a version does not list although its standard has them.

    SONNX has three operators of one name, selected by the element type. A type that another of them lists is legal, so
    only types that none of them lists are refused: integers by the integer operator, floats by the float operator.
    """
    if spec.dialect is not Dialect.SONNX:
        return tuple(t for t in ELEMENT_TYPES if t not in spec.element_types and t is not REAL)
    arithmetic = {t.kind for t in spec.element_types}
    return tuple(t for t in ELEMENT_TYPES if t not in spec.element_types and t.kind in arithmetic)


def _is_likely(spec: OperatorSpec, element_type: ElementType) -> bool:
    """Return whether models are likely to use an unlisted type: the newest division of the standard lists it."""
    newest = versions("Div" if spec.dialect is Dialect.ONNX else spec.name, dialect=spec.dialect)[-1]
    return element_type in newest.element_types or spec.dialect is not Dialect.ONNX


def _divisor_type(spec: OperatorSpec, element_type: ElementType) -> ElementType | None:
    """Return an element type for the divisor that differs from the dividend's; None for an operator with one operand.

    It is the next type in the document's order, mostly one of another width; for SONNX's reals it is double.
    """
    if len(spec.inputs) < 2:
        return None
    types = (*spec.element_types, DOUBLE) if element_type is REAL else spec.element_types
    return types[(types.index(element_type) + 1) % len(types)]
