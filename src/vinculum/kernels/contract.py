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
    """What a division takes, and what it does with integers that have no quotient.

    To saturate is to give the largest or smallest value by the dividend's sign, and 0 for 0/0; for MIN/-1 the largest,
    where to wrap gives MIN.
    """

    dtypes: tuple[np.dtype[Any], ...]  # What it divides, in the processor's byte order; operands may have the other.
    reciprocal: bool  # Whether it takes one operand, the divisor, and divides 1 by it.
    broadcasts: bool  # Whether the operands' shapes are joined as NumPy joins them; else they have to be equal.
    floor: bool  # Whether integer quotients are rounded toward minus infinity; else toward zero.
    zero_divisor: Literal["raise", "zero", "saturate"]  # What becomes of x/0.
    overflow: Literal["wrap", "raise", "saturate"]  # What becomes of MIN/-1.


@dataclass(frozen=True, slots=True)
class Exceptions:
    """The elements of an integer division whose quotient the type does not hold, where a policy raises.

    The first of a kind is the first index in row-major order; None if there is none.
    """

    elements: int  # How many quotients there are.
    zero_divisors: int
    first_zero_divisor: Index | None
    overflows: int  # How many quotients are MIN/-1; 0 where the policy is "wrap", by which they are no exceptions.
    first_overflow: Index | None

    def moved(self, place: Callable[[Index], Index]) -> Exceptions:
        """Return the same exceptions at other indices: those of a part of a result, by their places in the whole."""
        zero, overflow = (None if at is None else place(at) for at in (self.first_zero_divisor, self.first_overflow))
        return replace(self, first_zero_divisor=zero, first_overflow=overflow)


def joined(parts: Iterable[Exceptions], elements: int) -> Exceptions:
    """Return the exceptions of parts of a result with so many elements, where the indices are already those of all."""
    found = list(parts)
    return Exceptions(
        elements,
        sum(part.zero_divisors for part in found),
        min((part.first_zero_divisor for part in found if part.first_zero_divisor is not None), default=None),
        sum(part.overflows for part in found),
        min((part.first_overflow for part in found if part.first_overflow is not None), default=None),
    )


class Division(Protocol):
    """A division made ready for one arithmetic and called many times, by many threads at once."""

    def __call__(self, a: object, b: object, out: object, /) -> Array | Exceptions | None:
        """Divide.

        Parameters
        ----------
        a, b : ndarray or NumPy scalar
            Dividend and divisor, of any strides, alignment and byte order; of a reciprocal, the operand and None.
        out : ndarray or None
            Where to write: of the result's element type, in the processor's byte order, and of the result's shape. It
            may overlap the operands.

        Returns
        -------
        ndarray
            The quotients: `out`, or a new array whose dimensions lie in memory as the operands' do.
        Exceptions
            If a policy raises; `out` may then hold some of the quotients.
        None
            If these are no operands of the arithmetic, or `out` is no result of theirs. Nothing is written.
        """


class Backend(Protocol):
    """A way to divide arrays. All of them give the same quotients.

    A quotient of binary32 or binary64 that is NaN is a quiet one, of any sign and payload: the processor's, as compiled
    loops take it, or the one of NumPy's constant. Narrower formats have one NaN.
    """

    name: str

    def division(self, arithmetic: Arithmetic) -> Division:
        """Return the division of an arithmetic."""

    def exclusive_or(self, a: Array, b: Array, out: Array) -> None:
        """Write the exclusive or of bits: what a division of these arrays does to memory, without division."""
