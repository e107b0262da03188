"""The verdict on an answer, compared bit for bit with the exact quotients, or with another answer to the same."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vinculum.conformance.cases.case import Expectation
from vinculum.conformance.cases.operation import Operation, aligned, pair
from vinculum.conformance.run.record import Example, Gave, Kind, Verdict, number_text
from vinculum.sandbox import Answer, End
from vinculum.spec.element_types import ElementType
from vinculum.tensors.comparison import different, ulps_apart
from vinculum.tensors.storage import element_type_of, element_type_of_dtype, native
from vinculum.text import shape_text

_FARTHEST = 1e6
_DEATHS = {End(kind.value): kind for kind in Kind if kind.is_death}


def judge(operation: Operation, expectation: Expectation, answer: Answer) -> Verdict:
    """Return the verdict on an answer.

    All NaN are equal, regardless of sign and payload; -0.0 and 0.0 differ. The byte order of an array is ignored.
    """
    if answer.end in _DEATHS:
        return Verdict(_DEATHS[answer.end], answer.words)
    expected, unspecified = expectation.quotient, expectation.unspecified
    if expected is None:
        if answer.end is End.RETURNED:
            return Verdict(Kind.ACCEPTED, _described(answer.value))
        return Verdict(Kind.REFUSED_AS_REQUIRED, answer.words)
    if answer.end is End.UNSUPPORTED:
        return Verdict(Kind.UNSUPPORTED, answer.words)
    if unspecified is not None and not unspecified.any():
        unspecified = None
    if answer.end is End.REFUSED:
        return Verdict(Kind.REFUSED if unspecified is None else Kind.UNSPECIFIED, answer.words)
    # Subclasses of ndarray may override comparison and indexing, so they are converted.
    actual = np.asarray(answer.value) if isinstance(answer.value, np.ndarray) else answer.value
    if not _has_type(actual, expected.dtype):
        wanted = "exact rationals" if expected.dtype.hasobject else str(expected.dtype)
        return Verdict(Kind.WRONG_TYPE, _described(actual), expected=wanted)
    if actual.shape != expected.shape:
        return Verdict(Kind.WRONG_SHAPE, shape_text(actual.shape), expected=shape_text(expected.shape))
    actual = actual.astype(expected.dtype, copy=False)
    return _compared(operation, expected, actual, unspecified)


def _has_type(actual: object, dtype: np.dtype[Any]) -> bool:
    if not isinstance(actual, np.ndarray) or actual.dtype.newbyteorder("=") != dtype:
        return False
    return not dtype.hasobject or all(type(element) is Fraction for element in actual.flat)


def _described(value: object) -> str:
    if not isinstance(value, np.ndarray):
        return f"a {type(value).__name__}, not an array"
    name = "objects" if value.dtype.hasobject else str(value.dtype)
    return f"{name} of shape {shape_text(value.shape)}"


def _compared(
    operation: Operation, expected: NDArray[Any], actual: NDArray[Any], unspecified: NDArray[np.bool_] | None
) -> Verdict:
    element_type = element_type_of(expected)
    differ, elements = different(expected, actual, element_type), expected.size
    gave: tuple[Gave, ...] = ()
    if unspecified is not None:
        differ &= ~unspecified
        elements -= int(np.count_nonzero(unspecified))
        gave = what_it_gave(operation, actual, unspecified)
    count = int(np.count_nonzero(differ))
    if not count:
        return Verdict(Kind.EXACT if unspecified is None else Kind.UNSPECIFIED, elements=elements, unspecified=gave)
    off = ulps_apart(expected[differ], actual[differ], element_type)
    example = _example(operation, expected, actual, differ, element_type)
    return Verdict(
        Kind.WRONG_VALUE if off is None else Kind.ULPS,
        elements=elements,
        differing=count,
        ulps={} if off is None else dict(sorted(Counter(n.bit_length() - 1 for n in off).items())),
        largest=None if off is None else max(off),
        example=example,
        unspecified=gave,
    )


def _example(
    operation: Operation,
    expected: NDArray[Any],
    actual: NDArray[Any],
    differ: NDArray[np.bool_],
    element_type: ElementType,
) -> Example:
    place = int(np.argmin(np.where(differ, _size(operation), np.inf)))
    index = tuple(int(i) for i in np.unravel_index(place, differ.shape))
    numbers = (*pair(operation, index), expected[index], actual[index])
    *texts, right, given = (number_text(number, element_type) for number in numbers)
    return Example(index, tuple(texts), right, given)


def _size(operation: Operation) -> NDArray[np.float64]:
    """Return how far the operands of each quotient are from 1, in powers of two, but less than infinitely far."""
    total = np.zeros(())
    for operand in aligned(operation):
        if operand.dtype.hasobject:  # Reals may be beyond every float.
            continue
        with np.errstate(all="ignore"):
            powers = np.abs(np.log2(np.abs(operand.astype(np.float64))))
        total = total + np.where(np.isfinite(powers), powers, _FARTHEST)
    return np.broadcast_to(total, aligned(operation)[0].shape)


def apart(first: Answer, again: Answer, expectation: Expectation) -> int | None:
    """Return in how many quotients two answers to one operation differ; None if they cannot be compared.

    Quotients that the specification leaves unspecified may differ, as may the bits of NaN and the words of a refusal.
    """
    if first.end is not again.end or first.end is not End.RETURNED:
        return 0 if first.end is again.end else None
    values = first.value, again.value
    if not all(isinstance(value, np.ndarray) for value in values):
        return 0 if type(values[0]) is type(values[1]) else None
    a, b = (native(np.asarray(value)) for value in values)
    if (a.dtype, a.shape) != (b.dtype, b.shape):
        return None
    element_type = element_type_of_dtype(a.dtype)
    differ = np.asarray(a != b, np.bool_) if element_type is None else different(a, b, element_type)
    unspecified = expectation.unspecified
    if unspecified is not None and unspecified.shape == differ.shape:
        differ &= ~unspecified
    return int(np.count_nonzero(differ))


def varying(first: Verdict, again: Verdict) -> Verdict:
    """Return the verdict on two answers that are not the same: the first one's, of another kind."""
    both = (f"{one.kind.value} ({one.said})" if one.kind is Kind.CRASHED else one.kind.value for one in (first, again))
    return replace(first, kind=Kind.DIFFERS, said=", ".join(both))


