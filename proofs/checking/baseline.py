"""Which text each clause rests on: ``python -m proofs.checking.baseline FOLDER`` compares it with your copies.

``proofs/baseline.toml`` identifies the documents by their SHA-256, and in them, for each clause of each row, the lines
that it rests on, by their numbers and a digest; none of the texts is copied. The tags of a document stand in these
lines. A clause that the document does not state is a derived requirement, and says why it is there. Where SONNX's
repository has a later text with tags of its own, the lines there stand beside those of ours, and what changed.
"""

from __future__ import annotations

import hashlib
import re
import sys
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from proofs.checking.ending import Arguments, ended
from proofs.checking.provers import ProofError
from proofs.checking.trace_links import Entry
from vinculum.spec.model import OperatorSpec

FILE = Path(__file__).parents[1] / "baseline.toml"
_PASSAGE = re.compile(
    r"(?P<document>[\w-]+) (?P<lines>\d+(?:-\d+)?(?:,\d+(?:-\d+)?)*) (?P<digest>[0-9a-f]{16})(?: (?P<tag>\S+))?"
)


@dataclass(frozen=True)
class Document:
    """A text, identified by its SHA-256: `file` in the reader's folder, and where it is published."""

    title: str
    file: str
    sha256: str
    url: str


@dataclass(frozen=True)
class Passage:
    """Lines of a document, ``"304-305"`` or ``"159,163"``, how their SHA-256 begins, and the document's own tag."""

    document: str
    lines: str
    digest: str
    tag: str = ""

    def text(self, document: str) -> str:
        """Return the lines of a document's text, without the spaces around them."""
        lines = document.splitlines()
        wanted = []
        for part in self.lines.split(","):
            first, _, last = part.partition("-")
            wanted += lines[int(first) - 1 : int(last or first)]
        return "\n".join(line.strip() for line in wanted)

    def __str__(self) -> str:
        """Say what stands in the table."""
        return f"{self.document} {self.lines} `{self.digest}`{f' {self.tag}' if self.tag else ''}"


@dataclass(frozen=True)
class Requirement(Entry):
    """What some clauses rest on; `derived` says why there is a clause that the document does not state."""

    on: tuple[Passage, ...] = ()
    derived: str = ""
    changed: str = ""


@dataclass(frozen=True)
class Baseline:
    """All of the file."""

    documents: Mapping[str, Document]
    requirements: tuple[Requirement, ...]

    def of(self, row: OperatorSpec, tag: str) -> Requirement | None:
        """Return what a clause rests on."""
        return next((each for each in self.requirements if each.concerns(row, tag)), None)


def digest_of(text: str) -> str:
    """Return how the SHA-256 of a passage begins."""
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def read(text: str) -> Baseline:
    """Return the baseline of a TOML text.

    Raises
    ------
    ProofError
        If it is not TOML, or something in it is not as it must be.
    """
    try:
        tables = tomllib.loads(text)
        documents = {name: Document(**document) for name, document in tables.pop("document").items()}
        requirements = tuple(_requirement(entry) for entry in tables.pop("requirement"))
    except (tomllib.TOMLDecodeError, TypeError, KeyError, AttributeError) as error:
        raise ProofError(f"{FILE.name}: {error}") from None
    if tables:
        raise ProofError(f"{FILE.name} has [document.NAME] and [[requirement]] only, not {', '.join(tables)}")
    return Baseline(documents, requirements)


def _requirement(entry: dict[str, object]) -> Requirement:
    passages = []
    for line in entry.pop("on", ()):  # type: ignore[attr-defined]  # what is no list raises TypeError
        match = _PASSAGE.fullmatch(line)
        if match is None:
            raise TypeError(f"a passage is a document, lines, 16 digits and perhaps a tag, not {line!r}")
        passages.append(Passage(match["document"], match["lines"], match["digest"], match["tag"] or ""))
    words = {key: tuple(value) if isinstance(value, list) else value for key, value in entry.items()}
    return Requirement(**words, on=tuple(passages))  # type: ignore[arg-type]  # unknown keys raise TypeError


def problems(baseline: Baseline, rows: Sequence[OperatorSpec]) -> Iterator[str]:
    """Yield a line for each clause that has not one requirement, and each requirement that says too little."""
    for row in rows:
        for clause in row.clauses:
            found = [each for each in baseline.requirements if each.concerns(row, clause.tag)]
            if len(found) != 1:
                yield f"{row.title}, {clause.tag}: {len(found)} requirements in {FILE.name}; each clause has one"
            elif "is silent here" in clause.basis and not found[0].derived:
                yield f"{row.title}, {clause.tag}: the document is silent, and the requirement is not marked as derived"
    for each in baseline.requirements:
        if not each.on and not each.derived:
            yield f"{', '.join(each.clauses)}: rests on no text and is not derived"
        for passage in each.on:
            if passage.document not in baseline.documents:
                yield f"{', '.join(each.clauses)}: no document is called {passage.document}"
        for tag in each.clauses:
            if not any(each.concerns(row, clause.tag) for row in rows for clause in row.clauses if clause.tag == tag):
                yield f"unused: no row named has the clause {tag}"


def differences(baseline: Baseline, folder: Path) -> Iterator[str]:
    """Yield a line for each text and each passage that is not in a folder as the baseline has it."""
    texts: dict[str, str] = {}
    for name, document in baseline.documents.items():
        path = folder / document.file
        if not path.is_file():
            yield f"{document.file}: not there; {document.title}, {document.url}"
            continue
        content = path.read_bytes()
        if hashlib.sha256(content).hexdigest() != document.sha256:
            yield f"{document.file}: another text than that of the baseline"
        texts[name] = content.decode("utf-8", errors="replace")
    for each in baseline.requirements:
        known = [passage for passage in each.on if passage.document in texts]
        lines = [passage.text(texts[passage.document]) for passage in known]
        for passage, text in zip(known, lines, strict=True):
            where = f"{', '.join(each.clauses)}: {passage.document} {passage.lines}"
            if (found := digest_of(text)) != passage.digest:
                yield f"{where} is now {found}, not {passage.digest}"
            if passage.tag not in text:
                yield f"{where} has no {passage.tag}"
        for clause in each.clauses if lines and len(lines) == len(each.on) else ():
            if clause.startswith("[") and not any(clause in text for text in lines):
                yield f"{clause}: none of the lines that it rests on has this tag"


def main(arguments: Sequence[str] | None = None) -> int:
    """Compare a folder of texts with the baseline; return 1 if something differs."""
    parser = Arguments(prog="python -m proofs.checking.baseline", description=__doc__)
    parser.add_argument("folder", type=Path, metavar="FOLDER", help="where your copies of the texts are")
    given = parser.parse_args(arguments)

    def compare() -> int:
        baseline = read(FILE.read_text(encoding="utf-8"))
        found = list(differences(baseline, given.folder))
        passages = sum(len(each.on) for each in baseline.requirements)
        print("\n".join(found) or f"{len(baseline.documents)} texts and {passages} passages are those of the baseline")
        return 1 if found else 0

    return ended(compare)


if __name__ == "__main__":
    sys.exit(main())
