"""The cases of each form in which shapes are joined, and those of operands of two element types."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial

import numpy as np

from vinculum.conformance.case import Case, Expectation, Level
from vinculum.conformance.generators.case_builder import CaseBuilder
from vinculum.conformance.generators.clauses import Subject
from vinculum.conformance.generators.deliveries import Delivery, deliveries
from vinculum.conformance.generators.expectations import expectation, refusal
from vinculum.conformance.generators.forms import Form, form_words, forms
from vinculum.conformance.generators.refusals import divisor_type, is_likely
from vinculum.conformance.generators.values.distinct import dividends, divisors
from vinculum.conformance.generators.values.value_class import Operands
from vinculum.spec.element_types import REAL

QUICK, DEFAULT, FULL = Level
LATER = {QUICK: DEFAULT, DEFAULT: FULL}


def form_cases(builder: CaseBuilder) -> Iterator[Case]:
    """Yield every form of the version, those at the edges and those just beyond."""
    spec = builder.spec
    count = len(spec.inputs)
    for form in forms(spec):
        for delivery in deliveries(spec):
            level = _level(builder, form, delivery)
            if level is None or level > builder.level:
                continue
            operands = partial(_operands, builder, form)
            expected: Callable[[], Expectation] = refusal
            if form.laid is not None:
                expected = partial(_expected, builder, form)
            yield builder.case(
                form.tried, form_words(form, count), delivery, form.tag, form.attributes, operands, expected, level
            )


def _level(builder: CaseBuilder, form: Form, delivery: Delivery) -> Level | None:
    """Return the first level that asks a form in a delivery; None if none does."""
    chosen, at_run_time = builder.chosen, delivery is Delivery.RUN_TIME
    if at_run_time and form.everywhere:
        first = DEFAULT if form.default_written else QUICK
        return first if chosen else LATER[first]  # Other types come a level later.
    if chosen and builder.newest_of_its_shapes:
        folded = delivery is Delivery.CONSTANT_DIVISOR and form.everywhere and form.laid is not None
        return DEFAULT if at_run_time or folded else FULL
    return FULL if chosen or at_run_time else None


def _expected(builder: CaseBuilder, form: Form) -> Expectation:
    """Return what is expected where the shapes fit."""
    *dividend, divisor = _operands(builder, form)
    laid = (*dividend, divisor.reshape(form.laid or ()))
    return expectation(builder.spec, builder.element_type, form.attributes, laid)


def _operands(builder: CaseBuilder, form: Form) -> Operands:
    divisor = divisors(form.divisor, builder.element_type)
    if form.zero:
        divisor = np.zeros_like(divisor)
    if len(builder.spec.inputs) == 1:
        return (divisor,)
    return dividends(form.dividend, builder.element_type), divisor


def mixed_type_cases(builder: CaseBuilder) -> Iterator[Case]:
    """Yield operands of two element types, which must be refused."""
    other = divisor_type(builder.spec, builder.element_type)
    if other is None:
        return
    operands = dividends((3,), builder.element_type), divisors((3,), other)
    for delivery in deliveries(builder.spec):
        level = DEFAULT if delivery is Delivery.RUN_TIME else FULL
        if level <= builder.level:
            # Of the reals [C2] says another thing.
            subject = "[GR3]" if builder.element_type is REAL else Subject.TYPES
            tried = f"{other.name} divisors"
            yield builder.case(tried, "equal shapes", delivery, subject, {}, lambda: operands, refusal, level)


def unlisted_type_cases(builder: CaseBuilder) -> Iterator[Case]:
    """Yield operands of an element type that the version does not list, which must be refused."""
    operands = dividends((3,), builder.element_type), divisors((3,), builder.element_type)
    taken = operands[-len(builder.spec.inputs) :]
    for delivery in deliveries(builder.spec):
        likely = delivery is Delivery.RUN_TIME and is_likely(builder.spec, builder.element_type)
        level = DEFAULT if likely else FULL
        if level <= builder.level:
            tried = "an element type that the version does not list"
            form = "equal shapes" if len(taken) > 1 else "one dimension"
            yield builder.case(tried, form, delivery, Subject.UNLISTED, {}, lambda: taken, refusal, level)
