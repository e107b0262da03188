"""Value numbers: values that are computed in the same way from the same values have the same number."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from hashlib import blake2b
from itertools import count
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vinculum.analysis.domain.abstract_tensor import AbstractTensor, constant

_HASHED = 1 << 20
"""The most elements of a constant that is compared with others by its content."""
_DIGEST = 16
"""Bytes of the digest by which longer contents are compared."""


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
        self._constants: dict[Hashable, AbstractTensor] = {}
        self._tensors: dict[int, AbstractTensor] = {}
        self._definitions: dict[int, Definition] = {}

    def numbered(self, value: AbstractTensor, definition: Definition | None = None) -> AbstractTensor:
        """Return the value with a number, a new one if it has none, and keep how it is computed.

        What an operator passes on as it is, is not computed from itself.
        """
        if not value.number:
            value = value.known(number=next(self._next))
        self._tensors.setdefault(value.number, value)
        if definition is not None and value.number not in definition.operands:
            self._definitions.setdefault(value.number, definition)
        return value

    def constant(self, array: NDArray[Any], element_type: str | None = None) -> AbstractTensor:
        """Return what is known of a constant, as `constants.constant` does; those that hold the same are one value."""
        if array.size > _HASHED or array.dtype.kind in "OUS":
            return self.numbered(constant(array, element_type))
        data = array.tobytes()
        held = data if len(data) <= _DIGEST else blake2b(data, digest_size=_DIGEST).digest()
        key = (element_type, array.dtype, array.shape, held)
        if key not in self._constants:
            self._constants[key] = self.numbered(constant(array, element_type))
        return self._constants[key]

    def results(self, key: Hashable) -> tuple[AbstractTensor, ...] | None:
        """Return what was computed alike before."""
        return self._results.get(key)

    def keep(self, key: Hashable, results: tuple[AbstractTensor, ...]) -> None:
        """Keep what was computed."""
        self._results[key] = results

    def definition(self, number: int) -> Definition | None:
        """Return how a value is computed; None of inputs and constants."""
        return self._definitions.get(number)

    def made_by(self, number: int, *operators: str) -> Definition | None:
        """Return how a value is computed, if that is by one of some operators."""
        definition = self._definitions.get(number)
        return definition if definition is not None and definition.operator in operators else None

    def scalar(self, number: int) -> float | None:
        """Return the only element of a constant."""
        known = self._tensors.get(number)
        return None if known is None else known.scalar

    def tensor(self, number: int) -> AbstractTensor | None:
        """Return what is known of a value."""
        return self._tensors.get(number)


def content(value: Any) -> Hashable:
    """Return an attribute's value as it can stand in a key."""
    if isinstance(value, np.ndarray):
        return value.dtype.name, value.shape, value.tobytes()
    return tuple(value) if isinstance(value, list) else value
