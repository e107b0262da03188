"""Lets Gappa prove a script, and tells a bound that does not hold from a script that says nothing."""

from __future__ import annotations

from pathlib import Path

from proofs.checking import children
from proofs.checking.provers import ProofError

_NOT_PROVED = "some properties were not satisfied"
_LIMIT = 600  # seconds; a script takes a fraction of one


def proves(script: Path) -> bool:
    """Tell whether Gappa proves what a script states.

    Raises
    ------
    ProofError
        If the script is not well-formed, asks for a bound instead of stating one, or relies on what Gappa only
        believes: an equality that it could not verify is used all the same, with a warning.
    """
    told = children.told(["gappa", str(script)], _LIMIT)
    said = " ".join((told.stdout + told.stderr).split())
    if told.returncode == 0 and not said:
        return True
    if told.returncode != 0 and _NOT_PROVED in said and "Warning" not in said:
        return False
    raise ProofError(said or f"gappa ended with exit code {told.returncode}")
