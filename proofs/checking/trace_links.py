"""The hand-written half of traceability: ``proofs/traceability.toml`` joins clauses to theorems and functions.

Each ``[[link]]`` says what proves the clauses that it names, and which functions keep them: of every row that has such
a clause, or of ``rows`` only. A clause may have several links. Each ``[[exception]]`` names clauses that no theorem
can be about, and says why.
"""

from __future__ import annotations

import ast
import re
import tomllib
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from proofs.checking.provers import ProofError

if TYPE_CHECKING:  # `make proofs` takes whatever Python there is
    from tests.architecture.clause_markers import ClauseMarker
    from vinculum.spec.model import OperatorSpec
    from vinculum.spec.traceability import Theorem

FILE = Path(__file__).parents[1] / "traceability.toml"
SOURCES = Path(__file__).parents[2] / "src"

# In C and C++: words of a type and a name with its parameters, a structure, or an alias, at the beginning of a line.
_C_DEFINITION = re.compile(
    r"""^[ ]*(?:
        (?:[A-Za-z_][\w:<>,]*[ *&]+)+ (?P<function>\w+) \( [^;{}]* \) [^;{}()]* \{
      | (?:struct|class)[ ](?P<type>\w+) [^;{}()]* \{
      | using[ ](?P<alias>\w+)[ ]=
    )""",
    re.MULTILINE | re.VERBOSE,
)


@dataclass(frozen=True)
class Entry:
    """Clauses by their tags, of all rows if `rows` is empty."""

    clauses: tuple[str, ...]
    rows: tuple[str, ...] = ()

    def concerns(self, row: OperatorSpec, tag: str) -> bool:
        """Tell whether the entry is about a clause of a row."""
        return tag in self.clauses and (not self.rows or row.title in self.rows)


@dataclass(frozen=True)
class Link(Entry):
    """Clauses with their theorems and the functions that keep them."""

    theorems: tuple[str, ...] = ()
    functions: tuple[str, ...] = ()


@dataclass(frozen=True)
class NoTheorem(Entry):
    """Clauses without a theorem, and why."""

    because: str = ""


@dataclass(frozen=True)
class Links:
    """All of the file."""

    links: tuple[Link, ...]
    exceptions: tuple[NoTheorem, ...]

    def theorems(self, row: OperatorSpec, tag: str) -> tuple[str, ...]:
        """Return the theorems of a clause, each once, in the file's order."""
        found = (name for link in self.links if link.concerns(row, tag) for name in link.theorems)
        return tuple(dict.fromkeys(found))

    def functions(self, row: OperatorSpec, tag: str) -> tuple[str, ...]:
        """Return the functions that keep a clause, each once, in the file's order."""
        found = (name for link in self.links if link.concerns(row, tag) for name in link.functions)
        return tuple(dict.fromkeys(found))

    def no_theorem_because(self, row: OperatorSpec, tag: str) -> str | None:
        """Return why a clause has no theorem, None if it must have one."""
        return next((e.because for e in self.exceptions if e.concerns(row, tag)), None)


def read(text: str) -> Links:
    """Return the links of a TOML text.

    Raises
    ------
    ProofError
        If it is not TOML, or has another table or key.
    """
    try:
        tables: dict[str, list[dict[str, Any]]] = tomllib.loads(text)
        for table in (table for entries in tables.values() for table in entries):
            table.update({key: tuple(value) for key, value in table.items() if isinstance(value, list)})
            if not all(isinstance(value, str if key == "because" else tuple) for key, value in table.items()):
                raise TypeError(f"a reason is a string, and everything else a list: {table}")
        links = tuple(Link(**table) for table in tables.pop("link", []))
        exceptions = tuple(NoTheorem(**table) for table in tables.pop("exception", []))
    except (tomllib.TOMLDecodeError, TypeError, AttributeError) as error:
        raise ProofError(f"{FILE.name}: {error}") from None
    if tables:
        raise ProofError(f"{FILE.name} has [[link]] and [[exception]] only, not {', '.join(tables)}")
    return Links(links, exceptions)


def problems(
    links: Links,
    rows: Sequence[OperatorSpec],
    proved: Mapping[str, Theorem | None],
    markers: Collection[ClauseMarker],
) -> Iterator[str]:
    """Yield a line for everything that breaks the chain from a clause to its tests.

    Parameters
    ----------
    links : Links
        The hand-written links.
    rows : sequence of OperatorSpec
        The rows whose clauses must be linked.
    proved : mapping of str to Theorem or None
        Every theorem by its name; None for one that is not proved.
    markers : collection of ClauseMarker
        Which test names which clause.
    """
    for row in rows:
        for clause in row.clauses:
            yield from _gaps(links, row, clause.tag, markers)
    entries: tuple[Entry, ...] = (*links.links, *links.exceptions)
    for entry in entries:
        yield from _unused(entry, rows)
    for link in links.links:
        for name in link.theorems:
            if name not in proved:
                yield f"{name}: no session and no script has this theorem"
            elif proved[name] is None:
                yield f"{name}: not proved"
        for name in link.functions:
            if not is_defined(name):
                yield f"{name}: there is no such function"


def _gaps(links: Links, row: OperatorSpec, tag: str, markers: Collection[ClauseMarker]) -> Iterator[str]:
    excused = links.no_theorem_because(row, tag)
    if not links.theorems(row, tag) and excused is None:
        yield f"{row.title}, {tag}: no theorem"
    if links.theorems(row, tag) and excused is not None:
        yield f"{row.title}, {tag}: excused from having a theorem, and has one"
    if not links.functions(row, tag):
        yield f"{row.title}, {tag}: no function"
    if not any(marker.names(row.title, tag) for marker in markers):
        yield f"{row.title}, {tag}: no test"


def _unused(entry: Entry, rows: Sequence[OperatorSpec]) -> Iterator[str]:
    """Yield each clause and each row of an entry that is about nothing."""
    used = [(row.title, clause.tag) for row in rows for clause in row.clauses if entry.concerns(row, clause.tag)]
    for tag in entry.clauses:
        if tag not in [tag for _, tag in used]:
            yield f"unused: no row named has the clause {tag}"
    for title in entry.rows:
        if title not in [title for title, _ in used]:
            yield f"unused: {title} has none of {', '.join(entry.clauses)}"


@cache
def is_defined(name: str) -> bool:
    """Tell whether a dotted name is a function or a class that its module defines, not one that it imports.

    Those of the core are named by their files and by their own names: ``"vinculum/kernels/core/loops.hpp:Floats"``.
    """
    file, _, own_name = name.partition(":")
    if own_name:
        source = SOURCES / file
        return source.is_file() and own_name in c_definitions(source)
    parts = name.split(".")
    for length in range(len(parts) - 1, 0, -1):
        path = SOURCES.joinpath(*parts[:length])
        for module in (path.with_suffix(".py"), path / "__init__.py"):
            if module.is_file():
                return _defines(ast.parse(module.read_text(encoding="utf-8")).body, parts[length:])
    return False


def c_definitions(path: Path) -> set[str]:
    """Return the functions and types that a file of C or C++ defines, without those that it declares or calls."""
    return {found[found.lastgroup or 0] for found in _C_DEFINITION.finditer(path.read_text(encoding="utf-8"))}


def _defines(body: Sequence[ast.stmt], path: Sequence[str]) -> bool:
    for node in body:
        if isinstance(node, ast.FunctionDef | ast.ClassDef) and node.name == path[0]:
            return len(path) == 1 or _defines(node.body, path[1:])
    return False
