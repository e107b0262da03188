"""The traceability table as a document: ``docs/traceability.md``."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from proofs.checking.baseline import Baseline
from vinculum.spec.model import OperatorSpec
from vinculum.spec.rows import ROWS

# A bar within a cell.
BAR = "\\|"
_FEW = 2  # Lines of a cell that are not folded.

_HEAD = """\
# Traceability

Every clause of the standards, with the theorems, functions and tests that show that it is kept.
`vinculum spec Div --trace` prints the same for one operator. [What is proved](explanation/proofs.md) says what the
theorems assume, and how the functions are tied to them. A few clauses are not about numbers and have no theorem; the
table says why. Tests in *italics* name a clause that several operators share.

Below each clause stands the text that it rests on: the document, lines of it, how the SHA-256 of these lines begins,
and the document's own tag. The documents are identified below the last operator; `make baseline DOCUMENTS=folder`
compares them with your copies. *Derived* is a clause that the text does not state; *changed* tells what SONNX's later
text says otherwise.

`make traceability` writes this page. A test fails when it is out of date, or when a clause lacks a theorem, a function
or a test.
"""


def document(table: Mapping[str, Any], digests: Mapping[str, str], baseline: Baseline) -> str:
    """Return the page: a section for each row, the documents, and the theorems, each with a digest of its words."""
    rows = (line for row in ROWS for line in _row(row, table, baseline))
    ends = (*_documents(baseline), *_theorems(table["theorems"], digests))
    return "\n".join([_HEAD, *rows, *ends, ""])


def _row(row: OperatorSpec, table: Mapping[str, Any], baseline: Baseline) -> Iterator[str]:
    stored = table["rows"][row.title]
    yield f"## {row.title}\n"
    yield f"[{row.source.document}]({row.source.url}),"
    yield f"`{stored['constant']}` in [{stored['file']}](../{stored['file']})\n"
    yield "| clause | theorems | functions | tests |"
    yield "|---|---|---|---|"
    for clause in row.clauses:
        linked = stored["clauses"][clause.tag]
        theorems = _folded("theorems", [f"[{name}](#{_anchor(name)})" for name in linked["theorems"]])
        tests = map(_test, linked["tests"])
        shared = (f"*{_test(test)}*" for test in table["shared_tests"].get(clause.tag, ()))
        cells = (
            "<br>".join((f"**{clause.tag}**", clause.statement, *_rests_on(row, clause.tag, baseline))),
            theorems or f"none: {linked.get('no_theorem_because', '**missing**')}",
            _folded("functions", [f"`{name[len('vinculum.') :]}`" for name in linked["functions"]]),
            _folded("tests", [*tests, *shared]),
        )
        yield f"| {' | '.join(cell.replace('|', BAR) for cell in cells)} |"
    yield ""


def _rests_on(row: OperatorSpec, tag: str, baseline: Baseline) -> Iterator[str]:
    requirement = baseline.of(row, tag)
    if requirement is None:
        return
    yield from map(str, requirement.on)
    if requirement.derived:
        yield f"*derived:* {requirement.derived}"
    if requirement.changed:
        yield f"*changed:* {requirement.changed}"


def _documents(baseline: Baseline) -> Iterator[str]:
    yield "## The documents\n"
    yield "| name | document | file | SHA-256 |"
    yield "|---|---|---|---|"
    for name, each in baseline.documents.items():
        yield f"| {name} | [{each.title}]({each.url}) | `{each.file}` | `{each.sha256}` |"
    yield ""


def _theorems(theorems: Mapping[str, Any], digests: Mapping[str, str]) -> Iterator[str]:
    yield "## The theorems\n"
    yield "Each name leads to the file that states the theorem. The digest is of the statement and of every definition"
    yield "that it may rest on, so that a weaker statement changes a line here; it is the beginning of the SHA-256 in"
    yield "[proofs/statements.txt](../proofs/statements.txt), which also has the functions that become C and what is"
    yield "assumed. Seconds are those of the stored proofs, all parts together, rounded up.\n"
    yield "| theorem | proved by | seconds | digest |"
    yield "|---|---|---:|---|"
    for name, stored in sorted(theorems.items()):
        link = f'<a id="{_anchor(name)}"></a>[{name}](../proofs/{_file(name)})'
        digest = digests[name][:16]
        yield f"| {link} | {', '.join(stored['provers'])} | {stored.get('seconds', '')} | `{digest}` |"


def _file(theorem: str) -> str:
    file, _, name = theorem.partition(".")
    return f"gappa/{name}.gappa" if file == "gappa" else f"theories/{file}.mlw"


def _anchor(name: str) -> str:
    return name.replace(".", "-").replace("_", "-").lower()


def _test(name: str) -> str:
    file, _, test = name.partition("::")
    return f"[{test}](../{file})"


def _folded(what: str, items: Sequence[str]) -> str:
    lines = "<br>".join(items)
    return lines if len(items) <= _FEW else f"<details><summary>{len(items)} {what}</summary>{lines}</details>"
