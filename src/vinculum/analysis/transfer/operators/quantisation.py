"""Quantised tensors: integers with a scale and a zero point."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from vinculum.analysis.domain.abstract_tensor import AbstractTensor, BoundsFrom, anything, tensor
from vinculum.analysis.domain.formats import FORMATS, INTEGERS, outward, type_range
from vinculum.analysis.transfer.call import Call, Operand, Result
from vinculum.analysis.transfer.operator import Hidden, Operator
from vinculum.analysis.transfer.operators.arithmetic import quotient_bounds
from vinculum.analysis.transfer.operators.windows import convolution_shape
from vinculum.analysis.transfer.shared import broadcast, never_negative, rest_on


def _quantised_type(call: Call, point: Operand) -> str:
    if point is not None:
        return point.element_type
    code = int(call.attribute("output_dtype", 0))
    return call.element_type(code) if code else "uint8"


def _hull(a: AbstractTensor) -> AbstractTensor:
    return a.known(box=a.box.hulled(), shape=())


def _quantise(call: Call, a: AbstractTensor, scale: AbstractTensor, point: Operand = None) -> AbstractTensor:
    element_type = _quantised_type(call, point)
    if (
        element_type not in INTEGERS
        or a.may_nan
        or scale.may_nan
        or scale.may_zero
        or a.form is None
        or scale.may_infinite
    ):
        return anything(element_type, a.shape)
    low, high = quotient_bounds(_hull(a), _hull(scale))
    shift_low, shift_high = (0.0, 0.0) if point is None else point.box.hull()
    least, most = type_range(element_type)
    # One more on each side: the quotient is rounded, and may be computed by the inverse of the scale.
    slack = 1 + 4 * a.form.u * np.maximum(np.abs(low), np.abs(high))
    low, high = np.floor(low - slack) + shift_low, np.ceil(high + slack) + shift_high
    low, high = (
        np.clip(np.nan_to_num(low, nan=least, posinf=most, neginf=least), least, most),
        np.clip(np.nan_to_num(high, nan=most, posinf=most, neginf=least), least, most),
    )
    return tensor(element_type, a.shape, low, high, integral=True, bounds_from=rest_on(a, scale))


def _dequantise(call: Call, a: AbstractTensor, scale: AbstractTensor, point: Operand = None) -> AbstractTensor:
    code = int(call.attribute("output_dtype", 0))
    element_type = call.element_type(code) if code else scale.element_type
    first, factor = _hull(a), _hull(scale)
    if factor.form is None or a.element_type not in INTEGERS or factor.may_infinite:
        return anything(element_type, a.shape)
    shift = (0.0, 0.0) if point is None else point.box.hull()
    low, high = float(first.low) - shift[1], float(first.high) - shift[0]
    corners = [x * float(s) for x in (low, high) for s in (factor.low, factor.high)]
    lows, highs = outward(np.asarray(min(corners)), np.asarray(max(corners)), factor.form)
    slack = 8 * factor.form.u
    lows, highs = lows - slack * np.abs(lows), highs + slack * np.abs(highs)
    return tensor(element_type, a.shape, lows, highs, may_nan=scale.may_nan, bounds_from=rest_on(a, scale))


def _dynamic(call: Call, a: AbstractTensor) -> Result:
    """Return x quantised by its own range: the scale is 0 where all of x is."""
    low, high = min(float(a.low.min()), 0.0), max(float(a.high.max()), 0.0)
    form = a.form
    reach = (high - low) / 255 * (1 + 2.0**-18) if np.isfinite([low, high]).all() else np.inf
    if low == 0 or high == 0:  # Of zeros alone some runtimes make the scale 1.
        reach = max(reach, 1.0)
    reach = float(outward(np.asarray(0.0), np.asarray(reach), FORMATS["float32"])[1])
    scale = tensor(
        "float32", (), 0, reach, may_nan=a.may_nan or a.may_infinite, may_minus_zero=False, bounds_from=a.bounds_from
    )
    if form is not None and np.isfinite(high - low) and high - low > form.max:
        scale = tensor("float32", (), 0, np.inf, may_nan=True, bounds_from=BoundsFrom.TYPE)
    whole = [tensor("uint8", shape, 0, 255, integral=True) for shape in (a.shape, ())]
    return whole[0], scale, whole[1]


def _quantised_product(call: Call, *operands: Operand) -> AbstractTensor:
    point = operands[7] if len(operands) > 7 else None
    element_type = point.element_type if point is not None else call.expected().element_type
    shape = None
    if call.operator == "QLinearConv" and operands[0] is not None and operands[3] is not None:
        shape = convolution_shape(call, operands[0], operands[3])
    elif operands[0] is not None and operands[3] is not None and operands[0].shape and operands[3].shape:
        a, b = operands[0].shape, operands[3].shape
        lead = broadcast(a[:-2], b[:-2])
        shape = (*lead, a[-2], b[-1]) if lead is not None and min(len(a), len(b)) > 1 else None
    return anything(element_type, shape).known(bounds_from=BoundsFrom.MODEL)


def _scale(call: Call, x: AbstractTensor, scale: Operand = None, *_: Operand) -> Hidden | None:
    return None if scale is None or scale.form is None else Hidden(1, scale, x.may_zero)


def _dynamic_scale(call: Call, x: AbstractTensor) -> Hidden:
    """Return the scale of a range that zero is put into: zero where all elements are."""
    guarded = "ONNX Runtime, which takes a scale of 1 there"
    return Hidden(0, never_negative(x, float(x.mag.max()) / 256), guarded_by=guarded)


TABLE: Mapping[str, Operator] = {
    "DequantizeLinear": Operator(_dequantise),
    "DynamicQuantizeLinear": Operator(_dynamic, hidden=_dynamic_scale),
    "QLinearConv": Operator(_quantised_product),
    "QLinearMatMul": Operator(_quantised_product),
    "QuantizeLinear": Operator(_quantise, hidden=_scale),
}
