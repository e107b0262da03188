"""ONNX Runtime's own operators, which its optimisers, its quantiser and exporters of language models put into graphs.

Most are computed from the operators that they fuse.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial, reduce

import numpy as np

from vinculum.analysis.domain.abstract_tensor import AbstractTensor, BoundsFrom, anything, join, tensor
from vinculum.analysis.domain.dimensions import Shape, bounds, element_count
from vinculum.analysis.domain.formats import gamma, is_discrete, outward
from vinculum.analysis.transfer.call import Call, Operand, Result, Transfer
from vinculum.analysis.transfer.declarations import Operator, Unary
from vinculum.analysis.transfer.operators import activations, casts, linear, normalisation
from vinculum.analysis.transfer.shared import (
    broadcast,
    counts,
    first_of,
    hulled,
    hulled_with_zero,
    like,
    rearranged,
    rest_on,
    result_of,
    unbounded,
    with_zero,
)

MICROSOFT = "com.microsoft"
"""The domain of these operators."""
_QUICK_GELU = replace(activations.SWISH, attributes={"alpha": 1.702})


def _behind(call: Call, x: AbstractTensor, bias: Operand = None, *, activation: Unary) -> AbstractTensor:
    """Return an activation of a sum with a bias."""
    return activation(call, linear.added_up(call, x, bias))


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


def _activated(
    call: Call, a: AbstractTensor, b: AbstractTensor, c: Operand = None, z: Operand = None, *, product: Transfer
) -> Result:
    """Return a product, what is added to it, and an activation."""
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


def _quantised(call: Call, *operands: Operand, place: int) -> AbstractTensor:
    """Return what an operator on quantised tensors gives: of the type that a zero point has."""
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


def _quantised_gemm(call: Call, *operands: Operand) -> AbstractTensor:
    if len(operands) > 8 and operands[8] is not None:
        return anything(operands[8].element_type, None)
    return tensor("float32", None, -np.inf, np.inf, may_nan=True, bounds_from=rest_on(*operands))


def _float_of(call: Call, *operands: Operand, place: int) -> AbstractTensor:
    """Return any numbers of the type of a scale: products of quantised tensors have no bounds here."""
    scale = operands[place]
    assert scale is not None
    return unbounded(scale, None, *[o for o in operands if o is not None])


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


def _attention(call: Call, x: AbstractTensor, weights: AbstractTensor, *others: Operand) -> Result:
    """Return means of values, which are a part of a product, weighted by a softmax; and keys and values."""
    bias, _mask, past, added = first_of(others, 4)
    every = linear.added_up(call, linear.matmul(call, x, weights), bias)
    sizes = call.attribute("qkv_hidden_sizes", None)
    width = every.shape[-1] if every.shape else None
    if not isinstance(width, int) or every.form is None:
        return [unbounded(x, None, weights), unbounded(x, None, weights)]
    first, second, third = sizes if sizes else [width // 3] * 3
    queries, keys, values = (
        every.known(box=every.box.mapped(lambda b, s=s: b[..., s] if b.shape[-1] > 1 else b), number=0)  # type: ignore[misc]
        for s in (slice(0, first), slice(first, first + second), slice(first + second, None))
    )
    shape, head = (*(every.shape or ())[:-1], third), first / max(int(call.attribute("num_heads", 1)), 1)
    means = _attended(call, queries, [keys, past], [values, past], added, shape, rows_of=[x, past], width=head)
    return [means, _present(call, 1, keys, past, values, past)]


def _multi_head(call: Call, query: AbstractTensor, *others: Operand) -> Result:
    """Return means of values, weighted by a softmax; and keys and values, those of the past too."""
    key, value, bias, mask, added, past_key, past_value = first_of(others, 7)
    shape: Shape | None = None
    if query.shape is not None and len(query.shape) == 3 and value is not None and value.shape is not None:
        shape = (*query.shape[:-1], value.shape[-1] if len(value.shape) == 3 else query.shape[-1])
    queries, keys, values = (
        x if bias is None else linear.added(hulled(x, None), hulled(bias, None))
        for x in (query, key or query, value or key or query)
    )
    rows, width = [key or query, past_key], _width_of_head(call, query)
    means = _attended(
        call, queries, [keys, past_key], [values, past_value], added, shape, mask=mask, rows_of=rows, width=width
    )
    return [means, _present(call, 1, keys, past_key), _present(call, 2, values, past_value)]


def _grouped(call: Call, query: AbstractTensor, *others: Operand) -> Result:
    """Return means of values, as MultiHeadAttention does, after a rotation; a sink takes a part of the weights."""
    key, value, past_key, past_value, lengths, _total, cosines, sines, _positions, added, sink = first_of(others, 11)
    shape = query.shape if key is not None else None
    quantised = any(past is not None and past.form is None for past in (past_key, past_value))
    if quantised or any(operand is not None for operand in others[11:]):  # Or queries are normalised.
        return [unbounded(query, shape), *(call.anything(place) for place in (1, 2))]
    queries, keys, values = query, key or query, value or query
    if cosines is not None and sines is not None:
        queries, keys = (linear.rotated(call, x, cosines, sines) for x in (queries, keys))
    rows = [key or query, past_key]
    mean = _attended(call, queries, [keys, past_key], [values, past_value], added, shape, rows_of=rows)
    # A sink takes a part of the weights, and rows of padding are 0; of no keys at all nothing is known.
    nan = mean.may_nan or lengths is None or bool((lengths.low < 0).any())
    nan = nan or (sink is not None and (sink.may_nan or sink.may_infinite))
    box = with_zero(mean.box)
    caches = (_present(call, 1, keys, past_key), _present(call, 2, values, past_value))
    return [
        result_of((mean, sink), shape, box.low, box.high, may_nan=nan),
        *(hulled_with_zero(cache, cache.shape) for cache in caches),  # What is not written is 0.
    ]


def _width_of_head(call: Call, query: AbstractTensor) -> float:
    if query.shape is None:
        return np.inf
    return bounds(query.shape[-1])[1] / (max(int(call.attribute("num_heads", 1)), 1) if len(query.shape) == 3 else 1)


def _present(call: Call, place: int, *kept: Operand) -> AbstractTensor:
    """Return a cache: what is put into it, and what was there, be it unused memory that nobody has written."""
    given = [hulled(operand, None) for operand in kept if operand is not None]
    return hulled(reduce(join, given), call.expected(place).shape)


def _attended(
    call: Call,
    queries: AbstractTensor,
    keys: Sequence[Operand],
    values: Sequence[Operand],
    added: Operand,
    shape: Shape | None,
    *,
    mask: Operand = None,
    rows_of: Sequence[Operand] | None = None,
    width: float | None = None,
) -> AbstractTensor:
    """Return weighted means of values, the weights a softmax over the keys, and NaN where scores may be none.

    - `rows_of`: what has a row for each score of a softmax, whatever the order of batches, heads and rows; the keys.
    - `width`: of how many products a score is the sum; by the queries.
    """
    every = [operand for operand in values if operand is not None]
    known_keys = [operand for operand in keys if operand is not None]
    given, form = [queries, *known_keys, *every], queries.form
    rows = sum(
        np.inf if key.shape is None else element_count(key.shape[:-1])[1]
        for key in (known_keys if rows_of is None else rows_of)
        if key is not None
    )
    if form is None or not np.isfinite(rows) or any(x.may_infinite for x in given):
        return unbounded(queries, shape, *[x for x in given if x.form is not None])
    box = every[0].box.hulled()
    if shape is not None and every[0].rank == len(shape):  # A mean is over rows, of one column.
        box = every[0].box.along(tuple(range(len(shape) - 1)))
    low, high = np.asarray(box.low), np.asarray(box.high)
    for past in every[1:]:
        low, high = np.minimum(low, past.low.min()), np.maximum(high, past.high.max())
    terms = _width_of_head(call, queries) if width is None else width
    scores = terms * queries.largest * max(key.largest for key in known_keys)
    scores *= max(abs(float(call.attribute("scale", 0.0))), 1.0) * 1.01
    scores += 0.0 if added is None else added.largest
    masks = bool(mask is not None) + bool(call.attribute("unidirectional", 0))
    scores += masks * abs(float(call.attribute("mask_filter_value", -10000.0)))
    error = gamma(rows + 16, form) + 2.0**-18
    largest = np.maximum(np.abs(low), np.abs(high))
    slack = error * largest + rows * form.smallest_subnormal
    low, high = outward(low - slack, high + slack, form)
    over = largest * rows * (1 + error) * 1.01 > form.max  # Some divide by the sum of the weights at the end.
    low, high = np.where(over & (low < 0), -np.inf, low), np.where(over & (high > 0), np.inf, high)
    nan = bool(over.any()) or not scores < form.max * (1 + form.u / 2)
    return result_of((*given, added), shape, low, high, may_nan=nan or any(x.may_nan for x in (*given, added) if x))


TABLE: Mapping[str, Operator] = {
    "Attention": Operator(_attention),
    "BiasGelu": Operator(partial(_behind, activation=activations.GELU)),
    "DequantizeLinear": casts.TABLE["DequantizeLinear"],
    "DynamicQuantizeMatMul": Operator(partial(_float_of, place=0)),
    "EmbedLayerNormalization": Operator(_embedded),
    "FastGelu": Operator(partial(_behind, activation=activations.GELU_BY_TANH)),
    "FusedConv": Operator(partial(_activated, product=linear.TABLE["Conv"].transfer)),
    "FusedGemm": Operator(partial(_activated, product=linear.TABLE["Gemm"].transfer)),
    "FusedMatMul": Operator(_multiplied),
    "GatherBlockQuantized": Operator(_gather_quantised),
    "Gelu": Operator(partial(_behind, activation=activations.GELU)),
    "GroupQueryAttention": Operator(_grouped),
    "MatMulIntegerToFloat": Operator(partial(_float_of, place=2)),
    "MatMulNBits": Operator(_by_small_integers),
    "MultiHeadAttention": Operator(_multi_head),
    "QAttention": Operator(partial(_float_of, place=3)),
    "QGemm": Operator(_quantised_gemm),
    **{f"QLinear{name}": Operator(partial(_quantised, place=7)) for name in ("Add", "Conv", "Mul")},
    **{
        f"QLinear{name}": Operator(partial(_quantised, place=4))
        for name in ("AveragePool", "GlobalAveragePool", "LeakyRelu", "ReduceMean", "Sigmoid", "Softmax")
    },
    "QLinearConcat": Operator(partial(_quantised, place=1)),
    "QLinearWhere": Operator(partial(_quantised, place=8)),
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
