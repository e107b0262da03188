"""Builds and replays the proofs: Why3 sessions, Gappa scripts, and variants that must not be provable."""

import sys

if sys.version_info < (3, 11):  # noqa: UP036  # `make proofs` takes whatever Python is there
    raise SystemExit(f"error: the proofs need Python 3.11 or newer; this is {sys.version.split()[0]}")
