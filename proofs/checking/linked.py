"""Whether each theorem is about the clause that it is linked to: ``python -m proofs.checking.linked``.

``proofs/vocabulary.toml`` is a second table by hand. It says in which words of the theories each clause is stated, and
how many theorems stand for it, with a digest of their names; ``traceability.toml`` says which. A theorem that has none
of a clause's words in its statement is not about it, and another one, one more or one less changes the digest. What
``statements.txt`` keeps is compared with the links too.
"""

from __future__ import annotations

import hashlib
import re
import sys
import tomllib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from proofs.checking import trace_links
from proofs.checking.ending import ended
from proofs.checking.extraction import C_FILES, PROOFS
from proofs.checking.provers import ProofError
from proofs.checking.rules import RULES
from proofs.checking.statements import TRACED, Statements

VOCABULARY = "vocabulary.toml"


@dataclass(frozen=True)
class Words:
    """In which words some clauses are stated: each of their `theorems`, counted, has at least one of each group."""

    clauses: tuple[str, ...]
    theorems: str
    groups: tuple[tuple[str, ...], ...]

    def missing(self, statement: str) -> tuple[str, ...] | None:
        """Return the first group of which a statement has no word, None if it has one of each."""
        return next((group for group in self.groups if not any(_has(statement, word) for word in group)), None)


def _has(statement: str, word: str) -> bool:
    return re.search(rf"(?<![\w']){re.escape(word)}(?![\w'])", statement) is not None


def vocabulary(text: str) -> tuple[Words, ...]:
    """Return the words of a TOML text.

    Raises
    ------
    ProofError
        If it is not TOML, or has another table or key.
    """
    try:
        tables = tomllib.loads(text)
        found = tuple(map(_words, tables.pop("clause")))
    except (tomllib.TOMLDecodeError, TypeError, KeyError, AttributeError) as error:
        raise ProofError(f"{VOCABULARY}: {error}") from None
    if tables or not all(words.groups and all(words.groups) for words in found):
        raise ProofError(f"{VOCABULARY} has [[clause]] only, each with clauses, theorems and words")
    return found


def _words(entry: dict[str, Any]) -> Words:
    groups = tuple(map(tuple, entry.pop("words")))
    return Words(tuple(entry.pop("clauses")), groups=groups, **entry)


def _links(proofs: Path) -> tuple[trace_links.Link, ...]:
    return trace_links.read((proofs / trace_links.FILE.name).read_text(encoding="utf-8")).links


def linked(proofs: Path) -> dict[str, list[str]]:
    """Return the clauses of each theorem that ``traceability.toml`` links, by the theorem's name."""
    found: dict[str, list[str]] = {}
    for link in _links(proofs):
        for name in link.theorems:
            found.setdefault(name, []).extend(link.clauses)
    return found


def counted(clauses: Sequence[str], links: Sequence[trace_links.Link]) -> str:
    """Return how many theorems are linked to clauses, and a digest of which of them to which clause of which rows."""
    about = {
        (tag, name, *link.rows) for link in links for tag in link.clauses if tag in clauses for name in link.theorems
    }
    lines = "\n".join(" ".join(words) for words in sorted(about))
    return f"{len({name for _, name, *_ in about})} {hashlib.sha256(lines.encode()).hexdigest()[:8]}"


def irrelevant(proofs: Path) -> Iterator[str]:
    """Yield a line for each theorem that is linked to a clause in whose words it is not stated, and other gaps."""
    known = vocabulary((proofs / VOCABULARY).read_text(encoding="utf-8"))
    statements, links = Statements(proofs), _links(proofs)
    for words in known:
        if (theorems := counted(words.clauses, links)) != words.theorems:
            yield f"{', '.join(words.clauses)}: {theorems} theorems are linked, not {words.theorems} as in {VOCABULARY}"
    for name, clauses in linked(proofs).items():
        statement = statements.words(name)
        for tag in dict.fromkeys(clauses):
            about = [words for words in known if tag in words.clauses]
            if len(about) != 1:
                yield f"{tag}: {len(about)} entries in {VOCABULARY}; a clause that a theorem is linked to has one"
            elif group := about[0].missing(statement):
                yield f"{name} is linked to {tag} and is not stated in its words: none of {', '.join(group)}"


def to_keep(statements: Statements, links: Iterable[str]) -> set[str]:
    """Return the names of which statements are kept: what is linked, what becomes C, and what is taken on trust."""
    modules = {module for file in (*C_FILES, *RULES) for module in file.modules}
    return {*links, *(name for module in modules for name in statements.programs(module)), *statements.trusted()}


def require_linked(proofs: Path) -> None:
    """Check that linked theorems are about their clauses, and that what is linked, extracted or trusted is kept.

    Raises
    ------
    ProofError
        Naming what is not so.
    """
    if found := list(irrelevant(proofs)):
        raise ProofError("; ".join(found[:3]) + (f"; and {len(found) - 3} more" if len(found) > 3 else ""))
    wanted = to_keep(Statements(proofs), linked(proofs))
    kept = {line.partition("  ")[2] for line in (proofs / TRACED).read_text(encoding="utf-8").splitlines()}
    if differing := sorted(wanted ^ kept):
        raise ProofError(
            f"{TRACED} does not keep what is linked, extracted or trusted, and nothing else: "
            f"{', '.join(differing[:3])}; `make traceability` writes it"
        )


def main() -> int:
    """Check the links of the proofs; return 2 if something is wrong."""

    def check() -> int:
        require_linked(PROOFS)
        print(f"the {len(linked(PROOFS))} theorems that are linked are about their clauses")
        return 0

    return ended(check)


if __name__ == "__main__":
    sys.exit(main())
