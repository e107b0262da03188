"""What every report of a run shows: counts, causes, the matrix, and verdicts in words."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from functools import cached_property

from vinculum.conformance.expect import KnownDeviations
from vinculum.conformance.run.record import Example, Kind, Result, Run, Verdict
from vinculum.reporting.escape import cut, one_line, short
from vinculum.spec.element_types import ELEMENT_TYPES

_NAMED = 8  # More names than that say less than their number.
_BEGINNING = 60  # Messages with this number of equal first characters count as the same.
_LAST_PLACES = 256  # Ulps; a larger error is no rounding error of the type.
_LONGEST = 240  # Two numbers of 64 bits and their quotient fit; a runtime's message may be very long.


class Severity(Enum):
    """The severity of a verdict for users of a runtime, the worst first; reports have a colour for each."""

    FATAL = "fatal"
    WRONG = "wrong"
    ULPS = "ulps"
    REFUSED = "refused"
    NONE = "none"
    OK = "ok"


@dataclass(frozen=True)
class Shown:
    """How a verdict is shown: a letter and a short word, so that colour is never the only sign, and its severity."""

    letter: str
    word: str
    severity: Severity


KINDS: Mapping[Kind, Shown] = {
    Kind.CRASHED: Shown("C", "crash", Severity.FATAL),
    Kind.HUNG: Shown("H", "hung", Severity.FATAL),
    Kind.OUT_OF_MEMORY: Shown("M", "memory", Severity.FATAL),
    Kind.DIFFERS: Shown("D", "differs", Severity.WRONG),
    Kind.WRONG_VALUE: Shown("W", "wrong", Severity.WRONG),
    Kind.ACCEPTED: Shown("A", "accept", Severity.WRONG),
    Kind.WRONG_TYPE: Shown("T", "type", Severity.WRONG),
    Kind.WRONG_SHAPE: Shown("S", "shape", Severity.WRONG),
    Kind.ULPS: Shown("U", "ulps", Severity.ULPS),
    Kind.REFUSED: Shown("R", "refuse", Severity.REFUSED),
    Kind.UNSUPPORTED: Shown("-", "none", Severity.NONE),
    **dict.fromkeys((Kind.UNSPECIFIED, Kind.REFUSED_AS_REQUIRED, Kind.EXACT), Shown("ok", "ok", Severity.OK)),
}
"""Every verdict, deviations first and the worst of them before the others."""
WORST_FIRST: Sequence[Kind] = tuple(KINDS)


def worst(kinds: Iterable[Kind]) -> Kind:
    """Return the verdict that stands first in `WORST_FIRST`."""
    return min(kinds, key=WORST_FIRST.index)


def severity(verdict: Verdict) -> Severity:
    """Return the severity of a verdict: quotients that are off by many ulps count as wrong."""
    far = verdict.kind is Kind.ULPS and (verdict.largest or 0) >= _LAST_PLACES
    return Severity.WRONG if far else KINDS[verdict.kind].severity


@dataclass(frozen=True, eq=False)
class Cases:
    """A group of results."""

    results: tuple[Result, ...]

    @cached_property
    def counts(self) -> Counter[Kind]:
        """The number of results of each kind."""
        return Counter(result.verdict.kind for result in self.results)

    @property
    def worst(self) -> Kind:
        """The worst verdict."""
        return worst(self.counts)

    @property
    def severity(self) -> Severity:
        """The severity of the worst result."""
        return min((severity(result.verdict) for result in self.results), key=list(Severity).index)

    @property
    def total(self) -> int:
        """The number of cases."""
        return len(self.results)

    @property
    def deviating(self) -> int:
        """The number of deviating cases."""
        return sum(count for kind, count in self.counts.items() if kind.deviates)

    @property
    def readings(self) -> int:
        """The number of cases that deviate only from our reading of what the specification does not say."""
        return sum(result.is_reading for result in self.results)

    @property
    def passing(self) -> int:
        """The number of cases that pass."""
        return sum(count for kind, count in self.counts.items() if kind.passes)

    @property
    def unsupported(self) -> int:
        """The number of cases that the runtime does not support."""
        return self.counts[Kind.UNSUPPORTED]


@dataclass(frozen=True, eq=False)
class Cell(Cases):
    """The results of one operator version and element type; there is at least one."""

    operator: str
    element_type: str

    @property
    def is_lacking(self) -> bool:
        """Whether the runtime supports none of it."""
        return self.unsupported == self.total


@dataclass(frozen=True, eq=False)
class Finding(Cases):
    """Cases that deviate for one cause, or those of one verdict without a cause; there is at least one.

    - `name`: The cause's name; empty if there is none.
    - `statement`: The cause in English.
    - `passing_too`: How many passing cases the cause predicts, too.
    """

    name: str
    statement: str
    passing_too: int = 0

    @property
    def where(self) -> str:
        """The element types and operator versions; only their numbers if there are many."""
        types = in_order(result.id.element_type for result in self.results)
        operators = tuple(dict.fromkeys(result.id.row for result in self.results))
        names = ", ".join(types) if len(types) <= _NAMED else f"{len(types)} element types"
        versions = ", ".join(operators) if len(operators) <= _NAMED else f"{len(operators)} operator versions"
        return short(f"{names}; {versions}")

    @cached_property
    def shown(self) -> Result:
        """The example: a death if there is one, else preferably ordinary numbers, then the smallest case."""
        fatal = KINDS[self.worst].severity is Severity.FATAL
        candidates = [result for result in self.results if result.verdict.kind is self.worst or not fatal]
        return min(candidates, key=lambda result: (*_strangeness(result.verdict.example), result.verdict.elements))

    @property
    def example(self) -> str:
        """The sentence about `shown`; empty if the statement says the same, as for a refusal with its message."""
        sentence = verdict_sentence(self.shown.verdict)
        return "" if sentence[:_BEGINNING] in one_line(self.statement) else sentence

    def reasons(self, known: KnownDeviations | None) -> tuple[tuple[str, str, int], ...]:
        """Return the reasons that a file gives, each with its link and number of cases, the commonest first."""
        told = [why for result in self.results if (why := reason(result, known)) is not None]
        return tuple((*why, count) for why, count in Counter(told).most_common())


def _strangeness(example: Example | None) -> tuple[bool, int, int]:
    """Return how hard an example is to read: the count of infinities, NaN and exponents, and the length."""
    if example is None:
        return True, 0, 0
    numbers = [text.partition(" (")[0] for text in (*example.operands, example.expected)]
    return False, sum("e" in number or "n" in number for number in numbers), sum(map(len, numbers))


def reason(result: Result, known: KnownDeviations | None) -> tuple[str, str] | None:
    """Return the reason and the link that a file gives for a case; None if it gives none."""
    return known.reason(result) if known is not None and result.verdict.kind.deviates else None


@dataclass(frozen=True, eq=False)
class View(Cases):
    """A run as reports show it.

    - `known`: The known deviations of the backend on this processor.
    """

    run: Run
    known: KnownDeviations | None = None

    @property
    def title(self) -> str:
        """The runtime's name in headings."""
        return re.sub("^the ", "The ", short(self.run.title))

    @property
    def version(self) -> str:
        """The name and version of the runtime."""
        return short(" ".join(next(iter(self.run.versions.items()), ())))

    @property
    def date(self) -> str:
        """The date of the run."""
        return self.run.date[:10]

    @property
    def processor(self) -> str:
        """The processor and its features; empty if they are not known."""
        names = ("processor", "processor features")
        return " with ".join(short(self.run.versions[name]) for name in names if self.run.versions.get(name))

    @cached_property
    def cells(self) -> Mapping[tuple[str, str], Cell]:
        """The matrix by row and column: operator versions, in the suite's order, and element types."""
        found: dict[tuple[str, str], list[Result]] = {}
        for result in self.results:
            found.setdefault((result.id.row, result.id.element_type), []).append(result)
        return {key: Cell(tuple(results), *key) for key, results in found.items()}

    @property
    def operators(self) -> tuple[str, ...]:
        """The rows of the matrix."""
        return tuple(dict.fromkeys(name for name, _ in self.cells))

    @property
    def element_types(self) -> tuple[str, ...]:
        """The columns of the matrix, in the specification's order."""
        return in_order(name for _, name in self.cells)

    @cached_property
    def findings(self) -> tuple[Finding, ...]:
        """The findings: by verdict, the worst first, then by decreasing number of cases; those without a cause last."""
        causes = {cause.name: cause for cause in self.run.causes}
        found: dict[tuple[str, str], list[Result]] = {}
        for result in self.results:
            if result.verdict.kind.deviates:
                found.setdefault((result.cause, "" if result.cause else _unexplained(result)), []).append(result)
        told = [
            Finding(tuple(results), name, causes[name].statement, causes[name].passing)
            if name
            else Finding(tuple(results), "", statement)
            for (name, statement), results in found.items()
        ]
        return tuple(sorted(told, key=lambda one: (not one.name, WORST_FIRST.index(one.worst), -one.total)))

    def foremost(self, count: int) -> tuple[Finding, ...]:
        """Return at most `count` findings, in their order: the first of each verdict, then those of most cases."""
        firsts = {finding.worst: finding for finding in reversed(self.findings)}
        ranked = sorted(self.findings, key=lambda one: (firsts[one.worst] is not one, -one.total))[:count]
        return tuple(one for one in self.findings if one in ranked)

    @property
    def explained(self) -> str:
        """A sentence on how many cases the causes explain."""
        differ, left, causes = self.counts[Kind.DIFFERS], len(self.run.unexplained), len(self.run.causes)
        words = f"{causes:,} cause{'s explain' if causes != 1 else ' explains'} {self.deviating - left - differ:,}"
        told = f"{words} of {self.deviating:,} cases that deviate; {left:,} unexplained"
        return f"{told}, and {differ:,} of which the answers differ between runs." if differ else f"{told}."


