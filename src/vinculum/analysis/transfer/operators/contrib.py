"""ONNX Runtime's own operators, which its optimisers, its quantiser and exporters of language models put into graphs.

Most are said by the operators that they fuse.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from vinculum.analysis.domain.abstract_tensor import AbstractTensor, anything, tensor
from vinculum.analysis.domain.formats import gamma, is_discrete, outward
from vinculum.analysis.domain.joining import join
from vinculum.analysis.transfer.call import Call, Operand, Result, Transfer
from vinculum.analysis.transfer.operator import Operator
from vinculum.analysis.transfer.operators import (
    activations,
    attention,
    linear,
    normalisation,
    quantisation,
)
from vinculum.analysis.transfer.shared import broadcast, counts, rest_on, unbounded
from vinculum.analysis.transfer.unary import Unary

MICROSOFT = "com.microsoft"
"""The domain of these operators."""
_QUICK_GELU = replace(activations.SWISH, attributes={"alpha": 1.702})


def _behind(activation: Unary) -> Transfer:
    """Return the transfer function of an activation of a sum with a bias."""

    def transfer(call: Call, x: AbstractTensor, bias: Operand = None) -> AbstractTensor:
        return activation(call, linear.added_up(call, x, bias))

    return transfer


def _skip_layer(
    call: Call,
    x: AbstractTensor,
    skip: AbstractTensor,
    scale: AbstractTensor,
    shift: Operand = None,
    bias: Operand = None,
) -> Result:
    """Return the normalised sum, its mean and deviation, and the sum."""
    return _normalised_sum(call, linear.added_up(call, x, skip, bias), scale, shift)


def _skip_root_mean_square(
    call: Call, x: AbstractTensor, skip: AbstractTensor, scale: AbstractTensor, bias: Operand = None
) -> Result:
    return _normalised_sum(call, linear.added_up(call, x, skip, bias), scale, None)


def _normalised_sum(call: Call, total: AbstractTensor, scale: AbstractTensor, shift: Operand) -> list[AbstractTensor]:
    within = call if "epsilon" in call.attributes else replace(call, attributes={**call.attributes, "epsilon": 1e-12})
    (normalised,) = normalisation.layer(replace(within, results=call.results[:1]), total, scale, shift)
    spare = anything("float32", None if total.shape is None else (*total.shape[:-1], 1))
    return [normalised, spare, spare, total]


def _embedded(
    call: Call,
    ids: AbstractTensor,
    segments: Operand,
    words: AbstractTensor,
    positions: AbstractTensor,
    of_segments: Operand,
    scale: AbstractTensor,
    shift: AbstractTensor,
    *_: Operand,
) -> Result:
    """Return the normalised sum of rows of tables, how long each mask is, and the sum."""
    shape = None if ids.shape is None or not words.shape else (*ids.shape, words.shape[-1])
    before = [1] * len(ids.shape or ())
    rows = [
        table if table is None or table.shape is None else table.known(
            number=0, shape=shape, box=table.box.along((0,)).mapped(lambda b: b.reshape((*before, -1))),
            constant=None, facts=(), affine=None,
        )
        for table in (words, positions, of_segments)
    ]  # fmt: skip
    normalised, _mean, _deviation, total = _normalised_sum(call, linear.added_up(call, *rows), scale, shift)
    length = counts(None if ids.shape is None else ids.shape[:1]).known(element_type="int32")
    return [normalised, length, total]


def _multiplied(call: Call, a: AbstractTensor, b: AbstractTensor) -> AbstractTensor:
    """Return alpha times a product of matrices, each turned or not."""
    p, q = (_turned(call, x, name) for x, name in ((a, "A"), (b, "B")))
    alpha = float(call.attribute("alpha", 1.0))
    product = linear.scaled(linear.matmul(call, p, q), alpha)
    return product if alpha == 1 else join(product, linear.matmul(call, linear.scaled(p, alpha), q))


def _turned(call: Call, x: AbstractTensor, name: str) -> AbstractTensor:
    """Return matrices, turned as attributes say: the first axis becomes rows, or rows become columns, or both."""
    if x.shape is not None and len(x.shape) > 2 and call.attribute(f"transBatch{name}", 0):
        whole = None if x.constant is None else np.moveaxis(x.constant, 0, -2)
        box = x.box.mapped(lambda bounds: np.moveaxis(bounds, 0, -2))
        shape = (*x.shape[1:-1], x.shape[0], x.shape[-1])
        x = x.known(number=0, shape=shape, box=box, constant=whole, facts=(), affine=None, entries=None)
    return linear.turned(x) if call.attribute(f"trans{name}", 0) and (x.rank or 0) > 1 else x


def _activated(product: Transfer) -> Transfer:
    """Return the transfer function of a product, what is added to it, and an activation."""

    def transfer(call: Call, a: AbstractTensor, b: AbstractTensor, c: Operand = None, z: Operand = None) -> Result:
        result = product(call, a, b, c)
        assert isinstance(result, AbstractTensor)
        if z is not None:
            result = linear.added(result, z)
        name = str(call.attribute("activation", ""))
        known = activations.TABLE.get(name)
        if not name:
            return result
        if known is None:
            return unbounded(result, result.shape)
        given = [float(value) for value in call.attribute("activation_params", ())]
        names = list(known.transfer.attributes) if isinstance(known.transfer, Unary) else ["min", "max"]
        set_ = {k: call.attribute(f"activation_{k}", None) for k in names}
        attributes = {**{k: v for k, v in set_.items() if v is not None}, **dict(zip(names, given, strict=False))}
        return known.transfer(replace(call, attributes=attributes), call.values.numbered(result))

    return transfer


def _quick_gelu(call: Call, x: AbstractTensor) -> AbstractTensor:
    return _QUICK_GELU(call, x)


def _rotated(call: Call, x: AbstractTensor, positions: Operand, cosines: AbstractTensor, sines: AbstractTensor) -> Any:
    turned = linear.rotated(call, x, cosines, sines)
    return linear.scaled(turned, float(call.attribute("scale", 1.0)))


def _quantised(place: int) -> Transfer:
    """Return the transfer function of an operator on quantised tensors: of the type that a zero point has."""

    def transfer(call: Call, *operands: Operand) -> AbstractTensor:
        whole = [o for o in operands if o is not None and is_discrete(o.element_type)]
        first = next(o for o in whole if o.element_type != "bool")
        point = operands[place] if place < len(operands) else None
        data = [o for o in whole if o.rank]
        shape = None
        if call.operator in ("QLinearSigmoid", "QLinearLeakyRelu", "QLinearSoftmax"):
            shape = first.shape
        elif call.operator in ("QLinearAdd", "QLinearMul", "QLinearWhere"):
            shape = broadcast(*[o.shape for o in data]) if len(data) > 1 else None
        return anything((point or first).element_type, shape).known(bounds_from=rest_on())

    return transfer


def _quantised_gemm(call: Call, *operands: Operand) -> AbstractTensor:
    point = operands[8] if len(operands) > 8 else None
    if point is None:
        return tensor("float32", None, -np.inf, np.inf, may_nan=True, bounds_from=rest_on(*operands))
    return anything(point.element_type, None)


def _float_of(place: int) -> Transfer:
    """Return the transfer function of a product of quantised tensors in the type of a scale: nothing is said of it."""

    def transfer(call: Call, *operands: Operand) -> AbstractTensor:
        scale = operands[place]
        assert scale is not None
        return unbounded(scale, None, *[o for o in operands if o is not None])

    return transfer


def _by_small_integers(
    call: Call, a: AbstractTensor, b: AbstractTensor, scales: AbstractTensor, points: Operand = None, *more: Operand
) -> AbstractTensor:
    """Return a product with a matrix of few bits, each block scaled; the other factor may be rounded too."""
    columns, terms = int(call.attribute("N", 0)), float(call.attribute("K", 0))
    shape = None if not a.shape else (*a.shape[:-1], columns)
    largest = float(a.box.largest().max()) * 1.02
    weight = float(scales.box.largest().max()) * 2.0 ** int(call.attribute("bits", 4))
    reach = terms * largest * weight if largest and weight else 0.0
    if points is not None and points.form is not None:  # Zero points that are no integers.
        reach += terms * largest * float(scales.box.largest().max()) * float(points.box.largest().max())
    if a.form is None or not np.isfinite(reach):
        return unbounded(a, shape, scales)
    reach *= 1 + gamma(terms + 8, a.form)
    reach += terms * a.form.smallest_subnormal
    over = max(reach, terms * largest, weight) > a.form.max  # Some add up the rows of the first factor, too.
    low, high = (np.asarray(end) for end in ((-np.inf, np.inf) if over else (-reach, reach)))
    nan = a.may_nan or scales.may_nan or over
    result = tensor(a.element_type, shape, *outward(low, high, a.form), may_nan=nan, bounds_from=rest_on(a, scales))
    bias = more[1] if len(more) > 1 else None
    return result if bias is None else linear.added(call.values.numbered(result), bias).known(shape=shape)


def _gather_quantised(
    call: Call, data: AbstractTensor, indices: AbstractTensor, scales: AbstractTensor, *_: Operand
) -> AbstractTensor:
    reach = float(scales.box.largest().max()) * 2.0 ** int(call.attribute("bits", 4)) * (1 + 2.0**-10)
    if scales.form is None or not np.isfinite(reach):
        return unbounded(scales, None)
    low, high = outward(np.asarray(-reach), np.asarray(reach), scales.form)
    return tensor(scales.element_type, None, low, high, may_nan=scales.may_nan, bounds_from=rest_on(scales))


TABLE: Mapping[str, Operator] = {
    **attention.TABLE,
    "BiasGelu": Operator(_behind(activations.GELU)),
    "DequantizeLinear": quantisation.TABLE["DequantizeLinear"],
    "DynamicQuantizeMatMul": Operator(_float_of(0)),
    "EmbedLayerNormalization": Operator(_embedded),
    "FastGelu": Operator(_behind(activations.GELU_BY_TANH)),
    "FusedConv": Operator(_activated(linear.TABLE["Conv"].transfer)),
    "FusedGemm": Operator(_activated(linear.TABLE["Gemm"].transfer)),
    "FusedMatMul": Operator(_multiplied),
    "GatherBlockQuantized": Operator(_gather_quantised),
    "Gelu": Operator(_behind(activations.GELU)),
    "MatMulIntegerToFloat": Operator(_float_of(2)),
    "MatMulNBits": Operator(_by_small_integers),
    "QAttention": Operator(_float_of(3)),
    "QGemm": Operator(_quantised_gemm),
    "QLinearAdd": Operator(_quantised(7)),
    "QLinearAveragePool": Operator(_quantised(4)),
    "QLinearConcat": Operator(_quantised(1)),
    "QLinearConv": Operator(_quantised(7)),
    "QLinearGlobalAveragePool": Operator(_quantised(4)),
    "QLinearLeakyRelu": Operator(_quantised(4)),
    "QLinearMul": Operator(_quantised(7)),
    "QLinearReduceMean": Operator(_quantised(4)),
    "QLinearSigmoid": Operator(_quantised(4)),
    "QLinearSoftmax": Operator(_quantised(4)),
    "QLinearWhere": Operator(_quantised(8)),
    "QuantizeLinear": quantisation.TABLE["QuantizeLinear"],
    "QuickGelu": Operator(_quick_gelu),
    "RotaryEmbedding": Operator(_rotated),
    "SkipLayerNormalization": Operator(_skip_layer, hidden=normalisation.deviation),
    "SkipSimplifiedLayerNormalization": Operator(_skip_root_mean_square, hidden=normalisation.deviation),
    "TransposeMatMul": Operator(_multiplied),
}
