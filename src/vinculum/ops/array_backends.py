"""Array backends, for operands other than arrays in CPU memory; each is imported for its first operand."""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module
from typing import Any, Protocol, cast

from vinculum.spec.element_types import ElementType
from vinculum.tensors.libraries import is_followed, on_cuda_device, packages_of
from vinculum.tensors.shapes import SymbolicShape


class ArrayBackend(Protocol):
    """A module that divides the arrays of a library."""

    def as_operand(self, value: object, name: str) -> Any:
        """Return an operand as the backend divides it, or refuse it as `vinculum.tensors.storage.as_operand` does."""

    def element_type_of(self, operand: Any, name: str) -> ElementType:
        """Return the element type of an operand of `as_operand`, or refuse it."""

    def shape_of(self, operand: Any) -> SymbolicShape:
        """Return the shape of an operand of `as_operand`; None for unknown sizes."""

    def divide(self, operator: Any, operands: Sequence[Any], out: object) -> Any:
        """Return an `Operator`'s quotients of operands of `as_operand`, as an array of their kind."""


def backend_of(*operands: object) -> ArrayBackend | None:
    """Return the backend of the first operand that needs one; None if NumPy views all."""
    for operand in operands:
        if "dask" in packages_of(operand):
            return cast("ArrayBackend", import_module("vinculum.dask_arrays.backend"))
        if on_cuda_device(operand):
            return cast("ArrayBackend", import_module("vinculum.device_arrays.backend"))
        if is_followed(operand):
            return cast("ArrayBackend", import_module("vinculum.torch"))
    return None
