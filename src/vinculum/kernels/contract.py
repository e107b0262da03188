"""What a backend is: the contract between the operators and the code that divides arrays."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import Any, Literal, Protocol

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]
Index = tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Arithmetic:
    """The operands of a division, and its result for integers without a quotient.

    To saturate is to give the largest or smallest value by the dividend's sign, and 0 for 0/0; for MIN/-1 the largest,
    where to wrap gives MIN.
    """

    dtypes: tuple[np.dtype[Any], ...]  # The element types, in native byte order; operands may be byte-swapped.
    reciprocal: bool  # Whether the only operand is the divisor, and the dividend 1.
    broadcasts: bool  # Whether shapes are broadcast by NumPy's rule; else they must be equal.
    floor: bool  # Whether integer quotients are rounded toward minus infinity; else toward zero.
    zero_divisor: Literal["raise", "zero", "saturate"]  # The result of x/0.
    overflow: Literal["wrap", "raise", "saturate"]  # The result of MIN/-1.


@dataclass(frozen=True, slots=True)
class Exceptions:
    """The elements without a quotient of an integer division for which a policy raises.

    The first of a kind is the first index in row-major order; None if there is none.
    """

    elements: int  # The number of quotients.
    zero_divisors: int
    first_zero_divisor: Index | None
    overflows: int  # The number of quotients MIN/-1; 0 under the policy "wrap", where they are no exceptions.
    first_overflow: Index | None

    def moved(self, place: Callable[[Index], Index]) -> Exceptions:
        """Return the same exceptions with their indices mapped, such as from a block to the whole result."""
        zero, overflow = (None if at is None else place(at) for at in (self.first_zero_divisor, self.first_overflow))
        return replace(self, first_zero_divisor=zero, first_overflow=overflow)


def joined(parts: Iterable[Exceptions], elements: int) -> Exceptions:
    """Return the exceptions of a result of so many elements from those of its parts, with indices in the result."""
    found = list(parts)
    return Exceptions(
        elements,
        sum(part.zero_divisors for part in found),
        min((part.first_zero_divisor for part in found if part.first_zero_divisor is not None), default=None),
        sum(part.overflows for part in found),
        min((part.first_overflow for part in found if part.first_overflow is not None), default=None),
    )


class Division(Protocol):
    """A division prepared for one arithmetic; it may be called by several threads at once."""

    def __call__(self, a: object, b: object, out: object, /) -> Array | Exceptions | None:
        """Divide.

        Parameters
        ----------
        a, b : ndarray or NumPy scalar
            Dividend and divisor, of any strides, alignment and byte order; for a reciprocal, the operand and None.
        out : ndarray or None
            The array to write to, of the result's shape and element type, in native byte order. It may overlap the
            operands.

        Returns
        -------
        ndarray
            The quotients: `out`, or a new array with the operands' memory layout.
        Exceptions
            If a policy raises; `out` may then hold some of the quotients.
        None
            If the arithmetic does not take these operands, or `out` cannot hold their result. Nothing is written.
        """


class Backend(Protocol):
    """An implementation of division. All backends give the same quotients.

    A NaN of binary32 or binary64 is quiet and may have any sign and payload: compiled loops give the processor's, the
    portable backend NumPy's constant. Narrower formats have one NaN.
    """

    name: str

    def division(self, arithmetic: Arithmetic) -> Division:
        """Return the division of an arithmetic."""

    def exclusive_or(self, a: Array, b: Array, out: Array) -> None:
        """Write the exclusive or of the operands' bits, which accesses memory as a division does; for benchmarks."""
