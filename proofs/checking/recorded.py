"""What ``proofs/recorded.txt`` records: the SHA-256 of everything that the proofs rest on, when all was last replayed.

What is proved need not be replayed while nothing that its replay reads has changed: the theory and every theory that
it uses, its session, the false variants, the scripts, the programs that check them, and Why3's library and drivers as
they are installed. The versions of Why3 and the provers stand in one of those programs, which refuses others.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from pathlib import Path

from proofs.checking.provers import DRIVERS, LIBRARY, ProofError
from proofs.checking.sessions import needed

FILE = "recorded.txt"
PROGRAMS = Path(__file__).parent
# The programs that a replay runs; the others of the folder extract, search and link.
REPLAYING = (
    "__init__.py",
    "children.py",
    "contradictions.py",
    "ending.py",
    "gappa.py",
    "jobs.py",
    "mutants.py",
    "provers.py",
    "recorded.py",
    "replay.py",
    "sessions.py",
    "statements.py",
    "trusted.py",
    "witnesses.py",
)
_WHY3 = ((LIBRARY, "*.mlw"), (DRIVERS, "*.drv"), (DRIVERS, "*.gen"))
_PROOFS = ("theories/*.mlw", "theories/*/*", "gappa/*.gappa", "mutants/*.toml")
# What every replay rests on.
_EVERYWHERE = ("checking/", "/")
_LINE = re.compile(r"(?P<sha>[0-9a-f]{64})  (?P<name>\S+)")


def digests(proofs: Path) -> dict[str, str]:
    """Return the SHA-256 of each file that a replay may read, by its path from `proofs`."""
    files = {path.relative_to(proofs).as_posix(): path for pattern in _PROOFS for path in proofs.glob(pattern)}
    files |= {f"checking/{name}": PROGRAMS / name for name in REPLAYING}
    files |= {path.as_posix(): path for folder, pattern in _WHY3 for path in folder.rglob(pattern)}
    return {name: hashlib.sha256(files[name].read_bytes()).hexdigest() for name in sorted(files)}


def recorded(proofs: Path) -> dict[str, str]:
    """Return the digest that is recorded for each file; none if nothing is.

    Raises
    ------
    ProofError
        If a line is not a digest and a name, or a name comes twice.
    """
    path = proofs / FILE
    known: dict[str, str] = {}
    for line in path.read_text(encoding="utf-8").splitlines() if path.exists() else ():
        match = _LINE.fullmatch(line)
        if match is None or match["name"] in known:
            raise ProofError(f"{FILE} records each file once, as `sha256sum` prints it, and not {line!r}")
        known[match["name"]] = match["sha"]
    return known


def record(proofs: Path, replayed: Mapping[str, str]) -> None:
    """Record the digests of what was replayed: of all of it, since a part says nothing of what uses that part."""
    lines = [f"{sha}  {name}\n" for name, sha in sorted(replayed.items())]  # as `sha256sum --check` reads them
    (proofs / FILE).write_text("".join(lines), encoding="utf-8")


def changes(proofs: Path, now: Mapping[str, str]) -> list[str]:
    """Return the files that are not as they are recorded: changed, new, or gone; those of Why3 come last."""
    known = recorded(proofs)
    changed = sorted(name for name in {*now, *known} if now.get(name) != known.get(name))
    return sorted(changed, key=lambda name: name.startswith("/"))


def rests_on(theory: Path) -> tuple[str, ...]:
    """Return with what the names begin of everything that a replay of a theory reads."""
    return (*_EVERYWHERE, *(f"theories/{each.name}" for each in needed(theory)), f"theories/{theory.stem}/")


def require_whole(theories: Path) -> None:
    """Check that a folder holds theories, a session for each, and nothing else.

    Raises
    ------
    ProofError
        Naming what is missing, and what is there and would be replayed by nobody.
    """
    names = {path.stem for path in theories.glob("*.mlw")}
    there = {path.name for path in theories.iterdir()} - {f"{name}.mlw" for name in names}
    if not names:
        raise ProofError(f"{theories.name} holds no theory")
    if names - there:
        raise ProofError(f"{theories.name} lacks the session of {', '.join(sorted(names - there))}")
    if there - names:
        raise ProofError(f"{theories.name} holds what belongs to no theory: {', '.join(sorted(there - names))}")
