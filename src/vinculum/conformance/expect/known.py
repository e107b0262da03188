"""The known deviations of a runtime, which are causes, and where a run disagrees with them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import Enum
from pathlib import Path

import msgspec
from msgspec.structs import replace

from vinculum.conformance.arithmetic import Predictor
from vinculum.conformance.arithmetic.explain import written
from vinculum.conformance.cases.case import Level
from vinculum.conformance.run.record import Result, Run
from vinculum.spec.element_types import by_name

FEATURES_OF = "processor features"
"""The name of the features of the processor among the versions of a run."""


def is_such(requires: str, versions: Mapping[str, str]) -> bool:
    """Tell whether a run is as words require: ``"avx512f, no avx512_bf16"``, ``"openvino 2026.4"``."""
    return all(_has(word.strip(), versions) for word in requires.split(",") if requires)


def _has(word: str, versions: Mapping[str, str]) -> bool:
    name, _, version = word.removeprefix("no ").partition(" ")
    if version:
        held = f"{versions.get(name, '')}.".startswith(f"{version}.")
    else:
        held = name in versions.get(FEATURES_OF, "").split()
    return held is not word.startswith("no ")


class KnownCause(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A known cause, a table ``[[cause]]`` of a file: it must predict every case assigned to it, bit for bit.

    Attributes
    ----------
    reason : str
        The reason.
    element_types : tuple of str
        The dividends' element types in its cases.
    arithmetic, rule : str
        What it is called after ``"arithmetic: "`` or ``"rule: "`` in a run; one of them is empty.
    link : str
        The address of a report, which may be empty.
    requires : str
        The processors and versions of which it is true, as `is_such` takes it; empty for all.
    reproducer : str
        A program of a few lines, ready for a report to the runtime's authors; it may be empty.
    """

    reason: str
    element_types: tuple[str, ...]
    arithmetic: str = ""
    rule: str = ""
    link: str = ""
    requires: str = ""
    reproducer: str = ""

    @property
    def name(self) -> str:
        """The name as in `vinculum.conformance.run.record.Cause`: ``"arithmetic: a * (1/b)"``."""
        return f"arithmetic: {self.arithmetic}" if self.arithmetic else f"rule: {self.rule}"

    def explains(self, result: Result) -> bool:
        """Tell whether a case deviates by this cause."""
        return result.cause == self.name and result.id.element_type in self.element_types


class KnownDeviations(msgspec.Struct, frozen=True, forbid_unknown_fields=True, rename={"causes": "cause"}):
    """The known deviations of one backend, a whole file.

    Attributes
    ----------
    backend : str
        The backend, as in `Run.backend`.
    level : Level
        The level of the run that they describe.
    versions : dict of str to str
        The packages with which they were recorded.
    processors : tuple of str
        The processors on which they were recorded, each by what `is_such` takes; empty if that is not known.
    unexplained : tuple of str
        The ids of the cases that deviate without a known cause.
    causes : tuple of KnownCause
        The causes in the file's order.
    file : Path
        The file from which they were read.
    """

    backend: str
    level: Level
    versions: dict[str, str] = {}
    processors: tuple[str, ...] = ()
    unexplained: tuple[str, ...] = ()
    causes: tuple[KnownCause, ...] = ()
    file: Path = Path()

    def on(self, versions: Mapping[str, str]) -> KnownDeviations:
        """Return what holds with such versions, among them the processor's features, as `Run.versions` has them."""
        return replace(self, causes=tuple(cause for cause in self.causes if is_such(cause.requires, versions)))

    def differences(self, run: Run) -> Iterator[str]:
        """Yield in what a run differs from the circumstances in which they were recorded."""
        for package, version in self.versions.items():
            if (actual := run.versions.get(package)) != version:
                found = "it was not used" if actual is None else f"{actual} was used"
                yield f"The file is for {package} {version}; {found}."
        if self.processors and not any(is_such(processor, run.versions) for processor in self.processors):
            yield f"The file is for processors with {' or with '.join(self.processors)}; this one is another."

    def predictors(self) -> tuple[Predictor, ...]:
        """Return the causes as they predict answers."""
        return tuple(written(cause.name, [by_name(name) for name in cause.element_types]) for cause in self.causes)

    def reason(self, result: Result) -> tuple[str, str] | None:
        """Return the reason and the link of the cause of a case; None if it is not known."""
        return next(((cause.reason, cause.link) for cause in self.causes if cause.explains(result)), None)


class Disagreement(Enum):
    """How a run and a file disagree."""

    NEW_FAILURE = "new failure"
    UNEXPECTED_PASS = "unexpected pass"
    UNUSED = "unused"


@dataclass(frozen=True)
class Mismatch:
    """A disagreement between a run and a file of known deviations.

    Attributes
    ----------
    how : Disagreement
        The kind of disagreement.
    result : Result or None
        The result of the case; None for what no case of the run has.
    unused : str
        The name of the cause, or the id of the unexplained case, that no case of the run has.
    """

    how: Disagreement
    result: Result | None = None
    unused: str = ""


def mismatches(run: Run, known: KnownDeviations) -> tuple[Mismatch, ...]:
    """Return the disagreements between a run and the known deviations; empty if all is as expected.

    Causes that require another processor or version count for nothing. An unused one is a mismatch too if the run
    included every case of the file's level: the runtime may have been repaired, or a case renamed.
    """
    known, found, unexplained = known.on(run.versions), list[Mismatch](), set(known.unexplained)
    used, ids = set[str](), set[str]()
    for result in run.results:
        id, deviates = str(result.id), result.verdict.kind.deviates
        ids.add(id)
        own = [cause.name for cause in known.causes if deviates and cause.explains(result)]
        used.update(own)
        if id in unexplained and not deviates:
            found.append(Mismatch(Disagreement.UNEXPECTED_PASS, result))
        elif deviates and not own and (id not in unexplained or result.cause):
            found.append(Mismatch(Disagreement.NEW_FAILURE, result))
    if not run.selection.only and run.selection.level >= known.level:
        names = [cause.name for cause in known.causes if cause.name not in used]
        names += [id for id in known.unexplained if id not in ids]
        found += (Mismatch(Disagreement.UNUSED, unused=name) for name in dict.fromkeys(names))
    return tuple(found)
