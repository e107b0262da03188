"""Known deviations of a runtime, as a strict text file: what it lists must happen, and nothing else may.

A file has lines of these forms; blank ones and those that begin with ``#`` say nothing::

    backend: onnxruntime
    level: default
    version: onnxruntime 1.31.1

    reason: MIN / -1 is left to an instruction that raises SIGFPE
    link: https://example.org/issues/1
    crashed: Div-*/int64/MIN divided by -1/*/*

``backend`` and ``level`` stand first: what is run, and how much of it. Each ``version`` names a package. A ``reason``
holds for the lines below it, with the ``link`` to where it was reported, if it was. Every other line is a verdict and
a pattern of case ids, part by part: ``*`` stands for anything within one of the five parts. What is refused as the
specification requires may lie within a pattern of ``refused`` or ``not supported``; any other pass may not. Where it
depends on the processor, verdicts are joined: ``exact or off by ulps: Div-14/bfloat16/*/*/*``.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from enum import Enum
from fnmatch import fnmatchcase
from pathlib import Path

from vinculum.conformance.case import CaseId, Level
from vinculum.conformance.run import Result, Run
from vinculum.conformance.verdict import Kind, Verdict
from vinculum.errors import ModelError
from vinculum.text import quoted

PARTS = 5
_LARGEST = 16 << 20  # Bytes; a device may have no end.
_KINDS = {kind.value: kind for kind in Kind}
_LEVELS = {level.value: level for level in Level}


@dataclass(frozen=True)
class Deviation:
    """One line of a file: which cases deviate, how and why.

    Attributes
    ----------
    pattern : tuple of str
        One for each part of a case's id.
    kinds : tuple of Kind
        The verdict on all of them; several if the processor decides.
    reason, link : str
        Why, and where it was reported; the link may be empty.
    line : int
        Its number in the file.
    """

    pattern: tuple[str, ...]
    kinds: tuple[Kind, ...]
    reason: str
    link: str
    line: int

    @property
    def words(self) -> str:
        """The verdicts as the file has them."""
        return " or ".join(kind.value for kind in self.kinds)

    def matches(self, id: CaseId) -> bool:
        """Tell whether a case is among them."""
        return all(map(fnmatchcase, id.parts, self.pattern))


@dataclass(frozen=True)
class KnownDeviations:
    """A file: what is known of one backend.

    Attributes
    ----------
    file : Path
        Where it was read.
    backend : str
        As `Run.backend` has it.
    level : Level
        The cases that it knows of.
    versions : tuple of (str, str)
        The packages that it was made with.
    deviations : tuple of Deviation
        In the file's order.
    """

    file: Path
    backend: str
    level: Level
    versions: tuple[tuple[str, str], ...]
    deviations: tuple[Deviation, ...]

    def reason(self, result: Result) -> tuple[str, str] | None:
        """Return the reason and the link of the first line that knows of a case; None if none does."""
        kind = result.verdict.kind
        lines = (line for line in self.deviations if kind in line.kinds and line.matches(result.id))
        return next(((line.reason, line.link) for line in lines), None)


class Disagreement(Enum):
    """How a run and a file of known deviations disagree."""

    NEW_FAILURE = "new failure"
    OTHER_FAILURE = "other failure"
    UNEXPECTED_PASS = "unexpected pass"
    UNUSED = "unused"


@dataclass(frozen=True)
class Mismatch:
    """Where a run and a file of known deviations disagree.

    Attributes
    ----------
    how : Disagreement
        In what way.
    id : CaseId or None
        The case's; None for a line that no case matches.
    verdict : Verdict or None
        What the answer was worth.
    deviation : Deviation or None
        The line of the file; None for a new failure.
    """

    how: Disagreement
    id: CaseId | None = None
    verdict: Verdict | None = None
    deviation: Deviation | None = None


def read_known_deviations(file: Path) -> KnownDeviations:
    """Return what a file knows.

    Raises
    ------
    ModelError
        If a line is none that there can be; it names the file and the line's number.
    OSError
        If it cannot be read.
    """
    with file.open("rb") as stream:
        content = stream.read(_LARGEST + 1)
    if len(content) > _LARGEST:
        raise ModelError(f"{file} is larger than {_LARGEST:,} bytes; --expect takes a file of known deviations")
    try:
        text = content.decode("utf-8")
    except UnicodeDecodeError:
        raise ModelError(f"{file} is not a text file in UTF-8; --expect takes a file of known deviations") from None
    head: dict[str, str] = {}
    versions: list[tuple[str, str]] = []
    deviations: list[Deviation] = []
    reason = link = ""
    for number, line in enumerate(text.splitlines(), 1):
        key, _, value = (part.strip() for part in line.partition(":"))
        if not key or key.startswith("#"):
            continue
        if key == "reason" and value:
            reason, link = value, ""
        elif key == "link" and value:
            link = value
        elif key in ("backend", "level") and key not in head and value:
            head[key] = value
        elif key == "version" and len(value.split()) == 2:
            versions.append((value.split()[0], value.split()[1]))
        elif kinds := _kinds(key):
            deviations.append(Deviation(_pattern(value, file, number), kinds, reason, link, number))
            if not reason:
                raise ModelError(f"line {number} of {file} has no reason; write a line 'reason: ...' above it")
        else:
            verdicts = (name for name, kind in _KINDS.items() if not kind.passes)
            allowed = ", ".join(("backend", "level", "version", "reason", "link", *verdicts))
            raise ModelError(f"line {number} of {file} is {quoted(line)}; it begins with one of {allowed} and a colon")
    return KnownDeviations(file, _head(head, "backend", file), _level(head, file), tuple(versions), tuple(deviations))


def _kinds(key: str) -> tuple[Kind, ...]:
    """Return the verdicts that a line lists; none if it lists none, or passes alone."""
    kinds = tuple(_KINDS[name] for name in key.split(" or ") if name in _KINDS)
    return kinds if len(kinds) == len(key.split(" or ")) and not all(kind.passes for kind in kinds) else ()


def _pattern(value: str, file: Path, number: int) -> tuple[str, ...]:
    pattern = tuple(value.split("/"))
    if len(pattern) != PARTS:
        raise ModelError(
            f"line {number} of {file} has the pattern {quoted(value)}; it has {PARTS} parts, joined by '/'"
        )
    return pattern


def _head(head: dict[str, str], key: str, file: Path) -> str:
    if key not in head:
        raise ModelError(f"{file} has no line '{key}: ...'; --expect takes a file of known deviations")
    return head[key]


def _level(head: dict[str, str], file: Path) -> Level:
    given = _head(head, "level", file)
    if given not in _LEVELS:
        raise ModelError(f"the level of {file} is {quoted(given)}; allowed: {', '.join(_LEVELS)}")
    return _LEVELS[given]


def mismatches(run: Run, known: KnownDeviations) -> tuple[Mismatch, ...]:
    """Return where a run disagrees with what is known; nothing if it is as expected.

    A line that no case matches is a mismatch too if the run held every case of the file's level: the case may have
    another name now.
    """
    found: list[Mismatch] = []
    used: set[int] = set()
    for result in run.results:
        lines = [deviation for deviation in known.deviations if deviation.matches(result.id)]
        used.update(deviation.line for deviation in lines)
        found += _disagreement(result, lines)
    if not run.selection.only and run.selection.level >= known.level:
        unused = (deviation for deviation in known.deviations if deviation.line not in used)
        found += (Mismatch(Disagreement.UNUSED, deviation=deviation) for deviation in unused)
    return tuple(found)


def _disagreement(result: Result, lines: list[Deviation]) -> Iterator[Mismatch]:
    kind = result.verdict.kind
    other = next((line for line in lines if not agrees(kind, line.kinds)), None)
    if other is not None:
        how = Disagreement.UNEXPECTED_PASS if kind.passes else Disagreement.OTHER_FAILURE
        yield Mismatch(how, result.id, result.verdict, other)
    elif not lines and kind.deviates:
        yield Mismatch(Disagreement.NEW_FAILURE, result.id, result.verdict)


def agrees(actual: Kind, listed: Collection[Kind]) -> bool:
    """Tell whether a verdict is what a line lists; what must be refused may lie among what is refused throughout."""
    refused_throughout = Kind.REFUSED in listed or Kind.UNSUPPORTED in listed
    return actual in listed or (actual is Kind.REFUSED_AS_REQUIRED and refused_throughout)
