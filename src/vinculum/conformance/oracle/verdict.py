"""What an answer is worth beside what the specification expects: data, which the reports put into words."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum
from typing import Any

import numpy as np

from vinculum.spec.element_types import ElementType


class Kind(Enum):
    """Every verdict; the first three are passes."""

    EXACT = "exact"
    REFUSED_AS_REQUIRED = "refused as required"
    UNSPECIFIED = "unspecified"
    UNSUPPORTED = "not supported"
    REFUSED = "refused"
    ULPS = "off by ulps"
    WRONG_VALUE = "wrong value"
    WRONG_SHAPE = "wrong shape"
    WRONG_TYPE = "wrong type"
    ACCEPTED = "accepted what must be refused"
    CRASHED = "crashed"
    HUNG = "hung"
    OUT_OF_MEMORY = "out of memory"

    @classmethod
    def _missing_(cls, value: object) -> Kind | None:
        """Read what older files call it."""
        return cls.UNSPECIFIED if value == "silent by specification" else None

    @property
    def passes(self) -> bool:
        """Whether it is what the specification asks for."""
        return self in (Kind.EXACT, Kind.REFUSED_AS_REQUIRED, Kind.UNSPECIFIED)

    @property
    def deviates(self) -> bool:
        """Whether it is a fault: what is not supported is neither a pass nor one."""
        return not self.passes and self is not Kind.UNSUPPORTED


@dataclass(frozen=True)
class Example:
    """The first element that differs; each number as text, that of a float with its encoding."""

    index: tuple[int, ...]
    operands: tuple[str, ...]
    expected: str
    actual: str


@dataclass(frozen=True)
class Gave:
    """What a runtime gave where the specification leaves the quotient unspecified.

    Attributes
    ----------
    dividend : str
        A number, or ``"x"`` for all that were asked.
    divisor : str
        A number.
    quotient : str
        What it gave for these; for several dividends the quotient that they share.
    where : str
        Of which dividends that holds, ``"x > 0"``, where not of all.
    """

    dividend: str
    divisor: str
    quotient: str
    where: str = ""

    @property
    def quotients(self) -> str:
        """Which quotients they are: ``"x/0"``."""
        return f"{self.dividend}/{self.divisor}"


@dataclass(frozen=True)
class Verdict:
    """What an answer is worth.

    Attributes
    ----------
    kind : Kind
        The verdict.
    said : str
        What the runtime said as it refused, or what ended it: ``"SIGFPE"``. For an answer of a wrong type or shape,
        or one that should not be, what it gave: ``"int32 of shape (2, 3)"``.
    elements, differing : int
        How many quotients were compared, and how many of them differ.
    ulps : Mapping of int to int
        For floats: how many quotients are off by that many ulps, from 2**k to below 2**(k + 1), by k.
    largest : int or None
        The most ulps that a quotient is off; None if the difference is not a number of ulps.
    example : Example or None
        The first element that differs.
    expected : str
        For an answer of a wrong type or shape, what it should be: ``"float32"``, ``"(2, 3)"``.
    unspecified : tuple of Gave
        What was given for quotients that the specification leaves unspecified.
    """

    kind: Kind
    said: str = ""
    elements: int = 0
    differing: int = 0
    ulps: Mapping[int, int] = field(default_factory=dict)
    largest: int | None = None
    example: Example | None = None
    expected: str = ""
    unspecified: tuple[Gave, ...] = ()


def number_text(value: Any, element_type: ElementType) -> str:
    """Return a number as text, that of a float with its encoding: ``"0.1 (0x3dcccccd)"``.

    Parameters
    ----------
    value : scalar
        An element of an array, of the element type.
    element_type : ElementType
        Its element type.
    """
    if element_type.binary_format is None:
        return str(value)
    encoding = int(np.asarray(value).view(f"u{element_type.bits // 8}"))
    return f"{value!s} (0x{encoding:0{element_type.bits // 4}x})"
