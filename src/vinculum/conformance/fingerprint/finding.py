"""A fingerprint and its findings."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum


class Status(Enum):
    """How a finding relates to the specification."""

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
        What was examined: ``"division"``, ``"constants"``, ``"MIN / -1"``.
    subject : str
        What it applies to: mostly an element type.
    statement : str
        How the runtime computes, in few words: ``"computed in int32 (upper bits dropped)"``.
    status : Status
        Whether the specification requires that.
    detail : str
        Details, if there are any.
    evidence : str
        An example with its numbers, or the runtime's message; empty if there is neither.
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
        The name as it was requested, and the name in sentences.
    versions : Mapping of str to str
        Versions of the packages that the answers depend on.
    findings : tuple of Finding
        The findings in the order of the probes; probes that the runtime cannot execute are left out.
    seconds : float
        How long it took.
    """

    backend: str
    title: str
    versions: Mapping[str, str]
    findings: tuple[Finding, ...]
    seconds: float
