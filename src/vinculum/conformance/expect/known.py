"""The known deviations of a runtime: causes that predict cases, and patterns of cases."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from pathlib import Path

from vinculum.conformance.arithmetic import Cause
from vinculum.conformance.arithmetic.explain import written
from vinculum.conformance.cases.case import CaseId, Level
from vinculum.conformance.execute.run import Result, Run
from vinculum.conformance.oracle.verdict import Kind
from vinculum.spec.element_types import by_name

PARTS = 5
"""The number of parts of a case's id."""
PATTERN = f"a pattern of ids has {PARTS} parts, joined by '/', such as Div-14/int32/*/*/*"


def is_such(requires: str, features: Collection[str]) -> bool:
    """Tell whether a processor with these features is as words require: ``"avx512f, no avx512_bf16"``."""
    words = [word.strip() for word in requires.split(",") if requires]
    return all((word.removeprefix("no ") in features) is not word.startswith("no ") for word in words)


@dataclass(frozen=True)
class KnownCause:
    """A known cause: it must predict every case assigned to it, bit for bit.

    Attributes
    ----------
    name : str
        The name as in `vinculum.conformance.execute.run.Cause`: ``"arithmetic: a * (1/b)"``.
    element_types : tuple of str
        The dividends' element types in its cases.
    reason, link : str
        The reason, and the address of a report, which may be empty.
    where : str
        The position of the entry in the file.
    requires : str
        The processors of which it is true, as `is_such` takes it; empty for all.
    """

    name: str
    element_types: tuple[str, ...]
    reason: str
    link: str
    where: str
    requires: str = ""

    def explains(self, result: Result) -> bool:
        """Tell whether a case deviates by this cause."""
        return result.cause == self.name and result.id.element_type in self.element_types


@dataclass(frozen=True)
class KnownCases:
    """Known cases, given by a pattern of ids.

    Attributes
    ----------
    pattern : tuple of str
        A pattern for each part of a case's id.
    kinds : tuple of Kind
        The verdict on all of them; several if it depends on the processor.
    reason, link : str
        The reason, and the address of a report, which may be empty.
    where : str
        The position of the entry in the file.
    requires : str
        The processors of which it is true, as `is_such` takes it; empty for all.
    """

    pattern: tuple[str, ...]
    kinds: tuple[Kind, ...]
    reason: str
    link: str
    where: str
    requires: str = ""

    def matches(self, id: CaseId) -> bool:
        """Tell whether the id of a case matches the pattern."""
        return all(map(fnmatchcase, id.parts, self.pattern))

    def allows(self, kind: Kind) -> bool:
        """Tell whether a verdict is listed; a required refusal is allowed wherever refusals are listed."""
        refused_throughout = Kind.REFUSED in self.kinds or Kind.UNSUPPORTED in self.kinds
        return kind in self.kinds or (kind is Kind.REFUSED_AS_REQUIRED and refused_throughout)


@dataclass(frozen=True)
class KnownDeviations:
    """The known deviations of one backend.

    Attributes
    ----------
    file : Path
        The file from which they were read.
    backend : str
        The backend, as in `Run.backend`.
    level : Level
        The level of the run that they describe.
    versions : tuple of (str, str)
        The packages with which they were recorded.
    processors : tuple of str
        The processors on which they were recorded, each by what `is_such` takes; empty if that is not known.
    causes : tuple of KnownCause
        The causes in the file's order.
    cases : tuple of KnownCases
        The patterns in the file's order; matching cases need no cause.
    """

    file: Path
    backend: str
    level: Level
    versions: tuple[tuple[str, str], ...]
    processors: tuple[str, ...] = ()
    causes: tuple[KnownCause, ...] = ()
    cases: tuple[KnownCases, ...] = ()

    def on(self, features: Collection[str]) -> KnownDeviations:
        """Return what holds on a processor with these features."""
        causes = tuple(cause for cause in self.causes if is_such(cause.requires, features))
        return replace(
            self, causes=causes, cases=tuple(cases for cases in self.cases if is_such(cases.requires, features))
        )

    def differences(self, run: Run) -> Iterator[str]:
        """Yield in what a run differs from the circumstances in which they were recorded."""
        for package, version in self.versions:
            if (actual := run.versions.get(package)) != version:
                found = "it was not used" if actual is None else f"{actual} was used"
                yield f"The file is for {package} {version}; {found}."
        if self.processors and not any(is_such(processor, run.features) for processor in self.processors):
            yield f"The file is for processors with {' or with '.join(self.processors)}; this one is another."

    def entries(self, result: Result) -> Iterator[KnownCause | KnownCases]:
        """Yield all entries for a deviating case."""
        yield from (cause for cause in self.causes if cause.explains(result))
        kind = result.verdict.kind
        yield from (cases for cases in self.cases if kind in cases.kinds and cases.matches(result.id))

    def as_causes(self) -> tuple[Cause, ...]:
        """Return the causes in the form that predicts cases."""
        return tuple(written(cause.name, [by_name(name) for name in cause.element_types]) for cause in self.causes)

    def reason(self, result: Result) -> tuple[str, str] | None:
        """Return the reason and the link of the first entry for a case; None if there is none."""
        return next(((entry.reason, entry.link) for entry in self.entries(result)), None)
