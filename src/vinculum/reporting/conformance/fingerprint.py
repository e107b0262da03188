"""What ``vinculum fingerprint`` tells: a line for each thing found, what differs from the specification first."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from vinculum.conformance.fingerprint import Finding, Fingerprint, Status
from vinculum.reporting.escape import escaped, short
from vinculum.reporting.tables import counted

_MARK = "!"
_DIVISION = "division"  # What is said of it is said of the element types themselves.
_NAMED = 8


def page(fingerprint: Fingerprint, *, verbose: bool = False, followed: bool = False) -> RenderableType:
    """Return a fingerprint as a page.

    Parameters
    ----------
    fingerprint : Fingerprint
        What was found.
    verbose : bool
        Whether every finding has a line of its own, with details and an example.
    followed : bool
        Whether another page comes after it: a blank line then ends it.
    """
    return Group(*_parts(fingerprint, verbose), *([Text("")] if followed else []))


def as_json(fingerprint: Fingerprint) -> dict[str, Any]:
    """Return the same as JSON knows it."""
    return {
        "backend": fingerprint.backend,
        "title": fingerprint.title,
        "versions": dict(fingerprint.versions),
        "seconds": round(fingerprint.seconds, 3),
        "findings": [{**asdict(finding), "status": finding.status.value} for finding in fingerprint.findings],
    }


def _parts(fingerprint: Fingerprint, verbose: bool) -> Iterator[RenderableType]:
    versions = ", ".join(f"{package} {version}" for package, version in fingerprint.versions.items())
    yield Text(escaped(f"{fingerprint.title} ({versions})" if versions else fingerprint.title), "bold")
    yield Text("")
    lines = list(_each(fingerprint.findings) if verbose else _grouped(fingerprint.findings))
    deviating = [line for line in lines if line.deviates]
    yield _table([*deviating, *(line for line in lines if not line.deviates)])
    yield Text("")
    took = f"Took {fingerprint.seconds:.1f} seconds."
    if deviating:
        more = "" if verbose else " --verbose shows each with an example."
        yield Text(f"{counted(len(deviating), 'line')} marked {_MARK}: not as specified.{more} {took}")
    else:
        yield Text(f"Nothing differs from the specification. {took}")


@dataclass(frozen=True)
class _Line:
    about: str
    words: str
    deviates: bool
    more: tuple[str, ...] = ()


def _each(findings: Sequence[Finding]) -> Iterator[_Line]:
    for one in findings:
        about = one.subject if one.probe == _DIVISION else f"{one.probe}, {one.subject}"
        more = tuple(text for text in (one.detail, one.evidence) if text)
        yield _Line(about, one.statement, one.status is Status.DEVIATES, more)


def _grouped(findings: Sequence[Finding]) -> Iterator[_Line]:
    """Yield one line for subjects with the same finding; where only some deviate, the others are left out."""
    deviating = {one.probe for one in findings if one.status is Status.DEVIATES}
    statuses = {(one.probe, one.status) for one in findings}
    mixed = {one for one, count in Counter(probe for probe, _ in statuses).items() if count > 1}
    groups: dict[tuple[str, str], list[Finding]] = {}
    for one in findings:
        if one.status is Status.DEVIATES or one.probe == _DIVISION or one.probe not in deviating:
            own = one.statement if one.probe == _DIVISION else one.status.value
            groups.setdefault((one.probe, own), []).append(one)
    for (probe, _), group in groups.items():
        deviates = group[0].status is Status.DEVIATES
        if probe == _DIVISION:
            yield _Line(_subjects(group), group[0].statement, deviates)
        else:
            yield _Line(probe, _statements(group, everywhere=not deviates and probe not in mixed), deviates)


def _statements(group: Sequence[Finding], *, everywhere: bool) -> str:
    """Return what is said of each subject; the subjects are left out if it is the same everywhere."""
    statements = dict.fromkeys(one.statement for one in group)
    if everywhere and len(statements) == 1:
        return group[0].statement
    return "; ".join(f"{said} ({_subjects([one for one in group if one.statement == said])})" for said in statements)


def _subjects(group: Sequence[Finding]) -> str:
    names = dict.fromkeys(one.subject for one in group)
    return ", ".join(names) if len(names) <= _NAMED else f"{len(names)} element types"


def _table(lines: Sequence[_Line]) -> Table:
    table = Table.grid(padding=(0, 2, 0, 0))
    table.add_column(no_wrap=True)
    table.add_column(max_width=22)
    table.add_column(overflow="fold")
    for line in lines:
        words = Text(escaped(line.words), "yellow" if line.deviates else "")
        told = Group(words, *(Text(short(text), "dim") for text in line.more))
        table.add_row(Text(_MARK if line.deviates else "", "bold red"), Text(short(line.about), "bold"), told)
    return table
