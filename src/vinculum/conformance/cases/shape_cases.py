"""The cases of shapes of an operator version: shapes at the limits of its broadcasting rules and just beyond."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import cache, partial

import numpy as np

from vinculum.conformance.cases.builder import CaseBuilder
from vinculum.conformance.cases.case import Case, Expectation, Level
from vinculum.conformance.cases.expectations import exact, expectation, refusal
from vinculum.conformance.cases.operation import DIVISOR, Placement
from vinculum.conformance.cases.shape_pairs import SHAPE_PAIRS, Shape, ShapePair
from vinculum.conformance.cases.values.encodings import dividends, divisors
from vinculum.conformance.cases.values.value_class import Operands
from vinculum.spec.element_types import ElementType
from vinculum.spec.model import IntegerRounding, OperatorSpec

QUICK, DEFAULT, FULL = Level
LATER = {QUICK: DEFAULT, DEFAULT: FULL}
_RECIPROCAL: tuple[Shape, ...] = ((), (0,), (1,), (1, 1, 1), (2, 0, 3), (2, 3, 4, 5), (2, 1, 3, 1, 2, 2), (17, 33))


def shape_cases(builder: CaseBuilder) -> Iterator[Case]:
    """Yield the cases of every pair of shapes of the version, at the limits of its rules and just beyond."""
    for shapes in shape_pairs(builder.spec):
        fits = shapes.aligned is not None
        if not (fits or shapes.everywhere or builder.chosen):
            continue
        level, constants = _asked(builder, shapes)
        yield from builder.cases(
            shapes.tried,
            shape_words(shapes, len(builder.spec.inputs)),
            shapes.tags,
            shapes.attributes,
            partial(_operands, builder, shapes),
            partial(_expected, builder, shapes) if fits else refusal,
            level,
            constants,
        )


def _asked(builder: CaseBuilder, shapes: ShapePair) -> tuple[Level, tuple[Placement, ...] | None]:
    """Return the first level that runs a pair of shapes with run-time operands, and its other placements."""
    chosen, newest, fits = builder.chosen, builder.newest_of_its_shapes, shapes.aligned is not None
    if shapes.everywhere:
        first = DEFAULT if shapes.default_written else QUICK
        return (first, DIVISOR if newest and fits else ()) if chosen else (LATER[first], None)  # A level later.
    if not fits:  # That shapes are refused hardly depends on element types and constants.
        return (DEFAULT if newest and chosen and not builder.element_type.is_integer else FULL), None
    return (DEFAULT if newest else FULL, ()) if chosen else (FULL, None)


def _expected(builder: CaseBuilder, shapes: ShapePair) -> Expectation:
    """Return the expectation for shapes that fit; its quotients are computed once for all versions."""
    own = shapes.dividend, shapes.divisor, shapes.zero, len(builder.spec.inputs)
    return expectation(
        builder.spec,
        builder.element_type,
        shapes.attributes,
        lambda rounding: _exact(builder.element_type, rounding, own, shapes.aligned or ()),
    )


@cache
def _exact(
    t: ElementType, rounding: IntegerRounding, own: tuple[Shape, Shape, bool, int], fitted: Shape
) -> Expectation:
    *dividend, divisor = _numbers(t, *own)
    return exact(t, rounding, (*dividend, divisor.reshape(fitted)))


def _operands(builder: CaseBuilder, shapes: ShapePair) -> Operands:
    return _numbers(builder.element_type, shapes.dividend, shapes.divisor, shapes.zero, len(builder.spec.inputs))


def _numbers(t: ElementType, dividend: Shape, divisor: Shape, zero: bool, count: int) -> Operands:
    divided = divisors(divisor, t)
    return (dividends(dividend, t), np.zeros_like(divided) if zero else divided)[-count:]


def shape_pairs(spec: OperatorSpec) -> Iterator[ShapePair]:
    """Yield the pairs of shapes of an operator version, for each broadcasting rule that its attributes can select."""
    if len(spec.inputs) == 1:
        for shape in _RECIPROCAL:
            tried = "an empty tensor" if 0 in shape else "distinct numbers"
            yield ShapePair(("element-by-element",), shape, shape, shape, tried, everywhere=shape in ((), (0,)))
        return
    selector = spec.broadcasting_attribute
    declared = spec.attribute(selector) if selector else None
    for value, rule in spec.broadcasting.items():
        is_default = declared is None or value == declared.default
        for shapes in SHAPE_PAIRS[rule]:
            if not _has(spec, shapes):
                continue
            if is_default:
                yield shapes
            if declared is not None and (shapes.everywhere or not is_default) and value is not None:
                attributes = {declared.name: value, **shapes.attributes}
                yield replace(shapes, attributes=attributes, default_written=is_default)


def _has(spec: OperatorSpec, shapes: ShapePair) -> bool:
    """Return whether the version has a clause that the shapes test, and the attributes that they set."""
    tested = any(clause.tag in shapes.tags for clause in spec.clauses)
    return tested and all(spec.attribute(name) is not None for name in shapes.attributes)


def shape_words(shapes: ShapePair, operands: int) -> str:
    """Return the text for a pair of shapes in the id: the shapes, and the attributes that the model sets."""
    if operands == 1:
        return f"shape {shapes.divisor}" if shapes.divisor else "a scalar"
    words = f"{shapes.dividend or 'a scalar'} by {shapes.divisor or 'a scalar'}"
    return ", ".join([words, *(f"{name}={value}" for name, value in shapes.attributes.items())])
