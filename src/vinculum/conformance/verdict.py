"""What an answer is worth beside what the specification expects."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum


class Kind(Enum):
    """Every verdict; the first three are passes."""

    EXACT = "exact"
    REFUSED_AS_REQUIRED = "refused as required"
    SILENT = "silent by specification"
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

    @property
    def passes(self) -> bool:
        """Whether it is what the specification asks for."""
        return self in (Kind.EXACT, Kind.REFUSED_AS_REQUIRED, Kind.SILENT)


@dataclass(frozen=True)
class Example:
    """The first element that differs; each number as text, that of a float with its encoding."""

    index: tuple[int, ...]
    operands: tuple[str, ...]
    expected: str
    actual: str


@dataclass(frozen=True)
class Verdict:
    """What an answer is worth.

    Attributes
    ----------
    kind : Kind
        The verdict.
    words : str
        One line: ``"3 of 64 quotients are off, by up to 1 ulp"``, ``"SIGFPE"``, what the runtime said, or what it
        did where the specification is silent.
    elements, differing : int
        How many quotients were compared, and how many of them differ.
    ulps : Mapping of int to int
        For floats: how many quotients are off by that many ulps, from 2**k to below 2**(k + 1), by k.
    largest : int or None
        The most ulps that a quotient is off; None if the difference is not a number of ulps.
    example : Example or None
        The first element that differs.
    """

    kind: Kind
    words: str = ""
    elements: int = 0
    differing: int = 0
    ulps: Mapping[int, int] = field(default_factory=dict)
    largest: int | None = None
    example: Example | None = None
