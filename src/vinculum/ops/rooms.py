"""Rooms for operands that are no arrays in memory: found by a package's name, imported with the first of them."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from importlib import import_module
from typing import TYPE_CHECKING, Any, Protocol, cast

from vinculum.spec.element_types import ElementType
from vinculum.tensors.shapes import SymbolicShape

if TYPE_CHECKING:
    from vinculum.ops.operator import Operator


class Room(Protocol):
    """A way to divide operands of a package."""

    def as_operand(self, value: object, name: str) -> Any:
        """Return an operand as the package's own array, or refuse it as `vinculum.tensors.storage.as_operand` does."""

    def element_type_of(self, operand: Any, name: str) -> ElementType:
        """Return the element type of what `as_operand` gave, or refuse it."""

    def shape_of(self, operand: Any) -> SymbolicShape:
        """Return the shape of what `as_operand` gave; None for sizes that are not known."""

    def divide(self, operator: Operator, operands: Sequence[Any], out: object) -> Any:
        """Return the quotients of what `as_operand` gave, as the package's own array."""


# By the top-level package of a class that an operand is an instance of.
_ROOMS = {"dask": "vinculum.dask_arrays"}


def room_of(*operands: object) -> Room | None:
    """Return the room of the first operand that has one; None if all are for NumPy."""
    for operand in operands:
        kind: Any = type(operand)
        room = _room_of_type(kind)
        if room is not None:
            return room
    return None


@lru_cache(maxsize=1024)
def _room_of_type(kind: type) -> Room | None:
    packages = (ancestor.__module__.partition(".")[0] for ancestor in kind.__mro__)
    room = next((_ROOMS[package] for package in packages if package in _ROOMS), None)
    return None if room is None else cast("Room", import_module(room))
