"""What a run found, written as a file of known deviations."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product

from vinculum.conformance.environment import environment
from vinculum.conformance.known_deviations import PARTS, KnownDeviations, agrees
from vinculum.conformance.report import Report, Result
from vinculum.conformance.verdict import Kind

_UNEXPLAINED = "not explained yet"

_Group = tuple[str, str, tuple[Kind, ...]]


def as_text(report: Report, known: KnownDeviations | None = None) -> str:
    """Return the file that expects just what a run found.

    The patterns are as few as simple means make them: each stands for cases of one verdict, and for no other case of
    the run.

    Parameters
    ----------
    report : Report
        The run.
    known : KnownDeviations, optional
        Where reasons are taken from: that of the first line with a case's verdict that matches the case, be it ever so
        broad. Without one a reason is still to be written.
    """
    groups: dict[_Group, set[str]] = {}
    for result in report.results:
        group = _group(result, known)
        if group is not None:
            groups.setdefault(group, set()).add(result.id)
    platform = environment()
    lines = [f"backend: {report.backend}", f"level: {report.level.name.lower()}"]
    lines += [f"version: {name} {version}" for name, version in report.versions.items() if name not in platform]
    said = None
    for (reason, link, kinds), ids in sorted(groups.items(), key=lambda item: _place(item[0], known)):
        if (reason, link) != said:
            lines += ["", f"reason: {reason}", *([f"link: {link}"] if link else [])]
            said = reason, link
        patterns = sorted(_patterns(report, kinds, ids))
        lines += (f"{' or '.join(kind.value for kind in kinds)}: {'/'.join(pattern)}" for pattern in patterns)
    return "\n".join([*lines, ""])


def _group(result: Result, known: KnownDeviations | None) -> _Group | None:
    """Return the reason, the link and the verdicts of the lines that a case belongs to; None if it needs none."""
    kind = result.verdict.kind
    for deviation in known.deviations if known else ():
        if kind in deviation.kinds and deviation.matches(result.id):
            return deviation.reason, deviation.link, deviation.kinds
    return None if kind.passes else (_UNEXPLAINED, "", (kind,))


def _place(group: _Group, known: KnownDeviations | None) -> tuple[int, str, list[int]]:
    """Return where a group stands: its reason where the known file has it, what is not explained last."""
    reason, link, kinds = group
    said = [(deviation.reason, deviation.link) for deviation in known.deviations] if known else []
    place = said.index((reason, link)) if (reason, link) in said else len(said)
    return place, reason, [list(Kind).index(kind) for kind in kinds]


def _patterns(report: Report, kinds: tuple[Kind, ...], wanted: set[str]) -> Iterator[tuple[str, ...]]:
    """Yield patterns that match all of the wanted cases, none that would disagree and none of another reason."""
    meant = {tuple(id.split("/")) for id in wanted}
    matching: dict[tuple[str, ...], set[tuple[str, ...]]] = {}
    refuted: set[tuple[str, ...]] = set()
    for kept in product((False, True), repeat=PARTS):
        for result in report.results:
            parts = tuple(result.id.split("/"))
            pattern = tuple(part if keep else "*" for part, keep in zip(parts, kept, strict=True))
            if parts in meant:
                matching.setdefault(pattern, set()).add(parts)
            elif not (result.verdict.kind is Kind.REFUSED_AS_REQUIRED and agrees(result.verdict.kind, kinds)):
                refuted.add(pattern)
    candidates = {pattern: parts for pattern, parts in matching.items() if pattern not in refuted}
    while candidates:
        best = max(candidates, key=lambda pattern: (len(candidates[pattern]), pattern.count("*"), pattern))
        yield best
        matched = candidates[best]
        candidates = {pattern: rest for pattern, parts in candidates.items() if (rest := parts - matched)}
