"""Value numbers: values that are computed alike from the same values are equal, whatever they are called."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from hashlib import blake2b
from itertools import count
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vinculum.analysis.domain.abstract_tensor import AbstractTensor

_HASHED = 1 << 20
"""Elements of a constant that is compared with others by its content."""


@dataclass(frozen=True, slots=True)
class Definition:
    """How a value is computed: the operator, its attributes, and the value numbers of its operands, 0 for none."""

    operator: str
    attributes: dict[str, Any]
    operands: tuple[int, ...]


class Numbering:
    """Gives out value numbers, and keeps what is known of each."""

    def __init__(self) -> None:
        self._next = count(1)
        self._results: dict[Hashable, tuple[AbstractTensor, ...]] = {}
        self._constants: dict[Hashable, int] = {}
        self._tensors: dict[int, AbstractTensor] = {}
        self._definitions: dict[int, Definition] = {}

    def numbered(self, value: AbstractTensor, definition: Definition | None = None) -> AbstractTensor:
        """Return the value with a number, a new one if it has none, and keep how it is computed."""
        if not value.number:
            value = value.known(number=next(self._next))
        self._tensors.setdefault(value.number, value)
        if definition is not None:
            self._definitions.setdefault(value.number, definition)
        return value

    def constant(self, value: AbstractTensor) -> AbstractTensor:
        """Return a constant with the number of those that hold the same."""
        array = value.constant
        if array is None or array.size > _HASHED or array.dtype.kind in "OUS":
            return self.numbered(value)
        key = (value.element_type, array.shape, blake2b(np.ascontiguousarray(array).tobytes(), digest_size=16).digest())
        value = self.numbered(value.known(number=self._constants.get(key, 0)))
        self._constants[key] = value.number
        return value

    def results(self, key: Hashable) -> tuple[AbstractTensor, ...] | None:
        """Return what was computed alike before."""
        return self._results.get(key)

    def keep(self, key: Hashable, results: tuple[AbstractTensor, ...]) -> None:
        """Keep what was computed."""
        self._results[key] = results

    def definition(self, number: int) -> Definition | None:
        """Return how a value is computed; None of inputs and constants."""
        return self._definitions.get(number)

    def tensor(self, number: int) -> AbstractTensor | None:
        """Return what is known of a value."""
        return self._tensors.get(number)


def content(value: Any) -> Hashable:
    """Return an attribute's value as it can stand in a key."""
    if isinstance(value, np.ndarray):
        return _array_content(value)
    return tuple(value) if isinstance(value, list) else value


def _array_content(array: NDArray[Any]) -> Hashable:
    return array.dtype.name, array.shape, array.tobytes()
