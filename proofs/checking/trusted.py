"""What the proofs take on trust: every axiom, assumption, unproved end and contract without a body, with its reason.

``proofs/README.md`` lists them in a table. Here each theory's text is read for the words that put something beyond
proof, and the two lists must agree. `any` is none of them: Why3 asks for a proof that such a value exists. A second
table has the digest of each file by hand that becomes C: only who reads it can tell whether it is right.
"""

from __future__ import annotations

import hashlib
import re
from functools import lru_cache
from itertools import pairwise
from pathlib import Path

from proofs.checking.provers import ProofError

# What Why3 reads as one piece where comments may begin, and within one, where neither strings nor attributes are known.
_PIECE = re.compile(r"""\(\*\)|(?P<opens>\(\*)|"(?:\\.|[^"\\])*"|\[[@#][^\]]*\]|.""", re.DOTALL)
_IN_COMMENT = re.compile(r"\(\*\)|(?P<opens>\(\*)|(?P<closes>\*\))|.", re.DOTALL)
_MODULE = re.compile(r"\b(?:module|theory)\s+(\w+)")
_NAME = r"(?:\([^)]*\)|[\w.']+)"
_ITEM = rf"\w+\s+{_NAME}(?:\s*=\s*{_NAME})?"
_CLONE = re.compile(
    rf"\bclone\s+(?:(?:export|import)\s+)?(?P<of>[\w.]+)(?:\s+as\s+\w+)?(?P<items>\s+with\s+{_ITEM}(?:\s*,\s*{_ITEM})*)?"
)
_TRUSTED = re.compile(
    r"\b(?P<what>axiom|assume|admit|val|diverges|divergent|clone)\b(?:\s+(?:constant|ghost|function|predicate|lemma|partial|rec))*"
    r"\s*(?P<name>\([^)\s]+\)|[\w']+)?"
)
_LISTED = re.compile(r"^\| `(?P<name>[^`]+)` \| (?P<what>\w+) \|(?P<reason>[^|]*)\|", re.MULTILINE)

_READ = re.compile(r"^\| `c/(?P<name>[^`]+)` \| `(?P<digest>[0-9a-f]{16})` \|(?P<what>[^|]*)\|", re.MULTILINE)


def trusted(theory: Path) -> list[str]:
    """Return what one theory takes on trust, as ``"file.Module.name what"``, in the order of the text.

    A clone that keeps axioms of Why3's library (``clone export ieee_float.GenericFloat with ..., axiom .``) is listed
    as one. The axioms and the values of a module of ours are listed where they stand. A clone must prove each axiom,
    named as a goal, and fill in the values; what it does not is listed again, as ``"file.Module.Cloned.name what"``.

    Parameters
    ----------
    theory : Path
        A text in WhyML.
    """
    return [f"{theory.stem}.{module}.{entry}" for module in modules(theory) for entry in _entries(theory, module)]


def modules(theory: Path) -> dict[str, str]:
    """Return the text of each module without its comments, ``"Top"`` for what stands before the first."""
    return _modules_of(theory.read_text(encoding="utf-8"))


@lru_cache(maxsize=128)
def _modules_of(commented: str) -> dict[str, str]:
    text = without_comments(commented)
    begins = [("Top", 0), *((match[1], match.start()) for match in _MODULE.finditer(text)), ("", len(text))]
    return {name: text[start:end] for (name, start), (_, end) in pairwise(begins)}


def _entries(theory: Path, module: str, cloned_by: tuple[str, ...] = ()) -> list[str]:
    """Return what a module takes on trust, as ``"name what"``."""
    title = f"{theory.stem}.{module}"
    if title in cloned_by:
        raise ProofError(f"{title} clones itself")
    text = modules(theory)[module]
    found = [
        (clone.start(), entry)
        for clone in _CLONE.finditer(text)
        for entry in _kept(theory, clone["of"], clone["items"] or "", (*cloned_by, title))
    ]
    rest = _CLONE.sub(lambda match: " " * len(match[0]), text)
    found += [(match.start(), f"{match['name'] or '?'} {match['what']}") for match in _TRUSTED.finditer(rest)]
    return [entry for _, entry in sorted(found)]


