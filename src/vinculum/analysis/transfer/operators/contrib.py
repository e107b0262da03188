"""ONNX Runtime's own operators, which its optimisers, its quantiser and exporters of language models put into graphs.

Most are said by the operators that they fuse.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from vinculum.analysis.domain.abstract_tensor import AbstractTensor, BoundsFrom, anything, join, tensor
from vinculum.analysis.domain.formats import gamma, is_discrete
from vinculum.analysis.transfer.call import Call, Operand, Result, Transfer
from vinculum.analysis.transfer.declarations import Operator, Unary
from vinculum.analysis.transfer.operators import (
    activations,
    attention,
    casts,
    linear,
    normalisation,
)
from vinculum.analysis.transfer.shared import (
    broadcast,
    counts,
    first_of,
    like,
    rearranged,
    rest_on,
    result_of,
    unbounded,
)

MICROSOFT = "com.microsoft"
"""The domain of these operators."""
_QUICK_GELU = replace(activations.SWISH, attributes={"alpha": 1.702})


def _behind(activation: Unary) -> Transfer:
    """Return the transfer function of an activation of a sum with a bias."""

    def transfer(call: Call, x: AbstractTensor, bias: Operand = None) -> AbstractTensor:
        return activation(call, linear.added_up(call, x, bias))

    return transfer


def _skip_layer(
    call: Call, x: AbstractTensor, skip: AbstractTensor, scale: AbstractTensor, *others: Operand
) -> list[AbstractTensor]:
    """Return the normalised sum, its mean and deviation, and the sum."""
    shift, bias = first_of([*[None] * call.operator.startswith("SkipSimplified"), *others], 2)
    return _normalised_sum(call, linear.added_up(call, x, skip, bias), scale, shift)


def _normalised_sum(call: Call, total: AbstractTensor, scale: AbstractTensor, shift: Operand) -> list[AbstractTensor]:
    within = call if "epsilon" in call.attributes else replace(call, attributes={**call.attributes, "epsilon": 1e-12})
    (normalised,) = normalisation.layer(replace(within, results=call.results[:1]), total, scale, shift)
    spare = anything("float32", None if total.shape is None else (*total.shape[:-1], 1))
    return [normalised, spare, spare, total]


def _embedded(call: Call, ids: AbstractTensor, _segments: Operand, *tables: Operand) -> Result:
    """Return the normalised sum of rows of tables, how long each mask is, and the sum."""
    *rows, scale, shift = first_of(tables, 5)
    assert scale is not None
    rows = [_row(table, ids) for table in rows if table is not None]
    normalised, _mean, _deviation, total = _normalised_sum(call, linear.added_up(call, *rows), scale, shift)
    length = counts(None if ids.shape is None else ids.shape[:1]).known(element_type="int32")
    return [normalised, length, total]


def _row(table: AbstractTensor, ids: AbstractTensor) -> AbstractTensor:
    """Return any row of a table for each of some numbers."""
    if not table.shape:
        return table
    shape = None if ids.shape is None else (*ids.shape, table.shape[-1])
    before = [1] * len(ids.shape or ())
    return like(table, shape, table.box.along((0,)).mapped(lambda b: b.reshape((*before, -1))))


def _multiplied(call: Call, a: AbstractTensor, b: AbstractTensor) -> AbstractTensor:
    """Return alpha times a product of matrices, each turned or not."""
    p, q = (_turned(call, x, name) for x, name in ((a, "A"), (b, "B")))
    alpha = float(call.attribute("alpha", 1.0))
    product = linear.scaled(linear.matmul(call, p, q), alpha)
    return product if alpha == 1 else join(product, linear.matmul(call, linear.scaled(p, alpha), q))


def _turned(call: Call, x: AbstractTensor, name: str) -> AbstractTensor:
    """Return matrices, turned as attributes say: the first axis becomes rows, or rows become columns, or both."""
    if x.shape is not None and len(x.shape) > 2 and call.attribute(f"transBatch{name}", 0):
        x = rearranged(x, (*x.shape[1:-1], x.shape[0], x.shape[-1]), lambda b: np.moveaxis(b, 0, -2), ())
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


def _quantised(place: int) -> Transfer:
    """Return the transfer function of an operator on quantised tensors: of the type that a zero point has."""

    def transfer(call: Call, *operands: Operand) -> AbstractTensor:
        whole = [o for o in operands if o is not None and is_discrete(o.element_type)]
        first = next(o for o in whole if o.element_type != "bool")
        point = operands[place] if place < len(operands) else None
        shape = None
        if call.operator in ("QLinearSigmoid", "QLinearLeakyRelu", "QLinearSoftmax"):
            shape = first.shape
        elif call.operator in ("QLinearAdd", "QLinearMul", "QLinearWhere"):
            data = [o.shape for o in whole if o.rank]
            shape = broadcast(*data) if len(data) > 1 else None
        return anything((point or first).element_type, shape).known(bounds_from=BoundsFrom.MODEL)

    return transfer


def _quantised_gemm(call: Call, *operands: Operand) -> AbstractTensor:
    if len(operands) > 8 and operands[8] is not None:
        return anything(operands[8].element_type, None)
    return tensor("float32", None, -np.inf, np.inf, may_nan=True, bounds_from=rest_on(*operands))


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
    largest, scale = a.largest * 1.02, scales.largest
    weight = scale * 2.0 ** int(call.attribute("bits", 4))
    reach = terms * largest * weight if largest and weight else 0.0
    if points is not None and points.form is not None:  # Zero points that are no integers.
        reach += terms * largest * scale * points.largest
    if a.form is None or not np.isfinite(reach):
        return unbounded(a, shape, scales)
    reach = reach * (1 + gamma(terms + 8, a.form)) + terms * a.form.smallest_subnormal
    over = max(reach, terms * largest, weight) > a.form.max  # Some add up the rows of the first factor, too.
    nan = a.may_nan or scales.may_nan or over
    result = result_of((a, scales), shape, 0.0, 0.0, error=np.inf if over else reach, may_nan=nan)
    bias = more[1] if len(more) > 1 else None
    return result if bias is None else linear.added(call.values.numbered(result), bias).known(shape=shape)


def _gather_quantised(
    call: Call, data: AbstractTensor, indices: AbstractTensor, scales: AbstractTensor, *_: Operand
) -> AbstractTensor:
    reach = scales.largest * 2.0 ** int(call.attribute("bits", 4)) * (1 + 2.0**-10)
    if scales.form is None or not np.isfinite(reach):
        return unbounded(scales, None)
    return result_of((scales,), None, 0.0, 0.0, error=reach)


TABLE: Mapping[str, Operator] = {
    **attention.TABLE,
    "BiasGelu": Operator(_behind(activations.GELU)),
    "DequantizeLinear": casts.TABLE["DequantizeLinear"],
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
    **{f"QLinear{name}": Operator(_quantised(7)) for name in ("Add", "Conv", "Mul")},
    **{
        f"QLinear{name}": Operator(_quantised(4))
        for name in ("AveragePool", "GlobalAveragePool", "LeakyRelu", "ReduceMean", "Sigmoid", "Softmax")
    },
    "QLinearConcat": Operator(_quantised(1)),
    "QLinearWhere": Operator(_quantised(8)),
    "QuantizeLinear": casts.TABLE["QuantizeLinear"],
    "QuickGelu": Operator(_QUICK_GELU),
    "RotaryEmbedding": Operator(
        lambda call, x, positions, cosines, sines: linear.scaled(
            linear.rotated(call, x, cosines, sines), float(call.attribute("scale", 1.0))
        )
    ),
    "SkipLayerNormalization": Operator(_skip_layer, hidden=normalisation.deviation),
    "SkipSimplifiedLayerNormalization": Operator(_skip_layer, hidden=normalisation.deviation),
    "TransposeMatMul": Operator(_multiplied),
}
