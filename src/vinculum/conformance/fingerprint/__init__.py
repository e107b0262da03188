"""How a runtime computes its quotients: a few questions, and the models of arithmetic that explain the answers."""

from __future__ import annotations

from vinculum.conformance.fingerprint.finding import Finding, Fingerprint, Standing
from vinculum.conformance.fingerprint.fingerprinting import PROBES, fingerprint, fingerprint_of

__all__ = ["PROBES", "Finding", "Fingerprint", "Standing", "fingerprint", "fingerprint_of"]
