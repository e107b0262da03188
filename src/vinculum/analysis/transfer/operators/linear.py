"""Products of matrices and convolutions: every order of summation, fused or not."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vinculum.analysis.domain.abstract_tensor import AbstractTensor, anything, tensor
from vinculum.analysis.domain.box import LIMIT, Box
from vinculum.analysis.domain.dimensions import Shape, bounds, element_count, resized
from vinculum.analysis.domain.facts import Fact, Kind, find
from vinculum.analysis.domain.formats import Bounds, gamma, outward
from vinculum.analysis.transfer import errors
from vinculum.analysis.transfer.call import Call, Operand
from vinculum.analysis.transfer.declarations import Operator
from vinculum.analysis.transfer.errors import Computed, Errors
from vinculum.analysis.transfer.operators.windows import convolution_shape, transposed_shape
from vinculum.analysis.transfer.shared import (
    broadcast,
    like,
    product_shape,
    rearranged,
    rest_on,
    result_of,
    unbounded,
    with_zero,
)

_OURS = 2.0**-52
"""Of each of our own additions."""
_LARGEST_PRODUCT = 1 << 20
"""Elements of a matrix whose error is multiplied element by element; of a larger one only the largest one is."""
_PIECE = 1 << 16
"""Elements of a large matrix that are added up at once."""


def _product(
    a: AbstractTensor, b: AbstractTensor, shape: Shape | None, low: Bounds, high: Bounds, total: Bounds, terms: float
) -> AbstractTensor:
    """Return a sum of products, given the bounds of the exact one and of the sum of magnitudes."""
    form, nan, error, exact = a.form, a.may_nan or b.may_nan, terms * _OURS * total, low
    low, high = low - error, high + error
    if form is not None:
        relative = gamma(terms + 1, form)
        error = relative * total + terms * form.smallest_subnormal
        low, high = np.where(total == 0, 0.0, low - error), np.where(total == 0, 0.0, high + error)
        overflows = total * (1 + relative) > form.max
        low, high = np.where(overflows, -np.inf, low), np.where(overflows, np.inf, high)
        nan = nan or bool(overflows.any())
        low, high = outward(low, high, form)
        if a.at_least_zero and b.at_least_zero:  # Nothing is subtracted: each rounding is of a part of the sum.
            kept = exact * (1 - relative - terms * _OURS) - terms * form.smallest_subnormal
            low = np.maximum(low, np.maximum(outward(kept, kept, form)[0], 0.0))
    return result_of((a, b), shape, low, high, may_nan=nan, integral=a.integral and b.integral)


def matmul(call: Call, a: AbstractTensor, b: AbstractTensor) -> AbstractTensor:
    """Return a product of matrices, or with a vector; no product needs the relations of what is turned for it."""
    if not a.shape or not b.shape:
        return unbounded(a, None, b)
    p = rearranged(a, (1, *a.shape), lambda x: np.expand_dims(x, 0), ()) if len(a.shape) == 1 else a
    q = rearranged(b, (*b.shape, 1), lambda x: np.expand_dims(x, 1), ()) if len(b.shape) == 1 else b
    result = multiplied(p, q, find(a.facts, Kind.SUM, len(a.shape) - 1))
    shape = result.shape or ()
    gone = tuple(len(shape) + axis for axis, one in ((-2, a), (-1, b)) if one.rank == 1)
    if not gone:
        return result
    left = tuple(size for axis, size in enumerate(shape) if axis not in gone)
    return like(result, left, result.box.mapped(lambda x: x.squeeze(axis=gone)))


def multiplied(a: AbstractTensor, b: AbstractTensor, rows: Fact | None = None) -> AbstractTensor:
    """Return the product of matrices, those of more dimensions in a row.

    - `rows`: the fact on the sums of the rows of the first, if there is one.
    """
    assert a.shape is not None
    assert b.shape is not None
    shape = product_shape(a.shape, b.shape)
    terms = min(bounds(a.shape[-1])[1], bounds(b.shape[-2])[1])
    if a.may_infinite or b.may_infinite:
        return unbounded(a, shape, b)
    if not np.isfinite(terms):
        if a.largest and b.largest:
            return _weighted(a, b, rows, unbounded(a, shape, b))
        terms = 0.0
    return _weighted(a, b, rows, _product(a, b, shape, *_bounds_of_product(a, b, terms), terms))


def _bounds_of_product(a: AbstractTensor, b: AbstractTensor, terms: float) -> tuple[Bounds, Bounds, Bounds]:
    for one, other, flip in ((a, b, False), (b, a, True)):
        held = other.constant
        if held is not None and held.ndim == 2 and held.size and held.dtype.kind in "fiu":
            with_weights = _with_weights(one, other, flip)
            if with_weights is not None:
                return with_weights
    left, right = a.box.along((a.low.ndim - 1,)), b.box.along((b.low.ndim - 2,))
    corners = np.broadcast_arrays(*(terms * (x * y) for x in (left.low, left.high) for y in (right.low, right.high)))
    low, high = np.minimum.reduce(corners), np.maximum.reduce(corners)
    assert a.shape is not None
    assert b.shape is not None
    least = min(bounds(a.shape[-1])[0], bounds(b.shape[-2])[0])
    if least < terms:  # Fewer terms may be summed.
        low, high = np.minimum(low, 0.0), np.maximum(high, 0.0)
    return low, high, terms * (left.largest() * right.largest())


def _with_weights(x: AbstractTensor, constant: AbstractTensor, flip: bool) -> tuple[Bounds, Bounds, Bounds] | None:
    """Return bounds of x times a constant matrix, or of it times x: the signs of the weights count."""
    weights = constant.constant
    assert weights is not None
    if constant.form is not None and constant.form.name != weights.dtype.name:
        if weights.size > LIMIT:
            return None
        weights = constant.form.round(weights.astype(np.float64))
    low, high = (np.swapaxes(end, -1, -2) for end in (x.low, x.high)) if flip else (x.low, x.high)
    matrix = weights.T if flip else weights
    if low.shape[-1] == 1 and high.shape[-1] == 1:
        found = _by_signs(low, high, *_signed_sums(matrix), np.multiply)
    elif matrix.size > 1 << 24:
        return None
    else:
        low, high = (np.broadcast_to(end, (*end.shape[:-1], matrix.shape[0])) for end in (low, high))
        whole = matrix.astype(np.float64)
        found = _by_signs(low, high, np.maximum(whole, 0.0), np.minimum(whole, 0.0), np.matmul)
    first, last, total = (np.swapaxes(end, -1, -2) if flip else end for end in found)
    return first, last, total


def _by_signs(low: Bounds, high: Bounds, positive: Bounds, negative: Bounds, times: Any) -> tuple[Bounds, ...]:
    """Return bounds of sums of products with weights of both signs, and of the sum of magnitudes."""
    largest = times(np.maximum(np.abs(low), np.abs(high)), positive - negative)
    return times(low, positive) + times(high, negative), times(high, positive) + times(low, negative), largest


def _signed_sums(matrix: NDArray[Any]) -> tuple[Bounds, Bounds]:
    """Return the sums of a matrix's positive and of its negative elements down its columns, a piece at a time."""
    positive, negative = np.zeros(matrix.shape[1]), np.zeros(matrix.shape[1])
    rows = max(_PIECE // matrix.shape[1], 1)
    for start in range(0, matrix.shape[0], rows):
        piece = matrix[start : start + rows].astype(np.float64)
        total, magnitudes = piece.sum(axis=0), np.abs(piece, out=piece).sum(axis=0)
        positive += (magnitudes + total) / 2
        negative -= (magnitudes - total) / 2
    return positive, negative


def _weighted(a: AbstractTensor, b: AbstractTensor, rows: Fact | None, result: AbstractTensor) -> AbstractTensor:
    """Return what weights that are not negative and have a known sum leave: the sum times the hull of the values."""
    form = a.form
    if rows is None or form is None or not a.at_least_zero or b.may_infinite or a.may_nan:
        return result
    assert a.shape is not None
    terms = bounds(a.shape[-1])[1]
    factor = gamma(terms + 2, form)
    if not np.isfinite(factor):
        return result
    hull = b.box.along((b.low.ndim - 2,))
    error = factor * hull.largest() * max(rows.high, 1.0) + terms * form.smallest_subnormal
    low = np.minimum(rows.low * hull.low, rows.high * hull.low) - error
    high = np.maximum(rows.low * hull.high, rows.high * hull.high) + error
    low, high = outward(low, high, form)
    box = Box(np.maximum(result.low, low), np.minimum(result.high, high), result.mag)
    finite = bool(np.isfinite(box.hull()).all()) and not b.may_nan
    return like(result, result.shape, box, may_nan=result.may_nan and not finite)


def turned(a: AbstractTensor) -> AbstractTensor:
    """Return matrices with rows as columns."""
    if a.shape is None:
        return a
    return rearranged(a, (*a.shape[:-2], a.shape[-1], a.shape[-2]), lambda x: np.swapaxes(x, -1, -2), ())


def _gemm(call: Call, a: AbstractTensor, b: AbstractTensor, c: Operand = None) -> AbstractTensor:
    if a.rank != 2 or b.rank != 2:
        return unbounded(a, None, b)
    p, q = (turned(x) if call.attribute(name, 0) else x for x, name in ((a, "transA"), (b, "transB")))
    result = scaled(multiplied(p, q), call.attribute("alpha", 1.0))
    beta = call.attribute("beta", 1.0)
    return result if c is None or beta == 0 else added(result, scaled(c, beta))


def scaled(a: AbstractTensor, factor: float) -> AbstractTensor:
    """Return a multiple, wherever it is rounded."""
    if factor == 1.0:
        return a
    if a.form is None:
        return anything(a.element_type, a.shape)
    ends = (a.low * factor, a.high * factor)
    low, high = np.fmin(*ends), np.fmax(*ends)
    slack = 4 * a.form.u
    low, high = outward(low - slack * np.abs(low), high + slack * np.abs(high), a.form)
    return result_of((a,), a.shape, low, high)


def added(a: AbstractTensor, b: AbstractTensor) -> AbstractTensor:
    """Return a sum whose order with those before is not known: the bias may be added first."""
    low, high = a.low + b.low, a.high + b.high
    nan = a.may_nan or b.may_nan
    if a.form is not None:
        slack = 4 * a.form.u * (a.box.largest() + b.box.largest())
        slack = np.where(np.isfinite(slack), slack, 0.0)
        low, high = np.where(np.isnan(low), -np.inf, low), np.where(np.isnan(high), np.inf, high)
        low, high = outward(low - slack, high + slack, a.form)
        nan = nan or (a.may_infinite and b.may_infinite) or bool((np.isneginf(low) & np.isposinf(high)).any())
    integral = a.integral and b.integral
    return result_of((a, b), broadcast(a.shape, b.shape), low, high, may_nan=nan, integral=integral)


def added_up(call: Call, *operands: Operand) -> AbstractTensor:
    """Return the sum of operands in any order, those that are left out apart."""
    total, *others = (operand for operand in operands if operand is not None)
    for other in others:
        total = call.values.numbered(added(total, other))
    return total


def _convolve(call: Call, x: AbstractTensor, w: AbstractTensor, bias: Operand = None) -> AbstractTensor:
    """Return a convolution, what is padded being zero; each output channel by the signs of its weights."""
    direct = call.operator != "ConvTranspose"
    shape = (convolution_shape if direct else transposed_shape)(call, x, w)
    if x.may_infinite or w.may_infinite or x.form is None or w.shape is None:
        return unbounded(x, shape, w)
    low, high = with_zero(x.box).hull()
    terms = element_count(w.shape[1:] if direct else resized(w.shape, 1))[1]
    if not np.isfinite(terms):
        return unbounded(x, shape, w)
    per_channel = (1, -1, *[1] * (len(w.shape) - 2))
    if w.constant is not None and direct and (w.form is None or w.form.name == w.constant.dtype.name):
        flat = w.constant.reshape(w.constant.shape[0], -1)
        positive = np.maximum(flat, 0).sum(axis=1, dtype=np.float64).reshape(per_channel)
        negative = np.minimum(flat, 0).sum(axis=1, dtype=np.float64).reshape(per_channel)
        lows, highs, total = _by_signs(np.asarray(low), np.asarray(high), positive, negative, np.multiply)
    else:
        total = np.asarray(terms * w.largest * max(-low, high))
        lows, highs = -total, total
    if shape is None:
        lows, highs, total = np.asarray(lows.min()), np.asarray(highs.max()), np.asarray(total.max())
    result = _product(x, w, shape, lows, highs, total, terms)
    if bias is None:
        return result
    by_channel = bias.rank == 1 and shape is not None
    box = bias.box.mapped(lambda b: b.reshape(per_channel)) if by_channel else bias.box.hulled()
    return added(result, bias.known(box=box, shape=shape))


def _integer_product(call: Call, a: AbstractTensor, b: AbstractTensor, *points: Operand) -> AbstractTensor:
    """Return a sum of products of 8-bit integers less their zero points, in int32."""
    shape, terms = product_shape(a.shape, b.shape), np.inf
    if call.operator == "ConvInteger":
        shape = convolution_shape(call, a, b)
        terms = np.inf if b.shape is None else element_count(b.shape[1:])[1]
    elif shape is not None and a.shape is not None:
        terms = bounds(a.shape[-1])[1]
    largest = [max(x.largest, 255.0) * 2 for x in (a, b)]
    reach = terms * largest[0] * largest[1]
    return tensor("int32", shape, -reach, reach, integral=True, bounds_from=rest_on(a, b))


def _einsum(call: Call, *operands: Operand) -> AbstractTensor:
    """Return a sum of products: at most as many terms as the sizes of the letters that are summed away."""
    given = [operand for operand in operands if operand is not None]
    first, last, form = given[0], given[-1], given[0].form
    inputs, arrow, output = str(call.attribute("equation", "")).replace(" ", "").partition("->")
    sizes: dict[str, Any] = {}
    for letters, operand in zip(inputs.split(","), given, strict=False):
        for letter, size in zip(letters, operand.shape or (), strict=False):
            sizes[letter] = size if sizes.get(letter, 1) == 1 else sizes[letter]
    plain = arrow and "." not in inputs + output and all(letter in sizes for letter in output)
    if form is None or not plain or any(operand.may_infinite for operand in given):
        return unbounded(first, call.expected().shape, last)
    shape = tuple(sizes[letter] for letter in output)
    fewest, terms = element_count(size for letter, size in sizes.items() if letter not in output)
    reach = float(np.prod([operand.largest for operand in given])) * terms
    if not np.isfinite(reach):
        return unbounded(first, shape, last)
    most = np.asarray(reach + (gamma(len(given) + 2, form) * reach if len(given) > 2 else 0.0))
    low = -most
    if all(operand.at_least_zero for operand in given):  # Of more than two factors a part may underflow.
        least = float(np.prod([operand.low.min() for operand in given])) if len(given) <= 2 else 0.0
        low = np.asarray(least * fewest)
    result = _product(first, last, shape, low, most, most, terms)
    return result_of(
        given, shape, result.low, result.high, result.mag, may_nan=result.may_nan or any(o.may_nan for o in given)
    )


def rotated(
    call: Call, a: AbstractTensor, cosines: AbstractTensor, sines: AbstractTensor, *_: Operand
) -> AbstractTensor:
    """Return a rotary embedding: each element is x cos - y sin, or x itself."""
    given = (a, cosines, sines)
    if a.form is None or any(x.may_infinite for x in given):
        return unbounded(a, a.shape, cosines)
    largest, cosine, sine = (x.largest for x in given)
    reach = largest * max(cosine + sine, 1.0) * (1 + 8 * a.form.u) + 4 * a.form.smallest_subnormal
    nan = reach > a.form.max or any(x.may_nan for x in given)
    return result_of(given, a.shape, 0.0, 0.0, error=reach, may_nan=nan)


def _product_error(made: Computed) -> Errors:
    error, magnitudes, count = _dots(made.operands[:2], made.errors[:2])
    return errors.sum_of(error, _rounded_dots(made, magnitudes, count))


def _gemm_error(made: Computed) -> Errors:
    alpha, beta = abs(made.call.attribute("alpha", 1.0)), abs(made.call.attribute("beta", 1.0))
    flips = [bool(made.call.attribute(name, 0)) for name in ("transA", "transB")]
    error, magnitudes, count = _dots(made.operands[:2], made.errors[:2], flips)
    error, magnitudes = errors.times(error, alpha), errors.times(magnitudes, alpha)
    if len(made.operands) > 2:
        error = errors.sum_of(error, errors.times(made.errors[2], beta))
        magnitudes = errors.sum_of(magnitudes, errors.times(made.magnitude(2), beta))
    return errors.sum_of(error, _rounded_dots(made, magnitudes, count + 3))


def _rounded_dots(made: Computed, magnitudes: Errors, count: float) -> Errors:
    return errors.sum_of(
        errors.times(magnitudes, gamma(count + 1, made.form)), errors.times(count, made.form.smallest_subnormal)
    )


def _dots(
    operands: Sequence[AbstractTensor], given: Sequence[Errors], flips: Sequence[bool] = (False, False)
) -> tuple[Errors, Errors, float]:
    """Return bounds of the error that sums of products carry in and of their magnitudes, and how many terms there are.

    - `flips`: whether each matrix stands transposed.
    """
    shapes = [operand.shape for operand in operands]
    if shapes[0] is None or shapes[1] is None or not shapes[0] or not shapes[1]:
        raise errors.NoBoundError("the number of summed products is unknown")
    axis = -2 if flips[0] and len(shapes[0]) > 1 else -1
    count = bounds(shapes[0][axis])[1]
    if not np.isfinite(count):
        raise errors.NoBoundError("the number of summed products is unknown; declare the size of the dimension")
    pairs = [_matrix(operand, error, flip) for operand, error, flip in zip(operands, given, flips, strict=True)]
    (a, p), (b, q) = pairs
    if a.ndim < 1 or b.ndim < 1:
        a, p, b, q = (np.asarray(each.max()) for each in (a, p, b, q))
        dot: Callable[[Errors, Errors], Errors] = lambda x, y: errors.times(errors.times(x, y), count)  # noqa: E731
    else:
        widened = 1 + 4 * (count + 2) * 2.0**-53  # What NumPy's own rounding takes off.

        def dot(x: Errors, y: Errors) -> Errors:
            return np.asarray(np.matmul(x, y) * widened + np.where((x != 0).any() and (y != 0).any(), 1e-300, 0.0))

    return errors.sum_of(dot(a, q), dot(p, errors.sum_of(b, q))), dot(a, b), count


def _matrix(operand: AbstractTensor, error: Errors, flip: bool) -> tuple[Errors, Errors]:
    """Return the magnitudes of a matrix and its errors, element by element; of a large one the largest of each."""
    constant = operand.constant
    shape = operand.shape or ()
    sizes = tuple(size for size in shape if isinstance(size, int))
    if len(sizes) < len(shape) or np.prod(sizes) > _LARGEST_PRODUCT:
        return np.asarray(operand.box.largest().max()), np.asarray(error.max())
    magnitudes = np.abs(constant.astype(np.float64)) if constant is not None else operand.box.largest()
    both = [np.broadcast_to(each, sizes) for each in (magnitudes, error)]
    return (both[0].swapaxes(-1, -2), both[1].swapaxes(-1, -2)) if flip and len(sizes) > 1 else (both[0], both[1])


TABLE: Mapping[str, Operator] = {
    "Col2Im": Operator(lambda call, a, *_: unbounded(a, None)),
    "Conv": Operator(_convolve),
    "ConvInteger": Operator(_integer_product),
    "ConvTranspose": Operator(_convolve),
    "DeformConv": Operator(lambda call, x, w, *_: unbounded(x, None, w)),
    "Det": Operator(lambda call, a: unbounded(a, None if a.shape is None else a.shape[:-2])),
    "Einsum": Operator(_einsum),
    "Gemm": Operator(_gemm, error=_gemm_error),
    "MatMul": Operator(matmul, error=_product_error),
    "MatMulInteger": Operator(_integer_product),
    "RotaryEmbedding": Operator(rotated),
}
