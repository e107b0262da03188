"""Properties of an operation, and places of its elements, that may decide its outcome; rules are built from them."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Mapping
from functools import cache, partial
from math import log2, prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vinculum.conformance.cases.expectations import are, are_minimum_by_minus_one
from vinculum.conformance.cases.operation import Operation, aligned, alignment, joined, rounding_asked
from vinculum.errors import VinculumError
from vinculum.spec.attributes import checked_attributes
from vinculum.spec.model import Broadcasting
from vinculum.tensors.broadcasting import Alignment
from vinculum.tensors.storage import element_type_of

Mask = Callable[[int], NDArray[Any]]
"""Tells of each element of a tensor, by the number of its elements, whether it is one of these."""

_WIDTHS = (2, 4, 8, 16, 32)
"""Numbers of elements that vector instructions process at once."""

LENGTHS = "tensors of"
"""How the names of places begin that are all elements of some tensors, and none of others."""


def _remainder(width: int, size: int) -> NDArray[Any]:
    return np.asarray(np.arange(size) >= size - size % width)


def _packets(width: int, size: int) -> NDArray[Any]:
    return ~_remainder(width, size)


def _of_length(width: int, rest: int, size: int) -> NDArray[Any]:
    return np.full(size, size % width == rest)


def _places() -> Iterator[tuple[str, Mask]]:
    yield "the last element", lambda size: np.arange(size) == size - 1
    yield "the last of several elements", lambda size: (np.arange(size) == size - 1) & (size > 1)
    yield "the first element", lambda size: np.arange(size) == 0
    yield "the first of several elements", lambda size: (np.arange(size) == 0) & (size > 1)
    yield from ((f"the remainder after packets of {width}", partial(_remainder, width)) for width in _WIDTHS)
    yield from ((f"packets of {width}", partial(_packets, width)) for width in _WIDTHS)
    for width in _WIDTHS[:-1]:
        for rest in range(width):
            yield f"{LENGTHS} {width} k{f' + {rest}' if rest else ''} elements", partial(_of_length, width, rest)


PLACES: Mapping[str, Mask] = dict(_places())
"""What belongs to each place; elements are numbered as the quotient lies in memory."""
SURPRISE = 2 * log2(len(PLACES))
"""Bits that a choice of places must explain: twice what it takes to choose."""
EVERYWHERE = ""
"""The name of all elements."""


@cache
def is_positional(words: str) -> bool:
    """Tell whether words are the name of a place, or end with one."""
    return any(words.endswith(name) for name in PLACES)


@cache
def mask(name: str, size: int) -> NDArray[Any]:
    """Return which elements of a tensor belong to a place."""
    return PLACES[name](size) if name else np.ones(size, np.bool_)


UNJOINED = "shapes that the version does not join"
"""Why an operation whose shapes do not fit must be refused."""
MORE, FEWER, SEVERAL = "more than", "at most", "several elements"
_SIZED = re.compile(rf"({MORE}|{FEWER}) (\d+)(?: to (\d+))? elements")


def placement(operation: Operation) -> str:
    """Return which operands are constants, in words."""
    if any(operation.constant) and not all(operation.constant):
        return f"a constant {'divisor' if operation.constant[-1] else 'dividend'}"
    return "constant operands" if all(operation.constant) else "run-time operands"


def why_refused(operation: Operation) -> str | None:
    """Return why an operation must be refused, in words; None if its type, attributes and shapes are all legal."""
    spec, types = operation.spec, {element_type_of(operand) for operand in operation.operands}
    if len(types) > 1:
        return "operands of two element types"
    if types.pop() not in spec.element_types:
        return "an element type that the version does not list"
    for name, value in operation.attributes.items():
        if spec.attribute(name) is None:
            return "an attribute that the version does not have"
        try:
            checked_attributes(spec, {name: value})
        except VinculumError:
            return f"a value that {name} may not have"
    if alignment(operation) is None:
        return UNJOINED
    return None


def properties(operation: Operation) -> Iterator[str]:
    """Yield the properties of an operation except its dividends' element type, the most informative first."""
    spec = operation.spec
    yield from _numbers(operation)
    yield why_refused(operation) or "a legal operation"
    yield placement(operation)
    yield "no constant operand" if not any(operation.constant) else "a constant operand"
    yield spec.title
    yield f"version {spec.since_version} of an operator"
    if len(operation.operands) > 1:
        yield f"{element_type_of(operation.operands[1])} divisors"
    if spec.integer_rounding:
        yield f"division {rounding_asked(operation).value}"
    yield from (f"{name}={value}" for name, value in operation.attributes.items())
    yield from (f"{name} written" for name in operation.attributes)
    if spec.attribute("axis") is not None and "axis" not in operation.attributes:
        yield "no axis"
    yield from _sizes(operation)


