"""Verdicts on answers, as data, which the reports express in words."""

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
    DIFFERS = "answers differ between runs"

    @property
    def passes(self) -> bool:
        """Whether it conforms to the specification."""
        return self in (Kind.EXACT, Kind.REFUSED_AS_REQUIRED, Kind.UNSPECIFIED)

    @property
    def is_death(self) -> bool:
        """Whether the process ended without an answer."""
        return self in (Kind.CRASHED, Kind.HUNG, Kind.OUT_OF_MEMORY)

    @property
    def deviates(self) -> bool:
        """Whether it is a fault; "not supported" is neither a pass nor a fault."""
        return not self.passes and self is not Kind.UNSUPPORTED


READINGS: Mapping[str, tuple[Kind, ...]] = {
    "ieee-754": (Kind.ULPS,),
    "special-values": (Kind.ULPS, Kind.WRONG_VALUE),
    "f8e4m3-without-infinity": (Kind.WRONG_VALUE,),
    "regular-division": (Kind.WRONG_VALUE,),
    "empty-result-divides-nothing": (Kind.REFUSED,),
    "any-numeric-type": (Kind.REFUSED,),
    "pdpd-axis": (Kind.REFUSED,),
    "negative-axis-undefined": (Kind.ACCEPTED,),
}
"""By the clause that a case tests, the verdicts that contradict only our reading of what its document leaves unsaid."""


@dataclass(frozen=True)
class Example:
    """An element that differs, with numbers as text; floats include their encoding."""

    index: tuple[int, ...]
    operands: tuple[str, ...]
    expected: str
    actual: str


@dataclass(frozen=True)
class Gave:
    """A runtime's quotient where the specification leaves it unspecified.

    - `dividend`: A number, or ``"x"`` for all dividends in the operation.
    - `divisor`: A number.
    - `quotient`: The quotient; for several dividends the quotient that they share.
    - `where`: The dividends to which it applies, ``"x > 0"``; empty for all.
    """

    dividend: str
    divisor: str
    quotient: str
    where: str = ""

    @property
    def quotients(self) -> str:
        """The division: ``"x/0"``."""
        return f"{self.dividend}/{self.divisor}"


@dataclass(frozen=True)
class Verdict:
    """The verdict on an answer.

    - `said`: The message of a refusal, or what ended the process: ``"SIGFPE"``. For an answer of a wrong type or shape,
      or instead of a required refusal, a description of the answer: ``"int32 of shape (2, 3)"``. For answers that
      differ, the verdicts on them: ``"off by ulps, exact"``; the rest is then that of the first.
    - `elements`, `differing`: How many quotients were compared, and how many of them differ.
    - `ulps`: For floats: the number of quotients with an error from 2**k to below 2**(k + 1) ulps, by k.
    - `largest`: The largest error in ulps; None if the difference is not a number of ulps.
    - `example`: An element that differs: of the numbers that a person reads most easily.
    - `expected`: For an answer of a wrong type or shape, the right one: ``"float32"``, ``"(2, 3)"``.
    - `unspecified`: The quotients that the specification leaves unspecified.
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

    - `value`: An element of an array, of the element type.
    """
    if element_type.binary_format is None:
        return str(value)
    encoding = int(np.asarray(value).view(f"u{element_type.bits // 8}"))
    return f"{value!s} (0x{encoding:0{element_type.bits // 4}x})"