def view(run: Run, known: KnownDeviations | None = None) -> View:
    """Return the view of a run, with the known deviations of its backend."""
    return View(run.results, run, None if known is None else known.on(run.versions))


def _unexplained(result: Result) -> str:
    kind = result.verdict.kind
    words = f"unexplained, {result.consistent}" if result.consistent else f"unexplained: {kind.value}"
    return kind.value if kind is Kind.DIFFERS else words


def in_order(element_types: Iterable[str]) -> tuple[str, ...]:
    """Return the names of element types in the specification's order, others after them."""
    known, names = [str(element_type) for element_type in ELEMENT_TYPES], set(element_types)
    return (*(name for name in known if name in names), *sorted(names.difference(known)))


def ulps_text(power: int) -> str:
    """Return the words for errors from 2**power to below 2**(power + 1) ulps."""
    if power == 0:
        return "1 ulp"
    if power < 14:
        return f"{2**power:,} to {2 ** (power + 1) - 1:,} ulps"
    return f"2^{power} ulps or more"


def message(verdict: Verdict) -> str:
    """Return what happened, in a line: ``"3 of 64 quotients are off, by up to 1 ulp"``, ``"SIGFPE"``."""
    places = ((one, f" for {one.where}" if one.where else "") for one in verdict.unspecified)
    gave = ", ".join(f"{one.quotients} gave {one.quotient}{where}" for one, where in places)
    match verdict.kind:
        case Kind.ULPS | Kind.WRONG_VALUE:
            wrong = _wrong(verdict)
            return f"{wrong}; where it is unspecified: {gave}" if gave else wrong
        case Kind.UNSPECIFIED:
            return gave or f"refused: {verdict.said}"
        case Kind.DIFFERS:
            return f"gave different answers to the same operation: {verdict.said}"
        case Kind.ACCEPTED:
            return f"gave {verdict.said}"
        case Kind.WRONG_TYPE:
            return f"gave {verdict.said} instead of {verdict.expected}"
        case Kind.WRONG_SHAPE:
            return f"gave shape {verdict.said} instead of {verdict.expected}"
    return verdict.said


def _wrong(verdict: Verdict) -> str:
    wrong = f"{verdict.differing} of {verdict.elements} quotient{'s are' if verdict.elements != 1 else ' is'}"
    if verdict.largest is None:
        return f"{wrong} wrong"
    return f"{wrong} off, by up to {verdict.largest} ulp{'' if verdict.largest == 1 else 's'}"


def asked(example: Example) -> str:
    """Return the division of an example: ``"7 / 0"``, or ``"1 / 0"`` for a reciprocal."""
    return " / ".join(example.operands if len(example.operands) > 1 else ("1", *example.operands))


def example_sentence(example: Example) -> str:
    """Return an example on one line: ``"7 / 0 gave 3, expected 4"``."""
    return one_line(f"{asked(example)} gave {example.actual}, expected {example.expected}")


def verdict_sentence(verdict: Verdict) -> str:
    """Return what happened in a case on one line: its example if there is one, else its message."""
    sentence = example_sentence(verdict.example) if verdict.example is not None else one_line(message(verdict))
    return cut(sentence, _LONGEST) or verdict.kind.value