def laid(operation: Operation, axis: int) -> Alignment | None:
    """Return NumPy's alignment after the divisor gets trailing dimensions of size 1 so that it starts at an axis."""
    a, b = (operand.shape for operand in operation.operands)
    trailing = len(a) - len(b) - (axis + len(a) if axis < 0 else axis)
    together = joined(Broadcasting.MULTIDIRECTIONAL, a, b + (1,) * max(trailing, 0))
    if together is None:
        return None
    own = tuple(None if d is None or d >= len(b) else d for d in together.b)
    return Alignment(together.shape, together.a, own)


def _sizes(operation: Operation) -> Iterator[str]:
    shapes = [operand.shape for operand in operation.operands]
    yield "shapes that are equal" if len(set(shapes)) == 1 else "shapes that differ"
    if len(set(shapes)) > 1 and operation.operands[-1].size > 1:
        yield "several divisors that are broadcast"
    as_numpy = alignment(operation, Broadcasting.MULTIDIRECTIONAL)
    if as_numpy is None:
        yield "shapes that NumPy refuses"
    else:
        yield "shapes that NumPy joins"
        if alignment(operation) not in (None, as_numpy):
            yield "shapes that NumPy joins otherwise"
    if len(shapes) > 1 and "axis" not in operation.attributes and laid(operation, 0) is None:
        yield "a divisor that does not fit the first dimensions"
    for words, operand in (("dividend", operation.operands[0]), ("divisor", operation.operands[-1])):
        yield f"a {words} of rank {operand.ndim}"
        yield f"a {words} of one element" if operand.size == 1 else f"a {words} of several elements"
    if (together := alignment(operation)) is not None:
        yield f"a quotient of rank {len(together.shape)}"
        yield from (name for name in PLACES if name.startswith(LENGTHS) and mask(name, prod(together.shape)).any())
    sizes = [operand.size for operand in operation.operands]
    if 0 in sizes:
        yield "an empty operand"
    elif max(sizes) == 1:
        yield "one element"
    else:
        yield SEVERAL


def size(operation: Operation) -> int:
    """Return the number of quotients, or that of the largest operand if the shapes do not fit."""
    together = alignment(operation)
    return max(operand.size for operand in operation.operands) if together is None else prod(together.shape)


def sized(words: str, low: int, high: int) -> str:
    """Return the property of `MORE` or `FEWER` elements than some number from `low` to `high`: no case tells which."""
    if (words, high) == (MORE, 1):
        return SEVERAL
    return f"{words} {low}{f' to {high}' if high > low else ''} elements"


def has(operation: Operation, names: Collection[str]) -> bool | None:
    """Tell whether an operation has properties; None if it is between sizes that no case distinguishes."""
    limits = [match for name in names if (match := _SIZED.fullmatch(name))]
    if not set(names) - {match[0] for match in limits} <= set(properties(operation)):
        return False
    told = set[bool | None]()
    for words, low, high in (match.groups() for match in limits):
        own = size(operation)
        told.add((own > int(low)) is (words == MORE) if own <= int(low) or own > int(high or low) else None)
    return False if False in told else None if None in told else True


def _numbers(operation: Operation) -> Iterator[str]:
    dividend, divisor = operation.operands[0], operation.operands[-1]
    element_type = element_type_of(divisor)
    if element_type.binary_format is None and not element_type.is_integer:
        return
    with np.errstate(invalid="ignore"):  # ml_dtypes warns about signalling NaN.
        zero = divisor == np.zeros((), divisor.dtype)
        if zero.any():
            yield "a zero divisor"
            if dividend.size:
                yield "x / 0"
        if element_type.is_integer:
            if alignment(operation) is not None and dividend.dtype == divisor.dtype:
                a, b = aligned(operation)
                overflows = are_minimum_by_minus_one(a, b).reshape(-1)
                if overflows.any():
                    yield "MIN / -1"
                yield from _at_places("MIN / -1", overflows)
                yield from _at_places("x / 0", are(b, 0).reshape(-1))
            return
        for words, operand in (("dividend", dividend), ("divisor", divisor)):
            if not np.isfinite(operand.astype(np.float64)).all():
                yield f"a {words} that is not finite"


def _at_places(words: str, pairs: NDArray[np.bool_]) -> Iterator[str]:
    """Yield where some elements lie among all: in the remainder after packets of 4, for instance."""
    if pairs.any():
        if pairs.size == 2:
            yield f"{words} among two elements"
        at = np.flatnonzero(pairs)
        for name in PLACES:
            if not name.startswith(LENGTHS) and mask(name, pairs.size)[at].any():
                yield f"{words} in {name}"