_LOOKED_AT = 512  # The most quotients that are examined, to limit the time.
_TOLD = 3

Quotients = dict[Any, Any]
"""The quotients by dividend."""


def what_it_gave(operation: Operation, actual: NDArray[Any], unspecified: NDArray[np.bool_]) -> tuple[Gave, ...]:
    """Return a summary of a runtime's quotients that the specification leaves unspecified.

    - `unspecified`: Which of them are unspecified; at least one.
    """
    element_type = element_type_of(actual)
    a, b = aligned(operation)
    by_divisor: dict[Any, Quotients] = defaultdict(dict)
    for place in np.argwhere(unspecified)[:_LOOKED_AT]:
        index = tuple(int(i) for i in place)
        by_divisor[b[index]][a[index]] = actual[index]
    return tuple(
        gave
        for divisor, quotients in by_divisor.items()
        for gave in _gave(_text(divisor, element_type), quotients, element_type)
    )


def _gave(divisor: str, quotients: Quotients, element_type: ElementType) -> Iterator[Gave]:
    if len(quotients) > 1 and (shared := _in_common(quotients, element_type)):
        yield Gave("x", divisor, shared)
        return
    for sign, where in ((1, "x > 0"), (0, "x = 0"), (-1, "x < 0")):
        own = {dividend: quotient for dividend, quotient in quotients.items() if _sign(dividend) == sign}
        if len(own) > 1 and (shared := _in_common(own, element_type)):
            yield Gave("x", divisor, shared, where)
            continue
        for dividend in list(own)[:_TOLD]:
            yield Gave(_text(dividend, element_type), divisor, _text(own[dividend], element_type))
        if len(own) > _TOLD:
            yield Gave("x", divisor, f"{len(own) - _TOLD} more quotients", where)


def _in_common(quotients: Quotients, element_type: ElementType) -> str | None:
    """Return the quotient that all dividends share; None if their quotients differ."""
    texts = {_text(quotient, element_type) for quotient in quotients.values()}
    return texts.pop() if len(texts) == 1 else None


def _text(number: Any, element_type: ElementType) -> str:
    """Return a number as text; the smallest and the largest integer of a type become ``"MIN"`` and ``"MAX"``."""
    if element_type.is_integer and number == element_type.maximum:
        return "MAX"
    return "MIN" if element_type.minimum and number == element_type.minimum else number_text(number, element_type)


def _sign(number: Any) -> int:
    return int(number > 0) - int(number < 0)
