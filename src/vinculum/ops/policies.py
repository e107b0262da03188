"""The policies for x/0 and MIN/-1 of integers, and the errors that they raise."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, NoReturn

from vinculum.errors import AttributeValueError, ConstraintError, DivisionByZeroError, IntegerOverflowError
from vinculum.spec.model import Dialect, OperatorSpec

if TYPE_CHECKING:
    from vinculum.kernels.contract import Exceptions

ZeroDivisor = Literal["raise", "zero", "saturate"]
Overflow = Literal["wrap", "raise", "saturate"]

ZERO_DIVISOR_POLICIES = ("raise", "zero", "saturate")
OVERFLOW_POLICIES = ("wrap", "raise", "saturate")


@dataclass(frozen=True)
class Policies:
    """The policies of integer division for a zero divisor and for MIN/-1.

    Attributes
    ----------
    zero_divisor : {"raise", "zero", "saturate"}
        Raise an error; give 0; or give the largest or smallest value by the dividend's sign, and 0 for 0/0.
    overflow : {"wrap", "raise", "saturate"}
        Give MIN; raise an error; or give the largest value.

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


def raise_exceptions(exceptions: Exceptions, policies: Policies, spec: OperatorSpec, *, partial: bool) -> NoReturn:
    """Raise the error of a policy, with the count and the first index; zero divisors come before overflow.

    For SONNX it names the tag of a constraint. With `partial` the caller's `out` may already hold results.
    """
    note = "; out may hold partial results" if partial else ""
    count, index = exceptions.zero_divisors, exceptions.first_zero_divisor
    if index is not None and policies.zero_divisor == "raise":
        found = f"{count} of {exceptions.elements} divisors of {spec.title} are zero, the first at index {index}"
        if spec.dialect is Dialect.SONNX:
            tag = "[C2]" if spec.variant == "real" else "[C3]"
            found = f"{tag} {found}; every divisor must be nonzero{note}"
            raise ConstraintError(found, tag=tag, count=count, first_index=index)
        advice = "allowed with zero_divisor='zero' or 'saturate'"
        raise DivisionByZeroError(found + note, count=count, first_index=index, advice=advice)
    count, index = exceptions.overflows, exceptions.first_overflow
    assert index is not None, "a division reports exceptions only where a policy raises"
    found = f"{count} of {exceptions.elements} quotients of {spec.title} are MIN/-1, which the type cannot hold"
    found += f", the first at index {index}"
    if spec.dialect is Dialect.SONNX:
        found = f"[V1] {found} (the document does not mention the case, the tag is ours){note}"
        raise ConstraintError(found, tag="[V1]", count=count, first_index=index)
    advice = "allowed with overflow='wrap' or 'saturate'"
    raise IntegerOverflowError(found + note, count=count, first_index=index, advice=advice)
