"""What is said of an answer: the model that explains every one of its quotients, or else in numbers what is wrong."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from vinculum.conformance.fingerprint.asking import KILLED, Asked
from vinculum.conformance.fingerprint.finding import Finding, Standing
from vinculum.conformance.fingerprint.float_models import FloatModel, float_models, smallest_normal
from vinculum.conformance.fingerprint.integer_models import IntegerModel, Rounding, integer_models
from vinculum.sandbox import Answer, End
from vinculum.spec.model import IntegerRounding
from vinculum.text import shape_text

Array = NDArray[Any]

ROUNDINGS = {IntegerRounding.TRUNCATING: Rounding.TRUNCATED, IntegerRounding.FLOOR: Rounding.FLOORED}

UNKNOWN = "wrong, in no way that is known"

_FEW = 64


def explained(probe: str, asked: Asked) -> Finding:
    """Return how an answer's quotients are computed."""
    subject = str(asked.element_type)
    if asked.quotients is None:
        return without_quotients(probe, subject, asked.answer)
    statement, detail = _integers(asked) if asked.element_type.is_integer else _floats(asked)
    example = first_difference(asked)
    standing = Standing.DEVIATES if example else Standing.AS_SPECIFIED
    return Finding(probe, subject, statement, standing, detail, example)


def without_quotients(probe: str, subject: str, answer: Answer) -> Finding:
    """Return what is said of an answer that holds no quotients of the right type and shape."""
    if answer.end is End.UNSUPPORTED:
        return Finding(probe, subject, "not supported", Standing.UNSUPPORTED, evidence=answer.words)
    if answer.end is End.REFUSED:
        return Finding(probe, subject, "refused", Standing.DEVIATES, evidence=answer.words)
    if answer.end in KILLED:
        return Finding(probe, subject, f"kills the process ({answer.words})", Standing.DEVIATES)
    value = answer.value
    given = f"{value.dtype} of shape {shape_text(value.shape)}" if isinstance(value, np.ndarray) else "no array"
    return Finding(probe, subject, "gives a wrong type or shape", Standing.DEVIATES, given)


def _floats(asked: Asked) -> tuple[str, str]:
    """Return a statement that holds for every quotient, and details."""
    given = asked.quotients
    assert given is not None
    wrong = ~same(given, asked.expected)
    for model in float_models(asked.element_type):
        if _explains(model, asked, given, wrong):
            return model.statement, model.detail
    ordinary = _ordinary(asked)
    counts = f"{wrong.sum():,} of {wrong.size:,} quotients"
    if not (wrong & ordinary).any():
        return _unknown(counts), "all of them with zeros, infinities, NaN or subnormal numbers"
    return _unknown(
        counts
    ), f"{(wrong & ordinary).sum():,} of them with ordinary numbers, {_ulps(given, asked, ordinary)}"


def _integers(asked: Asked) -> tuple[str, str]:
    """Return a statement that holds for every quotient, and details; the rounding asked for counts as simple."""
    given, wanted = asked.quotients, ROUNDINGS[asked.rounding]
    assert given is not None
    wrong = ~same(given, asked.expected)
    for model in sorted(integer_models(asked.element_type), key=lambda m: (m.rounding is not wanted, m.peculiarities)):
        if _explains(model, asked, given, wrong):
            parts = [model.statement] if model.rounding is wanted else [model.statement, model.rounding.value]
            return ", ".join(part for part in parts if part != "exact" or len(parts) == 1), model.detail
    return _unknown(f"{wrong.sum():,} of {wrong.size:,} quotients"), ""


def _explains(model: FloatModel | IntegerModel, asked: Asked, given: Array, wrong: Array) -> bool:
    """Tell whether a model gives every quotient; what is not even wrong in the same way is found out with a few."""
    places: tuple[Any, ...] = (np.flatnonzero(wrong)[:_FEW], slice(None))
    return all(same(model.quotients(asked.a[some], asked.b[some]), given[some]).all() for some in places)


def _unknown(counts: str) -> str:
    return f"{counts} {UNKNOWN}"


def same(one: Array, other: Array) -> Array:
    """Return element by element whether two arrays of one type hold the same; every NaN is the same, zeros differ."""
    bits = [array.view(f"u{array.itemsize}") for array in (one, other)]
    equal = np.asarray(bits[0] == bits[1])
    if one.dtype.kind in "iu":
        return equal
    with np.errstate(invalid="ignore"):  # ml_dtypes warns of signalling NaN.
        return np.asarray(equal | (np.isnan(one) & np.isnan(other)))


def number(value: Any) -> str:
    """Return an element as text, with as many digits as tell it from its neighbours."""
    return str(int(value)) if value.dtype.kind in "iu" else str(value)


def first_difference(asked: Asked) -> str:
    """Return the first quotient that is not the expected one, as an equation, that of x / x if one is; else nothing."""
    given = asked.quotients
    if given is None:
        return ""
    differs, ordinary = ~same(given, asked.expected), _ordinary(asked)
    choices = (np.flatnonzero(differs & among) for among in (ordinary & same(asked.a, asked.b), ordinary, True))
    places = next((found for found in choices if found.size), None)
    if places is None:
        return ""
    a, b, q, e = (number(array[places[0]]) for array in (asked.a, asked.b, given, asked.expected))
    return f"{a} / {b} = {q}, not {e}"


def _ordinary(asked: Asked) -> Array:
    """Return where neither the operands nor the expected quotient are subnormal, zero, infinite or NaN."""
    chosen = np.ones(asked.a.shape, np.bool_)
    if asked.element_type.is_integer:
        return chosen
    least = smallest_normal(asked.a.dtype)
    for array in (asked.a, asked.b, asked.expected):
        with np.errstate(invalid="ignore"):  # bfloat16's comparisons warn of NaN.
            chosen &= np.isfinite(array) & (np.abs(array) >= least)
    return chosen


def _ulps(given: Array, asked: Asked, among: Array) -> str:
    """Return by how many encodings quotients are off at most, and how many are not even finite."""
    with np.errstate(invalid="ignore"):  # ml_dtypes warns of signalling NaN.
        finite = among & np.isfinite(given)
    places = []
    for array in (given[finite], asked.expected[finite]):
        bits = array.view(f"u{array.itemsize}").astype(object)
        sign = 1 << (8 * array.itemsize - 1)
        places.append(np.where(bits >= sign, sign - bits, bits))
    most = max(np.abs(places[0] - places[1]), default=0)
    left = (among & ~finite).sum()
    return f"by up to {most:,} ulp{'' if most == 1 else 's'}{f', {left:,} not finite' if left else ''}"
