"""Wrong quotients in words: an example as an equation, the kinds of operands, and the size of the errors."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vinculum.conformance.arithmetic import Answered
from vinculum.conformance.arithmetic.answered import VALUES
from vinculum.conformance.arithmetic.fitting import dividends_and_divisors
from vinculum.conformance.arithmetic.stages import smallest_normal
from vinculum.tensors.comparison import different
from vinculum.tensors.storage import element_type_of

Array = NDArray[Any]
Group = Sequence[Answered]


@dataclass(frozen=True, eq=False)
class _Wrong:
    """Dividends, divisors, wrong and right quotients of a case, and which pairs consist of ordinary numbers only."""

    numbers: tuple[Array, Array, Array, Array]
    ordinary: NDArray[np.bool_]


def _wrong(one: Answered) -> _Wrong:
    right = np.ascontiguousarray(one.case.expectation.quotient).reshape(-1)
    given = np.ascontiguousarray(one.answer.value, right.dtype).reshape(-1)
    differs = np.flatnonzero(different(right, given, one.case.element_type))
    a, b = (operand[differs] for operand in dividends_and_divisors(one.case.operation))
    right = right[differs]
    return _Wrong((a, b, given[differs], right), _ordinary(a) & _ordinary(b) & _ordinary(right))


def example(wrong: Group) -> str:
    """Return a wrong quotient as an equation, preferably of ordinary numbers and x / x; empty if there is none."""
    examples: dict[int, str] = {}
    for one in wrong:
        if one.outcome != VALUES:
            continue
        found = _wrong(one)
        same = ~different(*found.numbers[:2], one.case.element_type)
        for rank, places in enumerate((found.ordinary & same, found.ordinary, np.ones_like(same))):
            if places.any() and rank not in examples:
                x, y, q, e = (str(array[int(np.argmax(places))]) for array in found.numbers)
                examples[rank] = f"{x} / {y} = {q}, not {e}"
    return examples[min(examples)] if examples else ""


def where(wrong: Group) -> str:
    """Return how many wrong float quotients have ordinary operands, and their largest error in ulps."""
    found = [_wrong(one) for one in wrong]
    if wrong[0].case.element_type.is_integer:
        return ""
    given, right = (np.concatenate([one.numbers[i][one.ordinary] for one in found]) for i in (2, 3))
    if not given.size:
        return "all of them with zeros, infinities, NaN or subnormal numbers"
    finite = np.isfinite(given)
    places = []
    for array in (given[finite], right[finite]):
        bits = array.view(f"u{array.itemsize}").astype(object)
        sign = 1 << (8 * array.itemsize - 1)
        places.append(np.where(bits >= sign, sign - bits, bits))
    most = max(np.abs(places[0] - places[1]), default=0)
    left = f", {(~finite).sum():,} not finite" if not finite.all() else ""
    return f"{given.size:,} of them with ordinary numbers, by up to {most:,} ulp{'' if most == 1 else 's'}{left}"


def _ordinary(numbers: Array) -> NDArray[np.bool_]:
    """Return which numbers are ordinary: all integers, and all normal floats."""
    if element_type_of(numbers).is_integer:
        return np.ones(numbers.shape, np.bool_)
    with np.errstate(invalid="ignore"):  # ml_dtypes warns of signalling NaN.
        return np.asarray(np.isfinite(numbers) & (np.abs(numbers) >= smallest_normal(numbers.dtype)))
