"""What happens to the integer quotients that no integer is: the policies, and the errors of those that raise."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from vinculum.errors import AttributeValueError, DivisionByZeroError, IntegerOverflowError

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
class Exceptions:
    """The exceptional elements of one integer division; an index is None where the count is 0."""

    zero_divisors: int = 0
    first_zero_divisor: tuple[int, ...] | None = None
    overflows: int = 0
    first_overflow: tuple[int, ...] | None = None

    def raise_by(self, policies: Policies, title: str, elements: int, *, partial: bool) -> None:
        """Raise what the policies ask for; zero divisors come before overflow.

        Parameters
        ----------
        policies : Policies
            The caller's.
        title : str
            What a message calls the operator.
        elements : int
            How many quotients there are.
        partial : bool
            Whether an array of the caller's holds results by now.

        Raises
        ------
        DivisionByZeroError, IntegerOverflowError
            With the count and the first index.
        """
        note = "; out holds partial results" if partial else ""
        if self.first_zero_divisor is not None and policies.zero_divisor == "raise":
            raise DivisionByZeroError(
                f"{self.zero_divisors} of {elements} divisors of {title} are zero, the first at index "
                f"{self.first_zero_divisor}; allowed with zero_divisor='zero' or 'saturate'{note}",
                count=self.zero_divisors,
                first_index=self.first_zero_divisor,
            )
        if self.first_overflow is not None and policies.overflow == "raise":
            raise IntegerOverflowError(
                f"{self.overflows} of {elements} quotients of {title} are MIN/-1, which the type cannot hold, the "
                f"first at index {self.first_overflow}; allowed with overflow='wrap' or 'saturate'{note}",
                count=self.overflows,
                first_index=self.first_overflow,
            )
