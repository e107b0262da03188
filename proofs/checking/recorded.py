"""What ``theories`` holds: theories, their sessions, and in ``recorded.txt`` which text each session was made from.

Why3 would try a changed theory's goals again and be content if they still hold; a certificate that cites a theory
must be sure of its very text.
"""

from __future__ import annotations

import hashlib
import re
from pathlib import Path

from proofs.checking.provers import ProofError

FILE = "recorded.txt"
_LINE = re.compile(r"(?P<sha>[0-9a-f]{64})  (?P<name>\w+\.mlw)")


def digest(theory: Path) -> str:
    """Return the SHA-256 of a theory's text."""
    return hashlib.sha256(theory.read_bytes()).hexdigest()


def recorded(folder: Path) -> dict[str, str]:
    """Return the digest that is recorded for each theory of a folder.

    Raises
    ------
    ProofError
        If a line is not a digest and a name, or a name comes twice.
    """
    path = folder / FILE
    digests: dict[str, str] = {}
    for line in path.read_text(encoding="utf-8").splitlines() if path.exists() else ():
        match = _LINE.fullmatch(line)
        if match is None or match["name"] in digests:
            raise ProofError(f"{FILE} records each theory once, as `sha256sum` prints it, and not {line!r}")
        digests[match["name"]] = match["sha"]
    return digests


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


def require_whole(folder: Path) -> None:
    """Check that a folder holds theories that are recorded, a session for each, and nothing else.

    Raises
    ------
    ProofError
        Naming what is missing, and what is there and would be replayed by nobody.
    """
    theories = set(recorded(folder))
    if not theories:
        raise ProofError(f"{FILE} records no theory")
    expected = {FILE, *theories, *(theory.removesuffix(".mlw") for theory in theories)}
    there = {path.name for path in folder.iterdir()}
    if expected - there:
        raise ProofError(f"{folder.name} lacks what {FILE} records: {', '.join(sorted(expected - there))}")
    if there - expected:
        raise ProofError(f"{folder.name} holds what {FILE} does not record: {', '.join(sorted(there - expected))}")
