"""How a runtime computes its quotients, in words: an explanation of its answers to some of the suite's cases."""

from __future__ import annotations

from vinculum.conformance.fingerprint.finding import Finding, Fingerprint, Status
from vinculum.conformance.fingerprint.findings import findings
from vinculum.conformance.fingerprint.fingerprinting import fingerprint, selected

__all__ = ["Finding", "Fingerprint", "Status", "findings", "fingerprint", "selected"]
