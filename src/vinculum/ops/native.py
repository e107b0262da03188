"""Division by the kernels: the twelve element types of Div-14."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from vinculum.ops.policies import ExceptionalElements, Policies
from vinculum.spec.element_types import BFLOAT16, FLOAT16, ElementType, Kind
from vinculum.spec.model import IntegerRounding
from vinculum.tensors.storage import dtype_of
from vinculum.tensors.walk import Walk, expanded

Array = npt.NDArray[Any]
Kernel = Callable[..., Any]


class NativeDivision:
    """Division of one element type by one rule, compiled at its first use.

    Parameters
    ----------
    element_type : ElementType
        One of the twelve of Div-14.
    rounding : IntegerRounding
        For integers.
    policies : Policies
        For integers.
    """

    def __init__(self, element_type: ElementType, rounding: IntegerRounding, policies: Policies) -> None:
        # Numba is imported here, at the first division, and not with the package: it takes longer than all else.
        from vinculum.kernels import entries
        from vinculum.kernels.jit import kernel
        from vinculum.kernels.loops import EMPTY_TALLY, SATURATE_OVERFLOW, SATURATE_ZERO_DIVISORS

        # The kernels carry 16-bit floats as bit patterns.
        self._encoding = np.dtype(np.uint16) if element_type in (FLOAT16, BFLOAT16) else None
        storage = str(self._encoding or dtype_of(element_type))
        flat: Kernel
        nested: Kernel
        # Unsigned quotients are never negative, so floor is truncation, and one kernel fewer is compiled.
        if element_type.kind is Kind.SIGNED and rounding is IntegerRounding.FLOOR:
            flat, nested = entries.floor_flat, entries.floor_nested
        elif element_type.is_integer:
            flat, nested = entries.truncating_flat, entries.truncating_nested
        elif element_type is FLOAT16:
            flat, nested = entries.binary16_flat, entries.binary16_nested
        elif element_type is BFLOAT16:
            flat, nested = entries.bfloat16_flat, entries.bfloat16_nested
        else:
            flat, nested = entries.ieee_flat, entries.ieee_nested
        self._flat = kernel(flat, storage)
        self._nested = kernel(nested, storage)
        self._element_type = element_type
        self._tally = None
        if element_type.is_integer:
            self._tally = np.array(EMPTY_TALLY, np.int64)
            self._tally[SATURATE_ZERO_DIVISORS] = policies.zero_divisor == "saturate"
            self._tally[SATURATE_OVERFLOW] = policies.overflow == "saturate"

    def __call__(self, a: Array, b: Array, out: Array, walk: Walk) -> ExceptionalElements | None:
        """Divide over a walk whose result is not empty; return the exceptional elements, None if there are none."""
        if self._encoding is not None:
            a, b, out = a.view(self._encoding), b.view(self._encoding), out.view(self._encoding)
        if walk.flat:
            dividends = _first(a) if walk.repeats_a else _flattened(a)
            divisors = _first(b) if walk.repeats_b else _flattened(b)
            target: tuple[Array, ...] = (_flattened(out),)
            kernel = self._flat
        else:
            dividends, divisors = _led(a), _led(b)
            target = _led(out), walk.nest
            kernel = self._nested
        if not dividends.flags.writeable:
            dividends = _writable_alias(dividends)
        if not divisors.flags.writeable:
            divisors = _writable_alias(divisors)
        if self._tally is None:
            kernel(dividends, divisors, *target)
            return None
        tally = self._tally.copy()
        if kernel(dividends, divisors, *target, tally):
            return self._exceptional(tally, a, b, walk)
        return None

    def _exceptional(self, tally: npt.NDArray[np.int64], a: Array, b: Array, walk: Walk) -> ExceptionalElements:
        _, _, zero_divisors, first_zero_divisor, overflows, first_overflow = tally.tolist()
        return ExceptionalElements(
            zero_divisors,
            lambda: _index(first_zero_divisor, walk, lambda: expanded(b, walk.alignment.b, walk.alignment.shape) == 0),
            overflows,
            lambda: _index(first_overflow, walk, lambda: self._overflowing(a, b, walk)),
        )

    def _overflowing(self, a: Array, b: Array, walk: Walk) -> Array:
        shape = walk.alignment.shape
        smallest: Array = expanded(a, walk.alignment.a, shape) == self._element_type.minimum
        minus_one: Array = expanded(b, walk.alignment.b, shape) == -1
        return np.logical_and(smallest, minus_one)


def _index(position: int, walk: Walk, affected: Callable[[], Array]) -> tuple[int, ...]:
    """Turn a position of the walk into the first index in row-major order."""
    if not walk.row_major:
        # The first that the walk met need not have the first index.
        position = int(np.argmax(affected()))
    return tuple(int(i) for i in np.unravel_index(position, walk.alignment.shape))


def _flattened(array: Array) -> Array:
    """View an array that is contiguous in some order of its dimensions as one dimension."""
    return array if array.ndim == 1 else array.ravel(order="K")


def _first(array: Array) -> Array:
    """View the first element alone, as one dimension."""
    if array.size == 1:
        return _flattened(array)
    corner: Array = array[(slice(0, 1),) * array.ndim]
    return corner.reshape(1)


def _led(array: Array) -> Array:
    """View an array as one dimension whose first element is the array's; what follows does not matter."""
    return array.reshape(-1) if array.flags.c_contiguous else _first(array)


class _Memory:
    """The memory of an array under another description, for NumPy to make an array of."""

    def __init__(self, array: Array, description: dict[str, Any]) -> None:
        self.array = array
        self.__array_interface__ = description


def _writable_alias(operand: Array) -> Array:
    """View a read-only operand as if it could be written to; no kernel writes to its operands.

    For Numba a read-only array has another type, and every combination of such operands would be compiled anew.
    """
    description = dict(operand.__array_interface__)
    description["data"] = (description["data"][0], False)
    alias: Array = np.asarray(_Memory(operand, description))
    return alias
