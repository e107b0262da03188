"""Attention as ONNX Runtime's own operators have it: means of values, weighted by a softmax of scores."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import reduce

import numpy as np

from vinculum.analysis.domain.abstract_tensor import AbstractTensor, join
from vinculum.analysis.domain.dimensions import Shape, bounds, element_count
from vinculum.analysis.domain.formats import gamma, outward
from vinculum.analysis.transfer.call import Call, Operand, Result
from vinculum.analysis.transfer.declarations import Operator
from vinculum.analysis.transfer.operators import linear
from vinculum.analysis.transfer.shared import first_of, hulled, hulled_with_zero, result_of, unbounded, with_zero


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
    "GroupQueryAttention": Operator(_grouped),
    "MultiHeadAttention": Operator(_multi_head),
}
