"""Rewriting integer divisions and remainders so that a runtime computes them correctly and does not crash."""

from vinculum.repair.decision import RUNTIMES, Decision, Hardening, Runtime
from vinculum.repair.file_hardening import HardenedFile, harden_file
from vinculum.repair.hardening import harden

__all__ = ["RUNTIMES", "Decision", "HardenedFile", "Hardening", "Runtime", "harden", "harden_file"]
