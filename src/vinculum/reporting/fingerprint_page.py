"""What ``vinculum fingerprint`` tells: a line for each probe, what differs from the specification marked."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict
from typing import Any

from rich import box
from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from vinculum.conformance.fingerprint import Finding, Fingerprint
from vinculum.reporting.harmless import harmless, short
from vinculum.reporting.tables import counted

_MARK = "!"


def page(fingerprint: Fingerprint, *, followed: bool = False) -> RenderableType:
    """Return a fingerprint as a page; a blank line ends it if another one follows."""
    return Group(*_parts(fingerprint), *([Text("")] if followed else []))


def as_json(fingerprint: Fingerprint) -> dict[str, Any]:
    """Return the same as JSON knows it."""
    return {
        "backend": fingerprint.backend,
        "title": fingerprint.title,
        "versions": dict(fingerprint.versions),
        "seconds": round(fingerprint.seconds, 3),
        "findings": [asdict(finding) for finding in fingerprint.findings],
    }


def _parts(fingerprint: Fingerprint) -> Iterator[RenderableType]:
    versions = ", ".join(f"{package} {version}" for package, version in fingerprint.versions.items())
    yield Text(harmless(f"{fingerprint.title} ({versions})" if versions else fingerprint.title), "bold")
    yield Text("")
    yield _table(fingerprint.findings)
    yield Text("")
    deviations = sum(finding.is_deviation for finding in fingerprint.findings)
    asked = f"{counted(len(fingerprint.findings), 'finding')} in {fingerprint.seconds:.1f} seconds"
    if deviations:
        yield Text(f"{asked}; {deviations} marked {_MARK}: they differ from the specification.")
    else:
        yield Text(f"{asked}; none differs from the specification.")


def _table(findings: tuple[Finding, ...]) -> Table:
    table = Table(box=box.SIMPLE, show_header=False, show_edge=False, padding=(0, 1, 0, 0), pad_edge=False)
    table.add_column(no_wrap=True)
    table.add_column(vertical="top", max_width=20)
    table.add_column(overflow="fold")
    previous = ""
    for finding in findings:
        style = "bold red" if finding.is_deviation else "dim"
        probe = finding.probe if finding.probe != previous else ""
        table.add_row(Text(_MARK if finding.is_deviation else "", style), Text(probe, "bold"), _told(finding))
        previous = finding.probe
    return table


def _told(finding: Finding) -> RenderableType:
    statement = Text(harmless(finding.statement), "yellow" if finding.is_deviation else "")
    shown = finding.is_deviation and finding.evidence
    return Group(statement, Text(short(finding.evidence), "dim")) if shown else statement