def _kept(theory: Path, cloned: str, items: str, cloned_by: tuple[str, ...]) -> list[str]:
    """Return what a clone takes on trust; where it says nothing of axioms, Why3 asks for their proofs."""
    given = [tuple(item.split()[:2]) for item in items.replace("with", "", 1).split(",") if item.split()]
    keeps_axioms = any(kind == "axiom" for kind, _ in given)
    file, _, module = cloned.rpartition(".")
    original = theory.with_name(f"{file}.mlw") if file else theory
    if not original.is_file() or module not in modules(original):
        return [f"{cloned} clone"] if keeps_axioms else []
    kept = []
    for entry in _entries(original, module, cloned_by):
        name, what = entry.rsplit(" ", 1)
        if what == "val" and ("val", name) not in given:
            kept.append(f"{cloned}.{entry}")
        if what in ("axiom", "clone") and keeps_axioms and not {("goal", name), ("lemma", name)} & set(given):
            kept.append(f"{cloned}.{entry}")
    return kept


def without_comments(text: str) -> str:
    """Return a text in WhyML with a space for each comment."""
    kept, depth, place = [], 0, 0
    while place < len(text):
        piece = (_IN_COMMENT if depth else _PIECE).match(text, place)
        assert piece is not None  # both match any character
        if not depth:
            kept.append(" " if piece["opens"] else piece[0])
        depth += bool(piece["opens"]) - bool(depth and piece["closes"])
        place = piece.end()
    return "".join(kept)


def listed(readme: Path) -> list[str]:
    """Return what the table in ``proofs/README.md`` lists, in the same form; a row without a reason is none."""
    rows = _LISTED.finditer(readme.read_text(encoding="utf-8"))
    return [f"{row['name']} {row['what']}" for row in rows if row["reason"].strip()]


def require_listed(proofs: Path) -> None:
    """Check that the table lists exactly what the theories take on trust.

    Raises
    ------
    ProofError
        Naming what is unlisted, or listed and not there.
    """
    there = [entry for theory in sorted((proofs / "theories").glob("*.mlw")) for entry in trusted(theory)]
    known = listed(proofs / "README.md")
    unlisted = sorted(set(there) - set(known))
    gone = sorted(set(known) - set(there))
    doubled = sorted({entry for entry in there if there.count(entry) > 1 and entry in known})
    if unlisted:
        raise ProofError(f"taken on trust and not listed with a reason in proofs/README.md: {', '.join(unlisted)}")
    if gone:
        raise ProofError(f"listed in proofs/README.md and in no theory: {', '.join(gone)}")
    if doubled:
        raise ProofError(
            f"the theories hold more than one of these, which proofs/README.md lists once: {', '.join(doubled)}"
        )


def require_read(proofs: Path) -> None:
    """Check that the drivers and headers are those whose digests ``proofs/README.md`` has, by whoever read them.

    Raises
    ------
    ProofError
        Naming those that are not.
    """
    files = {path.name: path for pattern in ("*.drv", "*.h") for path in (proofs / "c").glob(pattern)}
    now = {name: hashlib.sha256(path.read_bytes()).hexdigest()[:16] for name, path in files.items()}
    rows = _READ.finditer((proofs / "README.md").read_text(encoding="utf-8"))
    read = {row["name"]: row["digest"] for row in rows if row["what"].strip()}
    if differing := sorted(name for name in {*now, *read} if now.get(name) != read.get(name)):
        told = ", ".join(f"c/{name} {now.get(name, 'is gone')}" for name in differing)
        raise ProofError(f"every line of them is trusted, and they are not as proofs/README.md has them: {told}")
