"""Conversions between element types."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np
from onnx import TensorProto

from vinculum.analysis.domain.abstract_tensor import AbstractTensor, BoundsFrom, anything, tensor
from vinculum.analysis.domain.facts import Facts, Kind
from vinculum.analysis.domain.formats import FORMATS, Format, every, is_discrete, outward, type_range
from vinculum.analysis.transfer import errors
from vinculum.analysis.transfer.call import Call
from vinculum.analysis.transfer.errors import Computed, Errors
from vinculum.analysis.transfer.operator import Operator
from vinculum.analysis.transfer.operators.arithmetic import below
from vinculum.analysis.transfer.shared import apart_from_zero

_OF_NUMPY = frozenset(f"{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64))
"""Integers that NumPy itself converts."""


def _cast(call: Call, a: AbstractTensor) -> AbstractTensor:
    to = call.attribute("to", 0)
    code = dict(TensorProto.DataType.items()).get(to, 0) if isinstance(to, str) else to  # Operator set 1 has names.
    return converted(a, call.element_type(code) or call.expected().element_type)


def _cast_like(call: Call, a: AbstractTensor, target: AbstractTensor) -> AbstractTensor:
    return converted(a, target.element_type)


def _bit_cast(call: Call, a: AbstractTensor) -> AbstractTensor:
    return anything(call.element_type(call.attribute("to", 0)), a.shape)


def converted(a: AbstractTensor, to: str) -> AbstractTensor:
    """Return a tensor in another element type."""
    if to == a.element_type:
        return a
    known = a.element_type in FORMATS or is_discrete(a.element_type)
    if not known or (to not in FORMATS and not is_discrete(to)):
        return anything(to, a.shape)
    if to == "bool":
        return _to_bool(a)
    target = FORMATS.get(to)
    if target is not None:
        return _to_float(a, to, target)
    if a.form is not None:
        return _float_to_integer(a, to)
    wraps = a.low.min() < type_range(to)[0] or a.high.max() > type_range(to)[1]
    whole = a.small.astype(to) if a.small is not None and to in _OF_NUMPY else None
    result = tensor(
        to,
        a.shape,
        a.low,
        a.high,
        None if wraps else a.mag,
        integral=True,
        constant=whole,
        entries=None if wraps else a.entries,
        facts=() if wraps else a.facts,
        bounds_from=BoundsFrom.TYPE if wraps else a.bounds_from,
    )
    if wraps and every(a.mag >= 1) and _width(to) >= _width(a.element_type):  # Only 0 becomes 0.
        return apart_from_zero(result)
    return result


def _width(element_type: str) -> float:
    smallest, biggest = type_range(element_type)
    return biggest - smallest


def _to_bool(a: AbstractTensor) -> AbstractTensor:
    facts: Facts = tuple(replace(f, low=1.0) for f in a.facts if f.kind is Kind.SOME_AT_LEAST and f.low > 0)
    low = np.where((a.mag > 0) | (not a.may_zero), 1.0, 0.0)
    high = np.where((a.box.largest() == 0) & (not a.may_nan), 0.0, 1.0)
    return tensor("bool", a.shape, low, high, facts=facts, integral=True)


def _to_float(a: AbstractTensor, to: str, target: Format) -> AbstractTensor:
    exact = bool((a.box.largest() <= 1 / target.u).all()) and a.integral
    low, high = outward(a.low, a.high, target, exact=exact or a.form is not None)
    if a.form is None and not exact:
        slack = 2 * target.u
        low, high = low - slack * np.abs(low), high + slack * np.abs(high)
    mag = below(a.mag, target) if a.form is not None else a.mag * (1 - 2 * target.u * (not exact))
    whole = None
    if a.small is not None and exact and to in ("float32", "float64"):
        whole = a.small.astype(to)
    facts = tuple(
        replace(
            fact,
            low=fact.low if exact else fact.low - 2 * target.u * abs(fact.low) - target.smallest_subnormal,
            high=fact.high,
        )
        for fact in a.facts
        if fact.kind is Kind.SOME_AT_LEAST
    )
    return tensor(
        to,
        a.shape,
        low,
        high,
        mag,
        may_nan=a.may_nan,
        may_minus_zero=a.may_minus_zero or (a.form is not None and bool((a.low < 0).any())),
        may_plus_zero=True,
        integral=a.integral or is_discrete(a.element_type),
        facts=facts,
        constant=whole,
        bounds_from=a.bounds_from,
    )


def _float_to_integer(a: AbstractTensor, to: str) -> AbstractTensor:
    """Return integers toward zero; what is NaN, infinite or beyond the type may be any of it."""
    smallest, biggest = type_range(to)
    beyond = a.may_nan or bool((a.low < smallest).any() or (a.high > biggest).any())
    if beyond:
        return anything(to, a.shape)
    whole = a.small.astype(to) if a.small is not None and a.form is not None and a.small.dtype.kind == "f" else None
    facts = tuple(
        replace(f, low=float(np.floor(f.low))) for f in a.facts if f.kind is Kind.SOME_AT_LEAST and f.low >= 0
    )
    return tensor(
        to,
        a.shape,
        np.trunc(a.low),
        np.trunc(a.high),
        np.floor(a.mag),
        integral=True,
        facts=facts,
        constant=whole,
        bounds_from=a.bounds_from,
    )


def _cast_error(made: Computed) -> Errors:
    before, after = made.operands[0], made.result
    old = FORMATS.get(before.element_type)
    if old is not None and after.form is None:
        return errors.stepped(made)
    if old is not None and old.u <= made.form.u and old.name == made.form.name:
        return made.errors[0]
    if old is not None and made.form.u <= old.u and made.form.smallest_subnormal <= old.smallest_subnormal:
        return made.errors[0]  # A wider type holds every value.
    if old is None and float(before.box.largest().max()) * made.form.u <= 1:
        return made.errors[0]
    return errors.sum_of(made.errors[0], made.rounding())


TABLE: Mapping[str, Operator] = {
    "BitCast": Operator(_bit_cast),
    "Cast": Operator(_cast, error=_cast_error),
    "CastLike": Operator(_cast_like),
}
