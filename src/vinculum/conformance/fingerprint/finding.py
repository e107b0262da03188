"""What a fingerprint tells: one line a probe."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from vinculum.spec.element_types import ElementType


@dataclass(frozen=True)
class Finding:
    """What one probe found.

    Attributes
    ----------
    probe : str
        What was looked at: ``"int64"``, ``"MIN / -1"``.
    statement : str
        How the runtime computes, in words: ``"computed in int32 (upper bits dropped)"``.
    is_deviation : bool
        Whether that differs from the specification, or ends the process.
    evidence : str
        An example with its numbers, or the runtime's own words; empty if there is nothing to show.
    """

    probe: str
    statement: str
    is_deviation: bool
    evidence: str = ""


@dataclass(frozen=True)
class Fingerprint:
    """How a runtime computes its quotients.

    Attributes
    ----------
    backend, title : str
        As it was asked for, and what sentences call it.
    versions : Mapping of str to str
        Of the packages that the answers depend on.
    findings : tuple of Finding
        In the order of the probes; a probe that the runtime cannot be asked is left out.
    seconds : float
        How long it took.
    """

    backend: str
    title: str
    versions: Mapping[str, str]
    findings: tuple[Finding, ...]
    seconds: float


@dataclass(frozen=True)
class Told:
    """What is said of one element type; the same words for several types are said once."""

    statement: str
    is_deviation: bool = False
    evidence: str = ""


def merged(probe: str, told: Mapping[ElementType, Told]) -> Finding:
    """Return one finding about several element types."""
    groups: dict[str, list[ElementType]] = {}
    for element_type, one in told.items():
        groups.setdefault(one.statement, []).append(element_type)
    parts = [f"{', '.join(map(str, types))}: {statement}" for statement, types in groups.items()]
    # The example of a deviation is worth more than that of what is as it must be.
    evidence = sorted((one for one in told.values() if one.evidence), key=lambda one: not one.is_deviation)
    return Finding(
        probe,
        next(iter(groups)) if len(groups) == 1 else "; ".join(parts),
        any(one.is_deviation for one in told.values()),
        evidence[0].evidence if evidence else "",
    )
