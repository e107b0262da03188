"""The cases of each pair of shapes, and those of operands of two element types."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial

import numpy as np

from vinculum.conformance.cases.builder import CaseBuilder
from vinculum.conformance.cases.case import Case, Expectation, Level
from vinculum.conformance.cases.clauses import Subject
from vinculum.conformance.cases.expectations import expectation, refusal
from vinculum.conformance.cases.placements import Placement, placements
from vinculum.conformance.cases.refusals import divisor_type, is_likely
from vinculum.conformance.cases.shape_pairs import ShapePair, shape_pairs, shape_words
from vinculum.conformance.cases.values.distinct import dividends, divisors
from vinculum.conformance.cases.values.value_class import Operands
from vinculum.spec.element_types import REAL

QUICK, DEFAULT, FULL = Level
LATER = {QUICK: DEFAULT, DEFAULT: FULL}


def shape_cases(builder: CaseBuilder) -> Iterator[Case]:
    """Yield every shape pair of the version, those at the edges and those just beyond."""
    spec = builder.spec
    count = len(spec.inputs)
    for shapes in shape_pairs(spec):
        for placement in placements(spec):
            level = _level(builder, shapes, placement)
            if level is None or level > builder.level:
                continue
            operands = partial(_operands, builder, shapes)
            expected: Callable[[], Expectation] = refusal
            if shapes.aligned is not None:
                expected = partial(_expected, builder, shapes)
            yield builder.case(
                shapes.tried,
                shape_words(shapes, count),
                placement,
                shapes.tag,
                shapes.attributes,
                operands,
                expected,
                level,
            )


def _level(builder: CaseBuilder, shapes: ShapePair, placement: Placement) -> Level | None:
    """Return the first level that asks a shape pair in a placement; None if none does."""
    chosen, at_run_time = builder.chosen, placement is Placement.RUN_TIME
    if at_run_time and shapes.everywhere:
        first = DEFAULT if shapes.default_written else QUICK
        return first if chosen else LATER[first]  # Other types come a level later.
    if chosen and builder.newest_of_its_shapes:
        folded = placement is Placement.CONSTANT_DIVISOR and shapes.everywhere and shapes.aligned is not None
        return DEFAULT if at_run_time or folded else FULL
    return FULL if chosen or at_run_time else None


def _expected(builder: CaseBuilder, shapes: ShapePair) -> Expectation:
    """Return what is expected where the shapes fit."""
    *dividend, divisor = _operands(builder, shapes)
    aligned = (*dividend, divisor.reshape(shapes.aligned or ()))
    return expectation(builder.spec, builder.element_type, shapes.attributes, aligned)


def _operands(builder: CaseBuilder, shapes: ShapePair) -> Operands:
    divisor = divisors(shapes.divisor, builder.element_type)
    if shapes.zero:
        divisor = np.zeros_like(divisor)
    if len(builder.spec.inputs) == 1:
        return (divisor,)
    return dividends(shapes.dividend, builder.element_type), divisor


def mixed_type_cases(builder: CaseBuilder) -> Iterator[Case]:
    """Yield operands of two element types, which must be refused."""
    other = divisor_type(builder.spec, builder.element_type)
    if other is None:
        return
    operands = dividends((3,), builder.element_type), divisors((3,), other)
    for placement in placements(builder.spec):
        level = DEFAULT if placement is Placement.RUN_TIME else FULL
        if level <= builder.level:
            # Of the reals [C2] says another thing.
            subject = "[GR3]" if builder.element_type is REAL else Subject.TYPES
            tried = f"{other.name} divisors"
            yield builder.case(tried, "equal shapes", placement, subject, {}, lambda: operands, refusal, level)


def unlisted_type_cases(builder: CaseBuilder) -> Iterator[Case]:
    """Yield operands of an element type that the version does not list, which must be refused."""
    operands = dividends((3,), builder.element_type), divisors((3,), builder.element_type)
    taken = operands[-len(builder.spec.inputs) :]
    for placement in placements(builder.spec):
        likely = placement is Placement.RUN_TIME and is_likely(builder.spec, builder.element_type)
        level = DEFAULT if likely else FULL
        if level <= builder.level:
            tried = "an element type that the version does not list"
            shapes = "equal shapes" if len(taken) > 1 else "one dimension"
            yield builder.case(tried, shapes, placement, Subject.UNLISTED, {}, lambda: taken, refusal, level)
