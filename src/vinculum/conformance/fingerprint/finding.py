"""What a fingerprint tells."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum


class Status(Enum):
    """How what was found stands to the specification."""

    DEVIATES = "deviates"
    AS_SPECIFIED = "as specified"
    UNSPECIFIED = "unspecified"
    UNSUPPORTED = "not supported"


@dataclass(frozen=True)
class Finding:
    """What one probe found of one subject.

    Attributes
    ----------
    probe : str
        What was looked at: ``"division"``, ``"constants"``, ``"MIN / -1"``.
    subject : str
        Of what: mostly an element type.
    statement : str
        How the runtime computes, in few words: ``"computed in int32 (upper bits dropped)"``.
    status : Status
        Whether the specification asks for that.
    detail : str
        More words, if there is more to say.
    evidence : str
        An example with its numbers, or the runtime's own words; empty if there is nothing to show.
    """

    probe: str
    subject: str
    statement: str
    status: Status
    detail: str = ""
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
