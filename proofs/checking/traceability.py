"""Writes the traceability table: ``python -m proofs.checking.traceability`` joins rows, links, proofs and tests.

It makes ``src/vinculum/spec/traceability.json``, from which ``vinculum spec --trace`` prints, and
``proofs/statements.txt``; the site is made from both. No prover is needed: what proves a theorem is read from the
stored sessions.
"""

from __future__ import annotations

import ast
import importlib
import json
import math
import sys
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any

from proofs.checking import baseline, trace_links
from proofs.checking.baseline import Baseline, Requirement, digest_of
from proofs.checking.ending import ended
from proofs.checking.linked import to_keep
from proofs.checking.provers import GAPPA_VERSION, ProofError
from proofs.checking.sessions import Session
from proofs.checking.statements import TRACED, Statements, as_text
from proofs.checking.trace_links import Links
from tests.architecture.clause_markers import ClauseMarker, every_marker
from vinculum.spec.model import Clause, OperatorSpec
from vinculum.spec.rows import ROWS
from vinculum.spec.traceability import DATA, Theorem

ROOT = Path(__file__).parents[2]


def every_theorem(proofs: Path = ROOT / "proofs") -> dict[str, Theorem | None]:
    """Return every theorem of the stored sessions and every Gappa script by name; None for what is not proved."""
    found: dict[str, Theorem | None] = {}
    for theory in sorted((proofs / "theories").glob("*.mlw")):
        session = Session(theory, Path())
        try:
            session.read()
        except ProofError:
            continue  # a theory without a session proves nothing
        for theorem in session.theorems():
            proved = theorem.proved and theorem.provers
            tenths = max(1, math.ceil(round(theorem.seconds * 10, 6))) / 10  # Sums differ between versions of Python.
            found[theorem.title] = Theorem(theorem.title, theorem.provers, tenths) if proved else None
    for script in sorted((proofs / "gappa").glob("*.gappa")):
        found[f"gappa.{script.stem}"] = Theorem(f"gappa.{script.stem}", (f"Gappa {GAPPA_VERSION}",), None)
    return found


def place(row: OperatorSpec) -> tuple[str, str]:
    """Return the file in which a row stands and the constant that holds it."""
    for path in sorted((ROOT / "src" / "vinculum" / "spec").glob("*_*.py")):
        module = importlib.import_module(f"vinculum.spec.{path.stem}")
        for node in ast.parse(path.read_text(encoding="utf-8")).body:
            targets = node.targets if isinstance(node, ast.Assign) else []
            for target in targets:
                if isinstance(target, ast.Name) and getattr(module, target.id) is row:
                    return path.relative_to(ROOT).as_posix(), target.id
    raise LookupError(f"no file of vinculum.spec holds {row.title}")


def joined(
    links: Links, proved: Mapping[str, Theorem | None], markers: Collection[ClauseMarker], texts: Baseline
) -> dict[str, Any]:
    """Return the whole table as `vinculum.spec.traceability` reads it; theorems that are not proved are left out."""
    rows: dict[str, Any] = {}
    for row in ROWS:
        file, constant = place(row)
        clauses = {
            clause.tag: _clause(links, proved, markers, row, clause.tag) | {"text": text_of(texts, row, clause)}
            for clause in row.clauses
        }
        rows[row.title] = {"file": file, "constant": constant, "clauses": clauses}
    cited = {name for row in rows.values() for clause in row["clauses"].values() for name in clause["theorems"]}
    theorems = {}
    for name, theorem in proved.items():
        if theorem is not None and name in cited:
            seconds = {} if theorem.seconds is None else {"seconds": theorem.seconds}
            theorems[name] = {"provers": list(theorem.provers), **seconds}
    shared: dict[str, list[str]] = {}
    for marker in markers:
        for tag in () if marker.rows else marker.tags:
            shared.setdefault(str(tag), []).append(f"{marker.file}::{marker.test}")
    return {"rows": rows, "theorems": theorems, "shared_tests": {tag: sorted(set(shared[tag])) for tag in shared}}


def _clause(
    links: Links,
    proved: Mapping[str, Theorem | None],
    markers: Collection[ClauseMarker],
    row: OperatorSpec,
    tag: str,
) -> dict[str, Any]:
    because = links.no_theorem_because(row, tag)
    return {
        "theorems": [name for name in links.theorems(row, tag) if proved.get(name)],
        "functions": list(links.functions(row, tag)),
        "tests": sorted({f"{marker.file}::{marker.test}" for marker in markers if marker.names(row.title, tag)}),
        **({} if because is None else {"no_theorem_because": because}),
    }


def text_of(texts: Baseline, row: OperatorSpec, clause: Clause) -> str:
    """Return a digest of what a clause says and rests on, so that a change of either is seen."""
    requirement = texts.of(row, clause.tag) or Requirement(())
    documents = {passage.document for passage in requirement.on} & texts.documents.keys()
    identified = (texts.documents[name].sha256 for name in sorted(documents))
    says = (clause.statement, clause.basis, *map(str, requirement.on), requirement.derived, requirement.changed)
    return digest_of("\n".join((*says, *identified)))


def as_json(table: Mapping[str, Any]) -> str:
    """Return the text of the data file."""
    return json.dumps(table, indent=1, sort_keys=True) + "\n"


def made() -> tuple[list[str], dict[Path, str]]:
    """Return what breaks the chain, and the texts of the generated files."""
    links = trace_links.read(trace_links.FILE.read_text(encoding="utf-8"))
    proved, markers = every_theorem(), every_marker()
    rests_on = baseline.read(baseline.FILE.read_text(encoding="utf-8"))
    table = joined(links, proved, markers, rests_on)
    statements = Statements(ROOT / "proofs")
    digests = {name: statements.digest(name) for name in sorted(to_keep(statements, table["theorems"]))}
    texts = {DATA: as_json(table), ROOT / "proofs" / TRACED: as_text(digests)}
    broken = [*trace_links.problems(links, ROWS, proved, markers), *baseline.problems(rests_on, ROWS)]
    return list(dict.fromkeys(broken)), texts


def main() -> int:
    """Write the generated files, and tell what breaks the chain; return 1 if something does."""
    broken, texts = made()
    for path, text in texts.items():
        path.write_text(text, encoding="utf-8")
    print("\n".join(broken or ["Every clause has its theorems, functions and tests."]))
    return 1 if broken else 0


if __name__ == "__main__":
    sys.exit(ended(main))
