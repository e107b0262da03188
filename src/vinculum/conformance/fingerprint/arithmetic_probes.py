"""The probes of arithmetic: which model explains every quotient of an element type."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vinculum.conformance.fingerprint.asking import KILLED, Asked, Asker, first_difference, number, same
from vinculum.conformance.fingerprint.finding import Finding, Told, merged
from vinculum.conformance.fingerprint.float_models import FloatModel, Flushing, float_models, smallest_normal
from vinculum.conformance.fingerprint.integer_models import IntegerModel, Rounding, integer_models
from vinculum.conformance.fingerprint.operands import ordinary_count
from vinculum.models.isolation import Answer, End
from vinculum.spec.element_types import (
    BFLOAT16,
    DOUBLE,
    FLOAT,
    FLOAT16,
    INT8,
    INT16,
    INT32,
    INT64,
    UINT8,
    UINT16,
    UINT32,
    UINT64,
    ElementType,
)
from vinculum.spec.model import IntegerRounding

Array = NDArray[Any]

FLOATS = (FLOAT, DOUBLE, FLOAT16, BFLOAT16)
INTEGERS = (INT64, INT32, UINT64, UINT32, INT16, INT8, UINT16, UINT8)
ROUNDINGS = {IntegerRounding.TRUNCATING: Rounding.TRUNCATED, IntegerRounding.FLOOR: Rounding.FLOORED}


def no_quotient(answer: Answer) -> Told:
    """Return what is said of an answer that holds no quotients of the right type and shape."""
    if answer.end is End.UNSUPPORTED:
        return Told("not supported", evidence=answer.words)
    if answer.end is End.REFUSED:
        return Told("refused", is_deviation=True, evidence=answer.words)
    if answer.end in KILLED:
        return Told(f"kills the process: {answer.words}", is_deviation=True)
    value = answer.value
    what = f"{value.dtype} of shape {value.shape}" if isinstance(value, np.ndarray) else type(value).__name__
    return Told(f"gives {what} instead of a quotient of the operands' type and shape", is_deviation=True)


def float_model(asked: Asked, count: int | None = None) -> FloatModel | None:
    """Return the simplest model that explains every quotient, or every one of the first `count`."""
    quotients = asked.quotients
    if quotients is None:
        return None
    a, b, q = asked.a[:count], asked.b[:count], quotients[:count]
    fitting = (m for m in float_models(asked.element_type) if same(m.quotients(a, b), q).all())
    return next(fitting, None)


def integer_model(asked: Asked) -> IntegerModel | None:
    """Return the simplest model that explains every quotient; the rounding asked for counts as simple."""
    quotients = asked.quotients
    if quotients is None:
        return None
    wanted = ROUNDINGS[asked.rounding]
    models = sorted(integer_models(asked.element_type), key=lambda m: (m.rounding is not wanted, m.peculiarities))
    return next((m for m in models if same(m.quotients(asked.a, asked.b), quotients).all()), None)


def told_of_floats(asked: Asked) -> Told:
    """Return how an element type's quotients are computed; subnormal numbers are another probe's."""
    quotients = asked.quotients
    if quotients is None:
        return no_quotient(asked.answer)
    ordinary = ordinary_count(asked.element_type)
    right = same(quotients, asked.expected)
    model = float_model(asked)
    among = _not_subnormal(asked)
    if model is not None:
        statement = model.arithmetic
        example = first_difference(asked, quotients, among) or first_difference(asked, quotients)
        is_right = statement == "correctly rounded"
        return Told(statement, not is_right, "" if is_right else example)
    usual = float_model(asked, ordinary)
    example = first_difference(asked, quotients)
    if usual is not None:
        wrong = int((~right[ordinary:]).sum())
        return Told(
            f"{usual.arithmetic}; but {wrong} of {right.size - ordinary} quotients with zeros, infinities, subnormal "
            "or the largest numbers are off, and no known way of computing gives these",
            True,
            example,
        )
    ulps = _ulps(quotients[:ordinary], asked.expected[:ordinary])
    share = 100 * float((~right[:ordinary]).mean())
    size = f"by up to {ulps} ulp{'' if ulps == 1 else 's'}" if ulps is not None else "some of them not finite"
    return Told(f"{share:.0f}% of quotients off, {size}; no known way of computing gives these", True, example)


def told_of_integers(asked: Asked) -> Told:
    """Return how an element type's quotients are computed."""
    quotients = asked.quotients
    if quotients is None:
        return no_quotient(asked.answer)
    example = first_difference(asked, quotients)
    model = integer_model(asked)
    if model is None:
        wrong = int((~same(quotients, asked.expected)).sum())
        return Told(
            f"{wrong} of {quotients.size} quotients wrong; no known way of computing gives these", True, example
        )
    if model.rounding is ROUNDINGS[asked.rounding]:
        return Told(model.arithmetic, bool(example), example)
    parts = [part for part in (model.arithmetic, model.rounding.value) if part != "exact"]
    return Told(", ".join(parts), True, example)


