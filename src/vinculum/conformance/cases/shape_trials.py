"""What is tried with each pair of shapes."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

import numpy as np

from vinculum.conformance.cases.builder import CaseBuilder, Trial
from vinculum.conformance.cases.case import Expectation, Level
from vinculum.conformance.cases.expectations import expectation, refusal
from vinculum.conformance.cases.placements import DIVISOR, Placement
from vinculum.conformance.cases.shape_pairs import shape_pairs, shape_words
from vinculum.conformance.cases.shape_tables import ShapePair
from vinculum.conformance.cases.values.encodings import dividends, divisors
from vinculum.conformance.cases.values.value_class import Operands

QUICK, DEFAULT, FULL = Level
LATER = {QUICK: DEFAULT, DEFAULT: FULL}


def shape_trials(builder: CaseBuilder) -> Iterator[Trial]:
    """Yield every pair of shapes of the version, those at the edges and those just beyond."""
    for shapes in shape_pairs(builder.spec):
        fits = shapes.aligned is not None
        level, constants = _asked(builder, shapes)
        yield Trial(
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
    """Return the first level that asks a pair of shapes at run time, and how else it is asked."""
    chosen, newest = builder.chosen, builder.newest_of_its_shapes
    folded = DIVISOR if newest and shapes.everywhere and shapes.aligned is not None else ()
    if shapes.everywhere:
        first = DEFAULT if shapes.default_written else QUICK
        return (first, folded) if chosen else (LATER[first], None)  # Other types come a level later.
    return (DEFAULT if newest else FULL, folded) if chosen else (FULL, None)


def _expected(builder: CaseBuilder, shapes: ShapePair) -> Expectation:
    """Return what is expected where the shapes fit."""
    *dividend, divisor = _operands(builder, shapes)
    aligned = (*dividend, divisor.reshape(shapes.aligned or ()))
    return expectation(builder.spec, builder.element_type, shapes.attributes, aligned)


def _operands(builder: CaseBuilder, shapes: ShapePair) -> Operands:
    divisor = divisors(shapes.divisor, builder.element_type)
    if shapes.zero:
        divisor = np.zeros_like(divisor)
    return (dividends(shapes.dividend, builder.element_type), divisor)[-len(builder.spec.inputs) :]
