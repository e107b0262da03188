"""Conversions between element types, and quantised tensors: integers with a scale and a zero point."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from onnx import TensorProto

from vinculum.analysis.domain.abstract_tensor import AbstractTensor, BoundsFrom, anything, tensor
from vinculum.analysis.domain.box import Box
from vinculum.analysis.domain.facts import carried
from vinculum.analysis.domain.formats import (
    FORMATS,
    INTEGERS,
    NUMPY_INTEGERS,
    Format,
    every,
    is_discrete,
    outward,
    type_range,
)
from vinculum.analysis.transfer import errors
from vinculum.analysis.transfer.call import Call, Operand, Result
from vinculum.analysis.transfer.declarations import Hidden, Operator
from vinculum.analysis.transfer.errors import Computed, Errors
from vinculum.analysis.transfer.operators.arithmetic import below, quotient_bounds
from vinculum.analysis.transfer.operators.windows import convolution_shape
from vinculum.analysis.transfer.shared import apart_from_zero, like, never_negative, product_shape, rest_on


def _cast(call: Call, a: AbstractTensor) -> AbstractTensor:
    to = call.attributes["to"]
    code = dict(TensorProto.DataType.items()).get(to, 0) if isinstance(to, str) else to  # Operator set 1 has names.
    return converted(a, call.element_type(code) or call.expected().element_type)


def converted(a: AbstractTensor, to: str) -> AbstractTensor:
    """Return a tensor in another element type."""
    if to == a.element_type:
        return a
    if not all(one in FORMATS or is_discrete(one) for one in (a.element_type, to)):
        return anything(to, a.shape)
    if to == "bool":
        low = np.where(a.mag > 0, 1.0, 0.0)
        high = np.where((a.box.largest() == 0) & (not a.may_nan), 0.0, 1.0)
        facts = tuple(f for f in carried(a.facts, lambda v: float(v > 0)) if f.low)
        return tensor("bool", a.shape, low, high, facts=facts, integral=True)
    if to in FORMATS:
        return _to_float(a, to, FORMATS[to])
    return _integer_to_integer(a, to) if a.form is None else _float_to_integer(a, to)


def _integer_to_integer(a: AbstractTensor, to: str) -> AbstractTensor:
    smallest, biggest = type_range(to)
    wraps = a.low.min() < smallest or a.high.max() > biggest
    whole = a.small.astype(to) if a.small is not None and to in NUMPY_INTEGERS else None
    if not wraps:
        return like(a.known(element_type=to), a.shape, a.box, constant=whole, entries=a.entries, facts=a.facts)
    result = tensor(to, a.shape, a.low, a.high, integral=True, constant=whole, bounds_from=BoundsFrom.TYPE)
    # Only 0 becomes 0 in a type of as many bits.
    return apart_from_zero(result) if every(a.mag >= 1) and _width(to) >= _width(a.element_type) else result


def _width(element_type: str) -> float:
    smallest, biggest = type_range(element_type)
    return biggest - smallest


def _to_float(a: AbstractTensor, to: str, target: Format) -> AbstractTensor:
    exact = bool((a.box.largest() <= 1 / target.u).all()) and a.integral
    low, high = outward(a.low, a.high, target, exact=exact or a.form is not None)
    slack = 0.0 if exact else 2 * target.u
    if a.form is None:
        low, high = low - slack * np.abs(low), high + slack * np.abs(high)
    facts = carried(a.facts, lambda v: v if exact else v - slack * abs(v) - target.smallest_subnormal)
    return tensor(
        to,
        a.shape,
        low,
        high,
        below(a.mag, target) if a.form is not None else a.mag * (1 - slack),
        may_nan=a.may_nan,
        may_minus_zero=a.may_minus_zero or (a.form is not None and bool((a.low < 0).any())),
        integral=a.integral or is_discrete(a.element_type),
        facts=facts,
        constant=a.small.astype(to) if a.small is not None and exact and to in ("float32", "float64") else None,
        bounds_from=a.bounds_from,
    )


def _float_to_integer(a: AbstractTensor, to: str) -> AbstractTensor:
    """Return integers toward zero; what is NaN, infinite or beyond the type may be any of it."""
    smallest, biggest = type_range(to)
    beyond = a.may_nan or bool((a.low < smallest).any() or (a.high > biggest).any())
    if beyond:
        return anything(to, a.shape)
    whole = a.small.astype(to) if a.small is not None and a.small.dtype.kind == "f" else None
    box = Box(np.trunc(a.low), np.trunc(a.high), np.floor(a.mag))
    facts = carried(a.facts, lambda v: float(np.trunc(v)))
    return like(a.known(element_type=to), a.shape, box, may_plus_zero=True, integral=True, facts=facts, constant=whole)


def _cast_error(made: Computed) -> Errors:
    before, after = made.operands[0], made.result
    old = FORMATS.get(before.element_type)
    if old is not None and after.form is None:
        return errors.stepped(made)
    if old is None:
        exact = before.largest * made.form.u <= 1
    else:  # A wider type holds every value.
        exact = made.form.u <= old.u and made.form.smallest_subnormal <= old.smallest_subnormal
    return made.errors[0] if exact else errors.sum_of(made.errors[0], made.rounding())


def _quantise(call: Call, a: AbstractTensor, scale: AbstractTensor, point: Operand = None) -> AbstractTensor:
    code = int(call.attribute("output_dtype", 0))
    element_type = point.element_type if point is not None else call.element_type(code) if code else "uint8"
    unknown = a.may_nan or scale.may_nan or scale.may_zero or scale.may_infinite
    if element_type not in INTEGERS or unknown or a.form is None:
        return anything(element_type, a.shape)
    low, high = quotient_bounds(*(x.known(box=x.box.hulled(), shape=()) for x in (a, scale)))
    shift_low, shift_high = (0.0, 0.0) if point is None else point.box.hull()
    least, most = type_range(element_type)
    # One more on each side: the quotient is rounded, and may be computed by the inverse of the scale.
    slack = 1 + 4 * a.form.u * np.maximum(np.abs(low), np.abs(high))
    low, high = np.floor(low - slack) + shift_low, np.ceil(high + slack) + shift_high
    low, high = np.clip(np.fmax(low, least), least, most), np.clip(np.fmin(high, most), least, most)
    return tensor(element_type, a.shape, low, high, integral=True, bounds_from=rest_on(a, scale))


def _dequantise(call: Call, a: AbstractTensor, scale: AbstractTensor, point: Operand = None) -> AbstractTensor:
    code = int(call.attribute("output_dtype", 0))
    element_type = call.element_type(code) if code else scale.element_type
    if scale.form is None or a.element_type not in INTEGERS or scale.may_infinite:
        return anything(element_type, a.shape)
    first, last = (0.0, 0.0) if point is None else point.box.hull()
    low, high = a.box.hull()
    corners = [x * s for x in (low - last, high - first) for s in scale.box.hull()]
    lows, highs = outward(np.asarray(min(corners)), np.asarray(max(corners)), scale.form)
    slack = 8 * scale.form.u
    lows, highs = lows - slack * np.abs(lows), highs + slack * np.abs(highs)
    return tensor(element_type, a.shape, lows, highs, may_nan=scale.may_nan, bounds_from=rest_on(a, scale))


def _dynamic(call: Call, a: AbstractTensor) -> Result:
    """Return x quantised by its own range: the scale is 0 where all of x is."""
    low, high = a.box.hull()
    low, high = min(low, 0.0), max(high, 0.0)
    if a.form is not None and np.isfinite(high - low) and high - low > a.form.max:
        scale = tensor("float32", (), 0, np.inf, may_nan=True, bounds_from=BoundsFrom.TYPE)
    else:
        reach = (high - low) / 255 * (1 + 2.0**-18)
        reach = max(reach, 1.0) if low == 0 or high == 0 else reach  # Of zeros alone some runtimes make the scale 1.
        most = outward(np.zeros(()), np.asarray(reach), FORMATS["float32"])[1]
        nan = a.may_nan or a.may_infinite
        scale = tensor("float32", (), 0, most, may_nan=nan, may_minus_zero=False, bounds_from=a.bounds_from)
    return tensor("uint8", a.shape, 0, 255, integral=True), scale, tensor("uint8", (), 0, 255, integral=True)


def _quantised_product(call: Call, *operands: AbstractTensor) -> AbstractTensor:
    a, b, point = operands[0], operands[3], operands[7]
    shape = convolution_shape(call, a, b) if call.operator == "QLinearConv" else product_shape(a.shape, b.shape)
    return anything(point.element_type, shape).known(bounds_from=BoundsFrom.MODEL)


def _scale(call: Call, x: AbstractTensor, scale: Operand = None, *_: Operand) -> Hidden | None:
    return None if scale is None or scale.form is None else Hidden(1, scale, x.may_zero)


def _dynamic_scale(call: Call, x: AbstractTensor) -> Hidden:
    """Return the scale of a range that zero is put into: zero where all elements are."""
    guarded = "ONNX Runtime, which takes a scale of 1 there"
    return Hidden(0, never_negative(x, float(x.mag.max()) / 256), guarded_by=guarded)


TABLE: Mapping[str, Operator] = {
    "BitCast": Operator(lambda call, a: anything(call.element_type(call.attribute("to", 0)), a.shape)),
    "Cast": Operator(_cast, error=_cast_error),
    "CastLike": Operator(lambda call, a, target: converted(a, target.element_type)),
    "DequantizeLinear": Operator(_dequantise),
    "DynamicQuantizeLinear": Operator(_dynamic, hidden=_dynamic_scale),
    "QLinearConv": Operator(_quantised_product),
    "QLinearMatMul": Operator(_quantised_product),
    "QuantizeLinear": Operator(_quantise, hidden=_scale),
}
