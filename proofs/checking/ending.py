"""How the programs of this package end: with what they find, or with one line that says what keeps them from it."""

from __future__ import annotations

import sys
from collections.abc import Callable

from proofs.checking.provers import ProofError

BROKEN = 2
INTERRUPTED = 130


def ended(program: Callable[[], int]) -> int:
    """Return a program's exit code: its own, 2 with one line of what went wrong, or 130 if it was interrupted.

    Parameters
    ----------
    program : callable
        Does the work and returns 0 if all is well, 1 if it found a fault.
    """
    try:
        return program()
    except (ProofError, OSError, UnicodeError) as error:
        print(f"error: {error}", file=sys.stderr)
        return BROKEN
    except KeyboardInterrupt:
        print("interrupted", file=sys.stderr)
        return INTERRUPTED