def floats(asker: Asker) -> Iterator[Finding]:
    """Yield how the quotients of each floating-point type are computed."""
    for element_type in FLOATS:
        asked = asker.standard(element_type)
        if asked is not None:
            yield merged(str(element_type), {element_type: told_of_floats(asked)})


def integers(asker: Asker) -> Iterator[Finding]:
    """Yield how the quotients of each integer type are computed; the narrow ones together."""
    for group in ((INT64,), (INT32,), (UINT64, UINT32), (INT16, INT8, UINT16, UINT8)):
        answers = {element_type: asker.standard(element_type) for element_type in group}
        told = {t: told_of_integers(asked) for t, asked in answers.items() if asked is not None}
        if told:
            yield merged(", ".join(map(str, told)), told)


def subnormals(asker: Asker) -> Iterator[Finding]:
    """Yield what becomes of subnormal numbers; nothing is said where no model explains, or where it is narrowed."""
    told: dict[ElementType, Told] = {}
    for element_type in FLOATS:
        asked = asker.standard(element_type)
        model = None if asked is None else float_model(asked)
        if asked is None or model is None or model.computed_in.bits < element_type.bits:
            continue
        flushes = model.flushing is not Flushing.NONE
        quotients = asked.quotients
        assert quotients is not None
        example = first_difference(asked, quotients, ~_not_subnormal(asked)) if flushes else ""
        told[element_type] = Told(f"flushed: {model.flushing.value}" if flushes else "kept", flushes, example)
    if told:
        yield merged("subnormal numbers", told)


def identities(asker: Asker) -> Iterator[Finding]:
    """Yield whether x / x is 1 and 0 / x is 0, for every finite x but 0."""
    for name, holds in (("x / x", _is_one), ("0 / x", _is_zero)):
        told = {}
        for element_type in FLOATS:
            asked = asker.standard(element_type)
            quotients = None if asked is None else asked.quotients
            if asked is not None and quotients is not None:
                told[element_type] = holds(asked, quotients)
        if told:
            yield merged(name, told)


def _is_one(asked: Asked, quotients: Array) -> Told:
    chosen = (asked.a == asked.b) & np.isfinite(asked.a) & (asked.a != 0)
    wrong = first_difference(asked, quotients, chosen)
    return Told("not always 1", True, wrong) if wrong else Told("always 1")


def _is_zero(asked: Asked, quotients: Array) -> Told:
    chosen = (asked.a == 0) & np.isfinite(asked.b) & (asked.b != 0)
    places = np.flatnonzero(chosen & ~same(quotients, asked.expected))
    if not places.size:
        return Told("always 0")
    got = number(quotients[places[0]])
    return Told(f"{got} where x is subnormal", True, first_difference(asked, quotients, chosen))


def _not_subnormal(asked: Asked) -> Array:
    """Return where neither the operands nor the expected quotient are subnormal."""
    least = smallest_normal(asked.a.dtype)
    chosen = np.ones(asked.a.shape, np.bool_)
    for array in (asked.a, asked.b, asked.expected):
        with np.errstate(invalid="ignore"):  # bfloat16's comparisons warn of NaN.
            chosen &= ~(np.abs(array) < least) | (array == 0)
    return chosen


def _ulps(quotients: Array, expected: Array) -> int | None:
    """Return the most ulps that a quotient is off; None if one is not finite."""
    if not np.isfinite(quotients).all():
        return None
    places = []
    for array in (quotients, expected):
        bits = array.view(f"u{array.itemsize}").astype(object)
        sign = 1 << (8 * array.itemsize - 1)
        places.append(np.where(bits >= sign, sign - bits, bits))
    return int(np.abs(places[0] - places[1]).max())
