"""Which text of each theory its session was made from: one line a theory in ``theories/recorded.txt``.

Why3 would try a changed theory's goals again and be content if they still hold; a certificate that cites a theory
must be sure of its very text.
"""

from __future__ import annotations

import hashlib
from pathlib import Path

from proofs.checking.provers import ProofError

FILE = "recorded.txt"


def digest(theory: Path) -> str:
    """Return the SHA-256 of a theory's text."""
    return hashlib.sha256(theory.read_bytes()).hexdigest()


def recorded(folder: Path) -> dict[str, str]:
    """Return the digest that is recorded for each theory of a folder."""
    path = folder / FILE
    if not path.exists():
        return {}
    return {name: sha for sha, name in (line.split() for line in path.read_text(encoding="utf-8").splitlines())}


def record(theory: Path) -> None:
    """Record a theory's text as the one that its session proves."""
    digests = {**recorded(theory.parent), theory.name: digest(theory)}
    kept = {name: sha for name, sha in digests.items() if (theory.parent / name).exists()}
    lines = [f"{sha}  {name}\n" for name, sha in sorted(kept.items())]  # as sha256sum -c reads them
    (theory.parent / FILE).write_text("".join(lines), encoding="utf-8")


def require_unchanged(theory: Path) -> None:
    """Check that a theory is the text that its session was made from.

    Raises
    ------
    ProofError
        If it changed, or was never recorded.
    """
    known = recorded(theory.parent).get(theory.name)
    if known != digest(theory):
        how = "has no recorded session" if known is None else "changed after its session was recorded"
        raise ProofError(f"{theory.name} {how}; prove it: python -m proofs.checking.prove {theory.stem}")
