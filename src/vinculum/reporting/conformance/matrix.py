"""A conformance run by operator version and element type: what every form of the run shows first."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from vinculum.conformance.execute.run import Result, Run
from vinculum.conformance.oracle.verdict import Kind
from vinculum.reporting.conformance.severity import Severity, worst_severity
from vinculum.spec.element_types import ELEMENT_TYPES

# One letter each, so that colour is never the only sign; deviations stand above the rest, the worst first.
SYMBOLS: Mapping[Kind, str] = {
    Kind.CRASHED: "C",
    Kind.HUNG: "H",
    Kind.OUT_OF_MEMORY: "M",
    Kind.DIFFERS: "D",
    Kind.WRONG_VALUE: "W",
    Kind.ACCEPTED: "A",
    Kind.WRONG_TYPE: "T",
    Kind.WRONG_SHAPE: "S",
    Kind.ULPS: "U",
    Kind.REFUSED: "R",
    Kind.UNSUPPORTED: "-",
    Kind.UNSPECIFIED: "ok",
    Kind.REFUSED_AS_REQUIRED: "ok",
    Kind.EXACT: "ok",
}
WORST_FIRST: Sequence[Kind] = tuple(SYMBOLS)


def worst(kinds: Iterable[Kind]) -> Kind:
    """Return the verdict that stands first in `WORST_FIRST`."""
    return min(kinds, key=WORST_FIRST.index)


@dataclass(frozen=True)
class Cases:
    """Results that are told of together."""

    results: tuple[Result, ...]

    @cached_property
    def counts(self) -> Counter[Kind]:
        """How many results there are of each kind."""
        return Counter(result.verdict.kind for result in self.results)

    @property
    def worst(self) -> Kind:
        """The verdict that they are known by."""
        return worst(self.counts)

    @property
    def severity(self) -> Severity:
        """How bad it is."""
        return worst_severity(result.verdict for result in self.results)

    @property
    def total(self) -> int:
        """How many cases there are."""
        return len(self.results)

    @property
    def deviating(self) -> int:
        """How many of them deviate."""
        return sum(count for kind, count in self.counts.items() if kind.deviates)

    @property
    def passing(self) -> int:
        """How many of them pass."""
        return sum(count for kind, count in self.counts.items() if kind.passes)

    @property
    def unsupported(self) -> int:
        """How many of them the runtime does not support."""
        return self.counts[Kind.UNSUPPORTED]


@dataclass(frozen=True)
class Cell(Cases):
    """The results in one row on one element type; there is at least one."""

    operator: str
    element_type: str

    @property
    def is_lacking(self) -> bool:
        """Whether the runtime supports none of it."""
        return self.unsupported == self.total


@dataclass(frozen=True)
class Matrix:
    """Every cell that has a case.

    Attributes
    ----------
    operators, element_types : tuple of str
        The rows in the suite's order, and the columns in the specification's.
    cells : Mapping of (str, str) to Cell
        By row and column.
    """

    operators: tuple[str, ...]
    element_types: tuple[str, ...]
    cells: Mapping[tuple[str, str], Cell]


def matrix(run: Run) -> Matrix:
    """Return the results of a run by operator version and element type."""
    found: dict[tuple[str, str], list[Result]] = {}
    for result in run.results:
        found.setdefault((result.id.row, result.id.element_type), []).append(result)
    cells = {key: Cell(tuple(results), *key) for key, results in found.items()}
    return Matrix(tuple(dict.fromkeys(name for name, _ in cells)), in_order({name for _, name in cells}), cells)


def in_order(element_types: Iterable[str]) -> tuple[str, ...]:
    """Return the names of element types in the specification's order, others after them."""
    known = [str(element_type) for element_type in ELEMENT_TYPES]
    names = set(element_types)
    return (*(name for name in known if name in names), *sorted(names.difference(known)))
