"""Attention as ONNX Runtime's own operators have it: means of values, weighted by a softmax of scores."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from vinculum.analysis.domain.abstract_tensor import AbstractTensor, tensor
from vinculum.analysis.domain.dimensions import Shape, bounds, element_count
from vinculum.analysis.domain.formats import gamma, outward
from vinculum.analysis.domain.joining import join
from vinculum.analysis.transfer.call import Call, Operand, Result
from vinculum.analysis.transfer.operator import Operator
from vinculum.analysis.transfer.operators import linear
from vinculum.analysis.transfer.shared import hulled, hulled_with_zero, rest_on, unbounded


def _attention(
    call: Call,
    x: AbstractTensor,
    weights: AbstractTensor,
    bias: Operand = None,
    mask: Operand = None,
    past: Operand = None,
    added: Operand = None,
    *_: Operand,
) -> Result:
    """Return means of values, which are a part of a product, weighted by a softmax; and keys and values."""
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
    shape = (*(every.shape or ())[:-1], third)
    heads = max(int(call.attribute("num_heads", 1)), 1)
    return [
        _attended(call, queries, [keys, past], [values, past], added, shape, first / heads, _rows(x, past)),
        join(_present(call, 1, keys, past), _present(call, 1, values, past)),
    ]


def _multi_head(
    call: Call,
    query: AbstractTensor,
    key: Operand = None,
    value: Operand = None,
    bias: Operand = None,
    mask: Operand = None,
    added: Operand = None,
    past_key: Operand = None,
    past_value: Operand = None,
    *_: Operand,
) -> Result:
    """Return means of values, weighted by a softmax; and keys and values, those of the past too."""
    shape: Shape | None = None
    if query.shape is not None and len(query.shape) == 3 and value is not None and value.shape is not None:
        width = value.shape[-1] if len(value.shape) == 3 else None
        shape = (*query.shape[:-1], width if width is not None else query.shape[-1])
    given = [x if bias is None else linear.added(_spread(x), _spread(bias)) for x in (query, key or query)]
    values = value if value is not None else key if key is not None else query
    own = values if bias is None else linear.added(_spread(values), _spread(bias))
    head = _width_of_head(call, query)
    rows = _rows(key if key is not None else query, past_key)
    output = _attended(call, given[0], [given[1], past_key], [own, past_value], added, shape, head, rows, mask)
    return [output, _present(call, 1, given[1], past_key), _present(call, 2, own, past_value)]


def _grouped(
    call: Call,
    query: AbstractTensor,
    key: Operand = None,
    value: Operand = None,
    past_key: Operand = None,
    past_value: Operand = None,
    lengths: Operand = None,
    total: Operand = None,
    cosines: Operand = None,
    sines: Operand = None,
    positions: Operand = None,
    added: Operand = None,
    sink: Operand = None,
    *others: Operand,
) -> Result:
    """Return means of values, as MultiHeadAttention does, after a rotation; a sink takes a part of the weights."""
    shape = query.shape if key is not None else None
    if any(operand is not None for operand in others) or any(
        past is not None and past.form is None for past in (past_key, past_value)
    ):  # Caches are quantised, or queries normalised.
        return [unbounded(query, shape), *(call.anything(place) for place in (1, 2))]
    turned = [query, key if key is not None else query]
    if cosines is not None and sines is not None:
        turned = [linear.rotated(call, x, cosines, sines) for x in turned]
    values = value if value is not None else query
    rows = _rows(key if key is not None else query, past_key)
    width = _width_of_head(call, query)
    mean = _attended(call, turned[0], [turned[1], past_key], [values, past_value], added, shape, width, rows)
    # A sink takes a part of the weights, and rows of padding are 0; of no keys at all nothing is known.
    low, high = np.minimum(mean.low, 0.0), np.maximum(mean.high, 0.0)
    nan = mean.may_nan or lengths is None or bool((lengths.low < 0).any())
    nan = nan or (sink is not None and (sink.may_nan or sink.may_infinite))
    bounds_from = max(mean.bounds_from, rest_on(sink))
    output = tensor(mean.element_type, shape, low, high, may_nan=nan, bounds_from=bounds_from)
    caches = (_present(call, 1, turned[1], past_key), _present(call, 2, values, past_value))
    return [output, *(hulled_with_zero(cache, cache.shape) for cache in caches)]  # What is not written is 0.


def _spread(x: AbstractTensor) -> AbstractTensor:
    """Return one interval for all elements."""
    return x.known(number=0, shape=None, box=x.box.hulled(), constant=None, facts=(), affine=None, entries=None)


def _width_of_head(call: Call, query: AbstractTensor) -> float:
    if query.shape is None:
        return np.inf
    return bounds(query.shape[-1])[1] / (max(int(call.attribute("num_heads", 1)), 1) if len(query.shape) == 3 else 1)


def _present(call: Call, place: int, now: AbstractTensor, past: Operand) -> AbstractTensor:
    """Return a cache: what is put into it, and what was there, be it unused memory that nobody has written."""
    shape = call.expected(place).shape
    if past is None:
        return hulled(_spread(now), shape)
    return hulled(join(_spread(now), _spread(past)), shape)


def _attended(
    call: Call,
    queries: AbstractTensor,
    keys: list[Operand],
    values: list[Operand],
    added: Operand,
    shape: Shape | None,
    width: float,
    rows: float,
    mask: Operand = None,
) -> AbstractTensor:
    """Return weighted means of values, the weights a softmax over the keys, and NaN where scores may be none.

    - `width`, `rows`: of how many products a score is the sum, and over how many scores a softmax is.
    """
    every = [operand for operand in values if operand is not None]
    box = every[0].box if shape is not None and every[0].rank == len(shape) else every[0].box.hulled()
    low, high = (np.asarray(end) for end in (box.low, box.high))
    if shape is not None and low.ndim == len(shape):  # A mean is over rows, of one column.
        rest = tuple(range(len(shape) - 1))
        low, high = low.min(axis=rest, keepdims=True), high.max(axis=rest, keepdims=True)
    for past in every[1:]:
        low, high = np.minimum(low, past.low.min()), np.maximum(high, past.high.max())
    given = [operand for operand in (queries, *keys, *every) if operand is not None]
    form = queries.form
    longest = max(float(key.box.largest().max()) for key in keys if key is not None)
    scores = width * float(queries.box.largest().max()) * longest
    scores *= max(abs(float(call.attribute("scale", 0.0))), 1.0) * 1.01
    scores += 0.0 if added is None else float(added.box.largest().max())
    if mask is not None or call.attribute("unidirectional", 0):
        filled = abs(float(call.attribute("mask_filter_value", -10000.0)))
        scores += filled * (1 + bool(mask is not None and call.attribute("unidirectional", 0)))
    if form is None or not np.isfinite(rows) or any(x.may_infinite for x in given):
        return unbounded(queries, shape, *[x for x in given if x.form is not None])
    error = gamma(rows + 16, form) + 2.0**-18
    largest = np.maximum(np.abs(low), np.abs(high))
    slack = error * largest + rows * form.smallest_subnormal
    low, high = outward(low - slack, high + slack, form)
    over = largest * rows * (1 + error) * 1.01 > form.max  # Some divide by the sum of the weights at the end.
    low, high = np.where(over & (low < 0), -np.inf, low), np.where(over & (high > 0), np.inf, high)
    nan = bool(over.any()) or not scores < form.max * (1 + form.u / 2)
    nan = nan or any(x.may_nan for x in (*given, added) if x is not None)
    return tensor(queries.element_type, shape, low, high, may_nan=nan, bounds_from=rest_on(*given, added))


def _rows(*keys: Operand) -> float:
    """Return over how many keys a softmax is at most, in whatever order batches, heads and rows stand."""
    given = [key for key in keys if key is not None]
    return sum(np.inf if key.shape is None else element_count(key.shape[:-1])[1] for key in given)


TABLE: Mapping[str, Operator] = {
    "Attention": Operator(_attention),
    "GroupQueryAttention": Operator(_grouped),
    "MultiHeadAttention": Operator(_multi_head),
}
