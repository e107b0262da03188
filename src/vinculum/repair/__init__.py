"""Rewriting of divisions, so that a runtime computes integers correctly and without crashes, or to remove findings."""

from vinculum.repair.decision import RUNTIMES, Decision, Hardening, Runtime
from vinculum.repair.file_hardening import HardenedFile, harden_file
from vinculum.repair.fixing import Fix, Fixed, fix
from vinculum.repair.hardening import harden

__all__ = [
    "RUNTIMES",
    "Decision",
    "Fix",
    "Fixed",
    "HardenedFile",
    "Hardening",
    "Runtime",
    "fix",
    "harden",
    "harden_file",
]
