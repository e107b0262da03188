"""The page of the documents and of the theorems that clauses rest on; which are whose, an operator's page says."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

from building.documentation.made import code, table
from proofs.checking.baseline import FILE, read
from vinculum.spec.traceability import DATA

_STATEMENTS = Path(__file__).parents[2] / "proofs" / "statements.txt"
_HEAD = """\
# Traceability

Each clause of the standards with the text that it rests on, its theorems, functions and tests is on the page of its
[operator](reference/operators/index.md), under Clauses; `vinculum spec Div --trace` prints the
last three. [What is proved](explanation/proofs.md) says what the theorems assume, and how the functions are tied to
them.

"""
_DOCUMENTS = """\
## The documents

A clause names lines of these, how the SHA-256 of the lines begins, and the document's own tag.
`make baseline DOCUMENTS=folder` compares them with your copies.

"""
_THEOREMS = """\
## The theorems

Each name leads to the file that states the theorem. The digest is of the statement and of every definition that it may
rest on; it is the beginning of the SHA-256 in [proofs/statements.txt](../proofs/statements.txt), which also has the
functions that become C and what is assumed. Seconds are those of the stored proofs, all parts together, rounded up.

"""


def traceability_page() -> str:
    """Return the page as Markdown."""
    documents = read(FILE.read_text(encoding="utf-8")).documents
    listed = [
        (name, f"[{each.title}]({each.url})", code(each.file), code(each.sha256)) for name, each in documents.items()
    ]
    return "".join(
        (
            *(_HEAD, _DOCUMENTS, table(["name", "document", "file", "SHA-256"], listed)),
            *(_THEOREMS, table(["theorem", "proved by", "seconds", "digest"], _theorems())),
        )
    )


def anchor(theorem: str) -> str:
    """Return where the page has a theorem."""
    return theorem.replace(".", "-").replace("_", "-").lower()


def _theorems() -> Iterator[tuple[str, str, str, str]]:
    lines = _STATEMENTS.read_text(encoding="utf-8").splitlines()
    digests = {name: digest for digest, name in map(str.split, lines)}
    for name, stored in sorted(json.loads(DATA.read_text(encoding="utf-8"))["theorems"].items()):
        link = f'<a id="{anchor(name)}"></a>[{name}](../proofs/{_file(name)})'
        yield link, ", ".join(stored["provers"]), str(stored.get("seconds", "")), code(digests[name][:16])


def _file(theorem: str) -> str:
    file, _, name = theorem.partition(".")
    return f"gappa/{name}.gappa" if file == "gappa" else f"theories/{file}.mlw"
