"""What happens to the integer quotients that no integer is: the policies, and the errors of those that raise."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from vinculum.errors import AttributeValueError, ConstraintError, DivisionByZeroError, Index, IntegerOverflowError
from vinculum.spec.model import Dialect, OperatorSpec

ZeroDivisor = Literal["raise", "zero", "saturate"]
Overflow = Literal["wrap", "raise", "saturate"]

ZERO_DIVISOR_POLICIES = ("raise", "zero", "saturate")
OVERFLOW_POLICIES = ("wrap", "raise", "saturate")


@dataclass(frozen=True)
class Policies:
    """What integer division does with a zero divisor, and with MIN/-1.

    Attributes
    ----------
    zero_divisor : {"raise", "zero", "saturate"}
        Raise; give 0; give the largest or smallest value by the dividend's sign, and 0 for 0/0.
    overflow : {"wrap", "raise", "saturate"}
        Give MIN; raise; give the largest value.

    Raises
    ------
    AttributeValueError
        If a policy is none of these.
    """

    zero_divisor: ZeroDivisor = "raise"
    overflow: Overflow = "wrap"

    def __post_init__(self) -> None:
        _check("zero_divisor", self.zero_divisor, ZERO_DIVISOR_POLICIES)
        _check("overflow", self.overflow, OVERFLOW_POLICIES)


def _check(name: str, value: object, allowed: tuple[str, ...]) -> None:
    if value not in allowed:
        raise AttributeValueError(f"{name} is {value!r}; allowed: {', '.join(map(repr, allowed))}")


@dataclass(frozen=True)
class ExceptionalElements:
    """The elements of one integer or real division that no quotient of the type is; their places are found on demand.

    Attributes
    ----------
    zero_divisors, overflows : int
        How many zero divisors there are, and how many MIN/-1.
    first_zero_divisor, first_overflow : callable
        Return the index of the first in row-major order; called only where the count is not 0.
    """

    zero_divisors: int
    first_zero_divisor: Callable[[], Index]
    overflows: int
    first_overflow: Callable[[], Index]

    def raise_by(self, policies: Policies, spec: OperatorSpec, elements: int, *, partial: bool) -> None:
        """Raise what the policies ask for; zero divisors come before overflow.

        Parameters
        ----------
        policies : Policies
            The caller's.
        spec : OperatorSpec
            The operator version; SONNX's are constraints with tags.
        elements : int
            How many quotients there are.
        partial : bool
            Whether an array of the caller's holds results by now.

        Raises
        ------
        DivisionByZeroError, IntegerOverflowError, ConstraintError
            With the count and the first index.
        """
        note = "; out may hold partial results" if partial else ""
        if self.zero_divisors and policies.zero_divisor == "raise":
            index = self.first_zero_divisor()
            found = f"{self.zero_divisors} of {elements} divisors of {spec.title} are zero, the first at index {index}"
            if spec.dialect is Dialect.SONNX:
                tag = "[C2]" if spec.variant == "real" else "[C3]"
                found = f"{tag} {found}; every divisor has to be nonzero{note}"
                raise ConstraintError(found, tag=tag, count=self.zero_divisors, first_index=index)
            found += f"; allowed with zero_divisor='zero' or 'saturate'{note}"
            raise DivisionByZeroError(found, count=self.zero_divisors, first_index=index)
        if self.overflows and policies.overflow == "raise":
            index = self.first_overflow()
            found = f"{self.overflows} of {elements} quotients of {spec.title} are MIN/-1, which the type cannot hold"
            found += f", the first at index {index}"
            if spec.dialect is Dialect.SONNX:
                found = f"[V1] {found} (the document does not mention the case, the tag is ours){note}"
                raise ConstraintError(found, tag="[V1]", count=self.overflows, first_index=index)
            found += f"; allowed with overflow='wrap' or 'saturate'{note}"
            raise IntegerOverflowError(found, count=self.overflows, first_index=index)
