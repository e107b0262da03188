"""What follows from how values are computed: from the conditions of guards, and from quotients by norms."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from vinculum.analysis.domain.abstract_tensor import AbstractTensor, BoundsFrom
from vinculum.analysis.domain.box import Box
from vinculum.analysis.domain.dimensions import element_count, resized
from vinculum.analysis.domain.formats import FORMATS, ZERO, Bounds, every, gamma, outward, some
from vinculum.analysis.domain.numbering import Definition, Numbering
from vinculum.analysis.transfer.call import Call
from vinculum.analysis.transfer.shared import axis_of, like

TURNED = {"Less": "Greater", "Greater": "Less", "LessOrEqual": "GreaterOrEqual", "GreaterOrEqual": "LessOrEqual"}
"""Comparisons of the operands in the other order."""
_OTHERWISE = {"Less": "GreaterOrEqual", "Greater": "LessOrEqual", "LessOrEqual": "Greater", "GreaterOrEqual": "Less"}
_EXACT = 2.0**53
"""Bounds below it are exact, and so are their neighbours."""
_THROUGH = ("Identity", "Unsqueeze", "Expand", "Squeeze", "Reshape")


def refinements(values: Numbering, condition: int, truth: bool) -> dict[int, AbstractTensor]:
    """Return what is known better of values, by value number, where a condition of one element has this truth."""
    refined = {}
    for number in _compared(values, condition, truth):
        before = values.tensor(number)
        if before is not None:
            after = refine(values, condition, truth, before)
            if after is not before:
                refined[number] = values.numbered(after.known(number=0))
    return refined


def _compared(values: Numbering, condition: int, truth: bool) -> set[int]:
    compared = {number for definition, _ in _implied(values, condition, truth) for number in definition.operands}
    magnitudes = (values.made_by(number, "Abs") for number in compared)
    return compared.union(*(one.operands for one in magnitudes if one is not None))


def _implied(values: Numbering, condition: int, truth: bool) -> Iterator[tuple[Definition, bool]]:
    """Yield the comparisons and the like that a condition of this truth implies, each once, with its own truth."""
    waiting, seen = [(condition, truth)], set[tuple[int, bool]]()
    while waiting:
        number, holds = waiting.pop()
        definition = values.definition(number)
        if definition is None or (number, holds) in seen:
            continue
        seen.add((number, holds))
        first = definition.operands[:1]
        if definition.operator == "Not":
            waiting.append((first[0], not holds))
        elif definition.operator in _THROUGH and _one_element(values, first[0]):
            waiting.append((first[0], holds))
        elif definition.operator == ("And" if holds else "Or"):
            waiting += [(operand, holds) for operand in reversed(definition.operands)]
        else:
            yield definition, holds


def refine(values: Numbering, condition: int, truth: bool, x: AbstractTensor) -> AbstractTensor:
    """Return what is known of a value where a condition is true, or false; the value itself if nothing more is."""
    before, x = x, _refined_itself(values, condition, truth, x)
    if before.may_zero and not x.may_zero and x.form is not None and values.made_by(x.number, "Sqrt") is not None:
        box = replace(x.box, mag=np.maximum(x.mag, np.sqrt(x.form.least)))  # The root of what is not zero.
        x = like(x, x.shape, box, facts=x.facts).known(number=x.number)
    definition = values.made_by(x.number, "Add", "Sub")
    terms = [values.tensor(number) for number in definition.operands] if definition is not None else []
    known = [None if term is None else _refined_itself(values, condition, truth, term) for term in terms]
    if definition is None or x.form is None or None in known or known == terms:
        return x
    a, b = (term.box for term in known if term is not None)
    ends = (b.low, b.high) if definition.operator == "Add" else (-b.high, -b.low)
    low, high = outward(a.low + ends[0], a.high + ends[1], x.form)
    low, high = np.fmax(x.low, low), np.fmin(x.high, high)
    if not (some(low > x.low) or some(high < x.high)):
        return x
    return _checked(x, low, high, x.mag, x.may_nan).known(number=x.number)


def _refined_itself(values: Numbering, condition: int, truth: bool, x: AbstractTensor) -> AbstractTensor:
    for definition, holds in _implied(values, condition, truth):
        after = x
        if definition.operator in ("IsNaN", "IsInf"):
            after = _refined_by_class(definition, holds, x)
        elif definition.operator == "Cast" and x.number == definition.operands[0]:
            zero = x.known(box=Box(ZERO, ZERO, ZERO), may_nan=False, may_plus_zero=True)
            after = _refined(x, "Equal", zero, not holds)  # To bool: whether it is other than zero.
        elif definition.operator == "Equal" or definition.operator in TURNED:
            after = _refined_by_comparison(values, definition, holds, x)
        x = after if after is x else after.known(number=x.number)  # It is the same value, of which more is known.
    return x


def _one_element(values: Numbering, number: int) -> bool:
    known = values.tensor(number)
    return known is not None and known.shape is not None and all(size == 1 for size in known.shape)


def _refined_by_class(definition: Definition, truth: bool, x: AbstractTensor) -> AbstractTensor:
    if definition.operands[0] != x.number or truth:
        return x
    if definition.operator == "IsNaN":
        return like(x, x.shape, x.box, may_nan=False, facts=x.facts, affine=x.affine)
    if x.form is None or x.form.name != "float32":
        return x
    low = x.low if not definition.attributes.get("detect_negative", 1) else np.maximum(x.low, -x.form.max)
    high = x.high if not definition.attributes.get("detect_positive", 1) else np.minimum(x.high, x.form.max)
    return like(x, x.shape, Box(np.minimum(low, high), high, x.mag), facts=x.facts)


def _refined_by_comparison(values: Numbering, definition: Definition, truth: bool, x: AbstractTensor) -> AbstractTensor:
    first, second = definition.operands[:2]
    for number, other, operator in (
        (first, second, definition.operator),
        (second, first, TURNED.get(definition.operator, definition.operator)),
    ):
        limit = values.tensor(other)
        if limit is None or not _broadcasts_into(limit, x):
            continue
        if number == x.number:
            x = _refined(x, operator, limit, truth)
        elif _is_magnitude_of(values, number, x.number):
            x = _of_magnitude(x, _refined(_magnitude(x), operator, limit, truth))
    return x


def _is_magnitude_of(values: Numbering, number: int, of: int) -> bool:
    magnitude = values.made_by(number, "Abs")
    return magnitude is not None and magnitude.operands[0] == of


def _magnitude(x: AbstractTensor) -> AbstractTensor:
    return x.known(box=x.box.magnitudes(), may_plus_zero=x.may_zero, may_minus_zero=False)


def _of_magnitude(x: AbstractTensor, known: AbstractTensor) -> AbstractTensor:
    """Return a value whose magnitude is known better."""
    low, high, mag = np.maximum(x.low, -known.high), np.minimum(x.high, known.high), np.maximum(x.mag, known.mag)
    return _checked(x, low, high, mag, known.may_nan)


def _broadcasts_into(limit: AbstractTensor, x: AbstractTensor) -> bool:
    if x.shape is None or limit.shape is None or len(limit.shape) > len(x.shape):
        return limit.shape is not None and all(size == 1 for size in limit.shape)
    tail = x.shape[len(x.shape) - len(limit.shape) :]
    return all(p in (1, q) for p, q in zip(limit.shape, tail, strict=True))


def _apart_from_zero(x: AbstractTensor) -> tuple[bool, float]:
    """Tell whether a value that compared unequal to zero stays so, and its smallest magnitude then.

    What a runtime holds in float32 where the model says float16 rounds to zero after it was compared.
    """
    if x.form is None or x.integral:
        return True, 1.0
    return not x.form.may_round_later, x.form.least


def _refined(x: AbstractTensor, operator: str, limit: AbstractTensor, truth: bool) -> AbstractTensor:
    """Return x where comparing it with a limit has this truth; a comparison with NaN is never true."""
    low, high, mag, may_nan = x.low, x.high, x.mag, x.may_nan
    apart, least = _apart_from_zero(x)
    smallest, biggest = limit.low, limit.high
    if (limit.rank or 0) > (x.rank or 0):
        smallest, biggest = np.asarray(smallest.min()), np.asarray(biggest.max())
    if operator == "Equal":
        if truth:
            low, high, may_nan = np.maximum(low, smallest), np.minimum(high, biggest), False
            mag = np.maximum(mag, limit.mag if limit.mag.ndim == mag.ndim else limit.mag.min())
        elif apart and bool(((smallest == 0) & (biggest == 0)).all()) and not limit.may_nan:
            mag = np.maximum(mag, least)
        elif x.form is None and np.array_equal(smallest, biggest) and every(np.abs(smallest) < _EXACT):
            low, high = np.where(low == smallest, low + 1, low), np.where(high == smallest, high - 1, high)
        return _checked(x, low, high, mag, may_nan)
    if not truth:
        operator = _OTHERWISE[operator]
        if limit.may_nan:  # Then it is false whatever x is.
            return x
    else:
        may_nan = False
    if operator.startswith("Greater"):
        low, beyond = np.maximum(low, smallest), smallest
    else:
        high, beyond = np.minimum(high, biggest), -biggest
    if operator in ("Less", "Greater") and apart and every(beyond >= 0):
        mag = np.maximum(mag, least)
    return _checked(x, low, high, mag, may_nan)


def _checked(x: AbstractTensor, low: Bounds, high: Bounds, mag: Bounds, may_nan: bool) -> AbstractTensor:
    low, high = np.broadcast_arrays(low, high)
    empty = (low > high) | (mag > np.maximum(high, -low))  # The condition never has this truth there.
    if empty.any():
        low, high, mag = (np.where(empty, old, new) for old, new in ((x.low, low), (x.high, high), (x.mag, mag)))
    return like(x, x.shape, Box(low, high, mag), may_nan=may_nan)


def by_cases(values: Numbering, a: AbstractTensor, b: AbstractTensor) -> list[tuple[AbstractTensor, AbstractTensor]]:
    """Return two values where a condition is true, and where it is false; nothing if no condition refines both."""
    for condition in dict.fromkeys((*_chosen_by(values, a.number), *_chosen_by(values, b.number))):
        cases = [(_where(values, condition, t, a), _where(values, condition, t, b)) for t in (True, False)]
        if any(p is not a and q is not b for p, q in cases):
            return cases
    return []


def _chosen_by(values: Numbering, number: int) -> tuple[int, ...]:
    """Return the condition that chooses a value: by Where, or as a number, 1 or 0, times a constant or not."""
    definition = values.made_by(number, "Where", "Cast", "Mul")
    if definition is None:
        return ()
    if definition.operator == "Where":
        return definition.operands[:1]
    if definition.operator == "Cast":
        before = values.tensor(definition.operands[0])
        return definition.operands[:1] if before is not None and before.element_type == "bool" else ()
    for factor, other in (definition.operands, definition.operands[::-1]):
        if values.scalar(factor) is not None and values.made_by(other, "Cast") is not None:
            return _chosen_by(values, other)
    return ()


def _where(values: Numbering, condition: int, truth: bool, x: AbstractTensor) -> AbstractTensor:
    """Return what a value is where a condition has a truth: what is chosen there, or the value itself, refined."""
    definition = values.definition(x.number)
    if definition is not None and condition in _chosen_by(values, x.number):
        if definition.operator == "Where":
            chosen = values.tensor(definition.operands[1 if truth else 2])
            x = x if chosen is None else chosen
        else:
            factors = [factor for factor in map(values.scalar, definition.operands) if factor is not None]
            return values.constant(np.array(factors[0] if factors and truth else truth, np.float32), x.element_type)
    return refine(values, condition, truth, x)


_SLACK = 1e-3


def _power_of(values: Numbering, number: int, exponent: float) -> int | None:
    """Return the number of the value whose power this is by Pow; None if it is none."""
    power = values.made_by(number, "Pow")
    return power.operands[0] if power is not None and values.scalar(power.operands[1]) == exponent else None


def _square_of(values: Numbering, number: int) -> int | None:
    """Return the number of the value whose square this is."""
    product = values.made_by(number, "Mul")
    if product is not None and product.operands[0] == product.operands[1]:
        return product.operands[0]
    return _power_of(values, number, 2)


def _root_of(values: Numbering, number: int) -> int | None:
    """Return the number of the value whose square root this is."""
    root = values.made_by(number, "Sqrt")
    return root.operands[0] if root is not None else _power_of(values, number, 0.5)


def _reduced_by(values: Numbering, number: int, *operators: str) -> Definition | None:
    """Return how a value is reduced, if its dimensions stay in place, so that each row meets its own result."""
    reduced = values.made_by(number, *operators)
    return reduced if reduced is not None and _has_rank_of(values, number, reduced.operands[0]) else None


def _has_rank_of(values: Numbering, number: int, other: int) -> bool:
    a, b = values.tensor(number), values.tensor(other)
    return a is not None and b is not None and b.rank is not None and a.rank == b.rank


def _norm_of(values: Numbering, number: int) -> int | None:
    """Return the number of the value whose L2 norm along some axes this is, or a guard that is at least its norm."""
    waiting, seen = [number], set[int]()
    while waiting:
        number = waiting.pop()
        norm, under = values.made_by(number, "ReduceL2"), _root_of(values, number)
        total = None if under is None else _reduced_by(values, under, "ReduceSum", "ReduceSumSquare")
        if norm is not None and _has_rank_of(values, number, norm.operands[0]):
            return norm.operands[0]
        if total is not None:
            x = total.operands[0]
            found = x if total.operator == "ReduceSumSquare" else _square_of(values, x)
            if found is not None:
                return found
        guard = values.made_by(number, "Clip", "Max", "Expand")
        if guard is None or number in seen or not _has_rank_of(values, number, guard.operands[0]):
            continue
        seen.add(number)
        if guard.operator != "Clip" or not any(guard.operands[2:]):
            waiting += [operand for operand in reversed(guard.operands[:2]) if operand]
    return None


def at_most_of_norm(call: Call, a: AbstractTensor, b: AbstractTensor, result: AbstractTensor) -> AbstractTensor:
    """Return a quotient by what bounds the dividend: a norm of it, if its square does not underflow, or its range."""
    form, values = a.form, call.values
    if _is_sum_of(values, b.number, a):
        return _within(result, 0.0, 1.0)
    whole = _before_centring(values, a.number)
    if (bounded := _over_root_mean_square(values, a, b.number, result, whole)) is not result:
        return bounded
    if form is None or not a.number or form.may_round_later:
        return result
    if _is_part_of_spread(values, a.number, b.number):
        return _within(result, 0.0, 1.0)
    if _norm_of(values, b.number) == a.number and float(np.square(b.mag.min())) >= form.smallest_normal:
        return _within(result, -1.0 - _SLACK, 1.0 + _SLACK)
    most = np.inf if b.scalar is not None else _most_of_quotient(values, a, b.number)
    return _within(result, -most, most, a.bounds_from) if most < form.max / 2 else result


def _is_sum_of(values: Numbering, number: int, a: AbstractTensor) -> bool:
    """Tell whether a value is the sum of what is never negative, which rounding leaves no smaller than each term."""
    total, gathered = _reduced_by(values, number, "ReduceSum"), values.made_by(number, *_GATHERS)
    if gathered is not None and (indices := values.tensor(gathered.operands[1])) is not None:
        updates, here = _added_up(values, gathered.operands[0], indices), values.tensor(number)
        return updates is not None and updates.number == a.number and here is not None and here.shape == a.shape
    return total is not None and total.operands[0] == a.number and a.never_negative


def extremes_of(values: Numbering, largest: int, smallest: int) -> int:
    """Return the number of the value whose rows these are the largest and the smallest elements of; 0 if of none."""
    first, last = values.made_by(largest, "ReduceMax"), values.made_by(smallest, "ReduceMin")
    if first is None or last is None:
        return 0
    return first.operands[0] if (first.operands, first.attributes) == (last.operands, last.attributes) else 0


def _is_part_of_spread(values: Numbering, number: int, spread: int) -> bool:
    """Tell whether values are x less the smallest x of the row, and another the largest less the smallest."""
    a, b = values.made_by(number, "Sub"), values.made_by(spread, "Sub")
    if a is None or b is None or a.operands[1] != b.operands[1]:
        return False
    x = a.operands[0]
    return _has_rank_of(values, b.operands[0], x) and extremes_of(values, *b.operands) == x


def _most_of_quotient(values: Numbering, a: AbstractTensor, number: int) -> float:
    """Return how large a over a value is at most, where that is not zero; infinity if nothing tells.

    The value is the largest magnitude of each row, their sum or their mean, that over a constant, or what is chosen.
    """
    made, known = values.definition(number), values.tensor(number)
    if known is not None and known.constant is not None and not known.may_zero:
        return a.largest / float(known.mag.min())
    if made is None:
        return np.inf
    if made.operator == "Where":
        return max(_most_of_quotient(values, a, chosen) for chosen in made.operands[1:])
    if made.operator in ("Div", "Mul") and (factor := values.scalar(made.operands[1])):
        times = abs(factor if made.operator == "Div" else 1 / factor)
        # Among the smallest numbers half of it may be lost.
        return 2 * times * _most_of_quotient(values, a, made.operands[0])
    if made.operator == "Sub":
        return 1.0 if _is_part_of_spread(values, a.number, number) else np.inf
    return _most_of_reduced(values, a, number)


def _most_of_reduced(values: Numbering, a: AbstractTensor, number: int) -> float:
    reduced = _reduced_by(values, number, "ReduceMax", "ReduceSum", "ReduceMean", "ReduceL1")
    if reduced is None:
        return np.inf
    magnitudes = reduced if reduced.operator == "ReduceL1" else values.made_by(reduced.operands[0], "Abs")
    if magnitudes is None or magnitudes.operands[0] != a.number:
        return np.inf
    return 2 * (_count_along(values, reduced, a) if reduced.operator == "ReduceMean" else 1.0)


def is_largest_of_all(values: Numbering, a: AbstractTensor, b: AbstractTensor) -> bool:
    """Tell whether the second is one number, the largest of all elements of the first."""
    largest = values.made_by(b.number, "ReduceMax")
    return largest is not None and largest.operands[0] == a.number and _one_element(values, b.number)


_MEANS = ("ReduceMean", "AveragePool", "GlobalAveragePool")


def error_of_variance(values: Numbering, a: AbstractTensor, b: AbstractTensor) -> float | None:
    """Return how far below zero rounding can bring the mean of squares less the square of the mean."""
    root, squares = _square_of(values, b.number), values.made_by(a.number, *_MEANS)
    mean = None if root is None else values.made_by(root, *_MEANS)
    if mean is None or squares is None or a.form is None or _square_of(values, squares.operands[0]) != mean.operands[0]:
        return None
    x = values.tensor(mean.operands[0])
    alike = (mean.operator, mean.attributes, mean.operands[1:]) == (
        squares.operator,
        squares.attributes,
        squares.operands[1:],
    )
    if x is None or x.shape is None or not alike:
        return None
    if mean.operator == "ReduceMean":
        count = _count_along(values, mean, x)
    else:
        sizes = mean.attributes.get("kernel_shape", x.shape[2:])
        count = element_count(sizes)[1]
    largest = x.largest
    error = 4 * gamma(count + 8, a.form) * largest * largest + count * a.form.smallest_subnormal
    return error if np.isfinite(error) else None


def _within(
    result: AbstractTensor, low: float, high: float, bounds_from: BoundsFrom = BoundsFrom.MODEL
) -> AbstractTensor:
    """Return a result with further bounds, and what all its bounds rest on."""
    box = Box(np.maximum(result.low, low), np.minimum(result.high, high), result.mag)
    return like(result, result.shape, box, bounds_from=bounds_from)


def scaled_by_inverse_root(call: Call, a: AbstractTensor, b: AbstractTensor, result: AbstractTensor) -> AbstractTensor:
    """Return a product with the inverse of a root of the mean square, which is bounded as the quotient by the root."""
    values = call.values
    for x, factor in ((a, b), (b, a)):
        inverse = values.made_by(factor.number, "Reciprocal", "Div")
        if inverse is not None and (inverse.operator == "Reciprocal" or values.scalar(inverse.operands[0]) == 1):
            result = _over_root_mean_square(values, x, inverse.operands[-1], result, None)
    return result


STRAY = 4
"""By how many roundings of each update a mean is off where the variance comes out as zero: twice what was measured."""


def _over_root_mean_square(
    values: Numbering, x: AbstractTensor, number: int, result: AbstractTensor, whole: AbstractTensor | None
) -> AbstractTensor:
    """Return x over sqrt(mean(x*x) + eps), which is at most sqrt(n); the result as it is for another divisor.

    Without this, bounds explode from layer to layer.

    - `whole`: the tensor that x is without its mean, if ONNX Runtime makes a LayerNormalization of the quotient.
    """
    under, form = _root_of(values, number), x.form
    total = None if under is None else values.made_by(under, "Add")
    if total is None or form is None:
        return result
    for mean, guard in (total.operands, total.operands[::-1]):
        reduced, epsilon = _reduced_by(values, mean, "ReduceMean"), values.tensor(guard)
        if reduced is None or epsilon is None or epsilon.scalar is None:
            continue
        least = float(epsilon.low.min())  # It has to outlast squares that underflow.
        if _square_of(values, reduced.operands[0]) != x.number or least < form.smallest_normal:
            continue
        count = _count_along(values, reduced, x)
        slack = gamma(count + 8, form)
        most = float(np.sqrt(count) * (1 + slack)) if slack < 0.5 else np.inf
        if whole is not None:
            most += STRAY * count * FORMATS["float32"].u * whole.largest / np.sqrt(least)
        if np.isfinite(most):
            return _within(result, -most, most, BoundsFrom.MODEL if whole is None else whole.bounds_from)
    return result


def _before_centring(values: Numbering, number: int) -> AbstractTensor | None:
    """Return the tensor whose mean was subtracted; None if a value is not computed so."""
    cast = values.made_by(number, "Cast")
    difference = values.made_by(number if cast is None else cast.operands[0], "Sub")
    if difference is None or values.made_by(difference.operands[1], "ReduceMean") is None:
        return None
    return values.tensor(difference.operands[0])


def _count_along(values: Numbering, reduced: Definition, x: AbstractTensor) -> float:
    """Return over how many elements of x a reduction goes, at most; infinity if its axes are not known."""
    axes = _listed(values, reduced, 1)
    return element_count((x.shape or ())[axis] for axis in axes)[1] if axes and x.shape is not None else np.inf


def _listed(values: Numbering, definition: Definition, place: int) -> list[int]:
    """Return the axes that an attribute lists, or a constant operand; nothing if neither is known."""
    given = values.tensor(definition.operands[place]) if place < len(definition.operands) else None
    held = definition.attributes.get("axes", ()) if given is None or given.constant is None else given.constant
    return [int(axis) for axis in np.asarray(held).reshape(-1)]


def axes_reaching(values: Numbering, x: AbstractTensor, limit: AbstractTensor, *, exactly: bool = False) -> set[int]:
    """Return the axis along which, in every row, an element of x without NaN is at least the limit of that row.

    The limit is an element that is picked from the row, or what is no more than that.

    - `exactly`: whether the limit is to be the largest element itself.
    """
    number, along = limit.number, set[int]()
    if x.shape is None or x.form is None:
        return set()
    while number != x.number:
        made = values.definition(number)
        if made is None:
            return set()
        if made.operator in (("ReduceMax",) if exactly else _PICKS):
            axis = _picked_along(values, made, len(x.shape))
            number = made.operands[0] if axis is not None else 0
            along |= {axis} if axis is not None else set()
        elif not along and (same := _same_elements(values, made, number)):
            number = same  # Behind a pick, a Reshape could move the axis along which that picked.
        else:
            number = 0 if exactly else _no_less(values, made, number)
    # Only a limit of the shape that is left of x, or broadcast to it, meets its own row.
    missing = len(x.shape) - len(limit.shape or ())
    left = (1,) * missing + (limit.shape or ())
    places = [axis for axis in along if left == resized(x.shape, axis, *left[axis : axis + 1])]
    return along if len(along) == 1 and places else set()


def surely_above(values: Numbering, limit: AbstractTensor) -> AbstractTensor | None:
    """Return the value that a limit is surely less than, as a share of it or less a constant; None if none is known."""
    made = values.made_by(limit.number, "Mul", "Sub", "Add")
    operands = [values.tensor(number) for number in made.operands] if made is not None else []
    for whole, other in (operands, operands[::-1]) if len(operands) == 2 else ():
        if made is None or whole is None or other is None or whole.form is None or other.may_nan:
            continue
        if whole.shape != limit.shape or not np.isfinite(whole.largest):
            continue
        if made.operator == "Mul":  # The product of a normal number is rounded to less than it.
            normal = every(whole.low >= whole.form.smallest_normal)
            less = normal and every(other.low >= 0) and every(other.high <= 1 - 4 * whole.form.u)
        else:
            least = 4 * whole.form.u * whole.largest
            less = every(other.high < -least) if made.operator == "Add" else every(other.low > least)
            less = less and (made.operator == "Add" or whole is operands[0])
        if less:
            return whole
    return None


def least_of_groups(values: Numbering, a: AbstractTensor, indices: AbstractTensor) -> float:
    """Return a lower bound of what is gathered by the indices by which updates, none negative, were added up."""
    updates = _added_up(values, a.number, indices)
    if updates is None or updates.form is None:
        return -np.inf
    least, peak = float(updates.low.min()), values.made_by(updates.number, "Exp")
    spread = None if peak is None else values.made_by(peak.operands[0], "Sub")
    if spread is None or updates.form.may_round_later:
        return least
    x, gathered = values.tensor(spread.operands[0]), values.made_by(spread.operands[1], *_GATHERS)
    largest, by = (values.tensor(number) for number in gathered.operands) if gathered is not None else (None, None)
    if x is None or largest is None or by is None or _index_of(values, by.number) != _index_of(values, indices.number):
        return least
    found = _scattered_by(values, largest.number, by, "max")
    # The largest of each group less itself is 0, whose exponential is 1, unless a group began with more.
    reaches = found is not None and found[1].number == x.number and float(found[0].high.max()) <= float(x.low.min())
    return max(least, 0.5) if reaches else least


_GATHERS = ("Gather", "GatherElements", "GatherND")
"""Operators that pick elements of a list by the same indices alike."""


def _added_up(values: Numbering, number: int, indices: AbstractTensor) -> AbstractTensor | None:
    """Return floats that were added up in a list at these indices, if no sum is less than one of its terms."""
    added = _scattered_by(values, number, indices, "add")
    floats = added is not None and added[1].form is not None
    return added[1] if added is not None and floats and all(part.at_least_zero for part in added) else None


def _scattered_by(
    values: Numbering, number: int, indices: AbstractTensor, reduction: str
) -> tuple[AbstractTensor, AbstractTensor] | None:
    """Return a list and the updates that went into it at these indices, by a reduction; None of anything else."""
    made = values.made_by(number, "ScatterElements", "ScatterND")
    if made is None or made.attributes.get("reduction") != reduction:
        return None
    before, updates = values.tensor(made.operands[0]), values.tensor(made.operands[2])
    same = _index_of(values, made.operands[1]) == _index_of(values, indices.number)
    return (before, updates) if before is not None and updates is not None and before.rank == 1 and same else None


def _index_of(values: Numbering, number: int) -> int:
    """Return the number of indices before an Unsqueeze."""
    made = values.made_by(number, "Unsqueeze")
    return number if made is None else made.operands[0]


_PICKS = ("ReduceMax", "ReduceMin", "TopK", "Gather", "Slice")
"""Operators that pick elements of rows."""


def _picked_along(values: Numbering, definition: Definition, rank: int) -> int | None:
    """Return the axis along which elements are picked of a tensor of a rank; None if that is not one."""
    of = values.tensor(definition.operands[0])
    if definition.operator in ("TopK", "Gather"):
        axes = [int(definition.attributes.get("axis", -1 if definition.operator == "TopK" else 0))]
    else:
        axes = _listed(values, definition, 3 if definition.operator == "Slice" else 1) or list(range(rank))
    if of is None or of.shape is None or of.rank != rank:
        return None
    longer = [axis for axis in axes if of.shape[axis] != 1] if len(axes) > 1 else axes
    return axis_of(longer[0], rank) if len(longer) == 1 else None


def _same_elements(values: Numbering, definition: Definition, number: int) -> int:
    """Return the number of the operand whose elements a value has, in their order; 0 if there is none.

    Sizes of 1 may differ. JAX takes the larger of -inf and each largest element.
    """
    first, *others = definition.operands
    if definition.operator == "Unsqueeze":
        return first
    here = values.tensor(number)
    if definition.operator in ("Expand", "Reshape", "Squeeze"):
        before = values.tensor(first)
        long = [
            None if one is None or one.shape is None else [d for d in one.shape if d != 1] for one in (here, before)
        ]
        return first if long[0] is not None and long[0] == long[1] else 0
    if definition.operator == "Max" and len(others) == 1 and here is not None:
        for least, one in ((first, others[0]), (others[0], first)):
            known, other = values.tensor(least), values.tensor(one)
            if known is not None and other is not None and other.shape == here.shape and every(known.high == -np.inf):
                return one
    return 0


def _no_less(values: Numbering, definition: Definition, number: int) -> int:
    """Return the number of an operand of the same shape that a value never exceeds; 0 if none is known."""
    operands = [(one, values.tensor(one)) for one in definition.operands[:2]]
    here = values.tensor(number)
    for (one, a), (_, b) in (operands, operands[::-1]) if len(operands) == 2 else ():
        if a is None or b is None or here is None or a.shape != here.shape:
            continue
        shrinks = a.at_least_zero and every(b.low >= 0) and every(b.high <= 1) and definition.operator == "Mul"
        falls = b.at_least_zero and definition.operator == "Sub" and one == definition.operands[0]
        falls = falls or (every(b.high <= 0) and definition.operator == "Add")
        if shrinks or falls or definition.operator == "Min":
            return one
    return 0
