"""Elements that a runtime may compute otherwise, by their position or by the number of all: ends, packets, lengths."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import cache, partial
from math import log2
from typing import Any

import numpy as np
from numpy.typing import NDArray

Mask = Callable[[int], NDArray[Any]]
"""Tells of each element of a tensor, by the number of its elements, whether it is one of these."""

_WIDTHS = (2, 4, 8, 16, 32)
"""Numbers of elements that vector instructions process at once."""

LENGTHS = "tensors of"
"""How the names of places begin that are all elements of some tensors, and none of others."""


def _last(least: int, size: int) -> NDArray[Any]:
    return np.asarray((np.arange(size) == size - 1) & (size >= least))


def _first(least: int, size: int) -> NDArray[Any]:
    return np.asarray((np.arange(size) == 0) & (size >= least))


def _remainder(width: int, size: int) -> NDArray[Any]:
    return np.asarray(np.arange(size) >= size - size % width)


def _packets(width: int, size: int) -> NDArray[Any]:
    return ~_remainder(width, size)


def _of_length(width: int, rest: int, size: int) -> NDArray[Any]:
    return np.full(size, size % width == rest)


def _places() -> Iterator[tuple[str, Mask]]:
    for name, which in (("last", _last), ("first", _first)):
        yield f"the {name} element", partial(which, 1)
        yield f"the {name} of several elements", partial(which, 2)
    yield from ((f"the remainder after packets of {width}", partial(_remainder, width)) for width in _WIDTHS)
    yield from ((f"packets of {width}", partial(_packets, width)) for width in _WIDTHS)
    for width in _WIDTHS[:-1]:
        for rest in range(1, width):
            yield f"{LENGTHS} {width} k + {rest} elements", partial(_of_length, width, rest)


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
