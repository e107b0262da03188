"""What the proofs take on trust: every axiom, assumption, unproved end and contract without a body, with its reason.

``proofs/README.md`` lists them in a table. Here each theory's text is read for the words that put something beyond
proof, and the two lists must agree. `any` is none of them: Why3 asks for a proof that such a value exists.
"""

from __future__ import annotations

import re
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
    r"\b(?P<what>axiom|assume|admit|val|diverges|divergent)\b(?:\s+(?:constant|ghost|function|predicate|lemma|partial|rec))*"
    r"\s*(?P<name>\([^)\s]+\)|[\w']+)?"
)
_LISTED = re.compile(r"^\| `(?P<name>[^`]+)` \| (?P<what>\w+) \|(?P<reason>[^|]*)\|", re.MULTILINE)


def trusted(theory: Path) -> list[str]:
    """Return what one theory takes on trust, as ``"file.Module.name what"``, in the order of the text.

    A clone that keeps axioms of Why3's library (``clone export ieee_float.GenericFloat with ..., axiom .``) is listed
    as one. The axioms of a theory of ours are listed where they stand; so are the values that clones of it fill in.

    Parameters
    ----------
    theory : Path
        A text in WhyML.
    """
    text = _without_comments(theory.read_text(encoding="utf-8"))
    ours = {path.stem for path in theory.parent.glob("*.mlw")}
    modules = [(match.start(), match[1]) for match in _MODULE.finditer(text)]
    clones = [
        (match.start(), match["of"], "clone")
        for match in _CLONE.finditer(text)
        if "axiom" in (match["items"] or "").split() and _library(match["of"], ours)
    ]
    declared = [
        (match.start(), match["name"] or "?", match["what"])
        for match in _TRUSTED.finditer(_CLONE.sub(lambda match: " " * len(match[0]), text))
    ]
    return [
        f"{theory.stem}.{['Top', *(module for start, module in modules if start < place)][-1]}.{name} {what}"
        for place, name, what in sorted(clones + declared)
    ]


def _without_comments(text: str) -> str:
    kept, depth, place = [], 0, 0
    while place < len(text):
        piece = (_IN_COMMENT if depth else _PIECE).match(text, place)
        assert piece is not None  # both match any character
        if not depth:
            kept.append(" " if piece["opens"] else piece[0])
        depth += bool(piece["opens"]) - bool(depth and piece["closes"])
        place = piece.end()
    return "".join(kept)


def _library(cloned: str, ours: set[str]) -> bool:
    return "." in cloned and cloned.split(".", maxsplit=1)[0] not in ours


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
