"""What a run found, written as a file of known deviations."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import lru_cache
from itertools import product

from vinculum.conformance.environment import environment
from vinculum.conformance.known_deviations import KnownDeviations, agrees
from vinculum.conformance.run import Result, Run
from vinculum.conformance.verdict import Kind

_UNEXPLAINED = "not explained yet"

_Group = tuple[str, str, tuple[Kind, ...]]
_Pattern = tuple[str, ...]


def as_text(run: Run, known: KnownDeviations | None = None) -> str:
    """Return the file that expects just what a run found.

    The patterns are as few as simple means make them: each stands for cases of one verdict, and for no other case of
    the run.

    Parameters
    ----------
    run : Run
        The run.
    known : KnownDeviations, optional
        Where reasons are taken from: that of the first line with a case's verdict that matches the case, be it ever so
        broad. Without one a reason is still to be written.
    """
    groups: dict[_Group, set[_Pattern]] = {}
    verdicts: dict[_Pattern, Kind] = {}
    for result in run.results:
        parts = result.id.parts
        verdicts[parts] = result.verdict.kind
        group = _group(result, known)
        if group is not None:
            groups.setdefault(group, set()).add(parts)
    platform = environment()
    lines = [f"backend: {run.backend}", f"level: {run.selection.level.value}"]
    lines += [f"version: {name} {version}" for name, version in run.versions.items() if name not in platform]
    said = None
    for (reason, link, kinds), cases in sorted(groups.items(), key=lambda item: _place(item[0], known)):
        if (reason, link) != said:
            lines += ["", f"reason: {reason}", *([f"link: {link}"] if link else [])]
            said = reason, link
        patterns = sorted(_patterns(verdicts, kinds, cases))
        lines += (f"{' or '.join(kind.value for kind in kinds)}: {'/'.join(pattern)}" for pattern in patterns)
    return "\n".join([*lines, ""])


def _group(result: Result, known: KnownDeviations | None) -> _Group | None:
    """Return the reason, the link and the verdicts of the lines that a case belongs to; None if it needs none."""
    kind = result.verdict.kind
    for deviation in known.deviations if known else ():
        if kind in deviation.kinds and deviation.matches(result.id):
            return deviation.reason, deviation.link, deviation.kinds
    return (_UNEXPLAINED, "", (kind,)) if kind.deviates else None


def _place(group: _Group, known: KnownDeviations | None) -> tuple[int, str, list[int]]:
    """Return where a group stands: its reason where the known file has it, what is not explained last."""
    reason, link, kinds = group
    said = [(deviation.reason, deviation.link) for deviation in known.deviations] if known else []
    place = said.index((reason, link)) if (reason, link) in said else len(said)
    return place, reason, [list(Kind).index(kind) for kind in kinds]


def _patterns(verdicts: Mapping[_Pattern, Kind], kinds: tuple[Kind, ...], wanted: set[_Pattern]) -> Iterator[_Pattern]:
    """Yield patterns that match all of the wanted cases, none that would disagree and none of another reason."""
    refuted: set[_Pattern] = set()
    for parts, kind in verdicts.items():
        if parts not in wanted and not (kind is Kind.REFUSED_AS_REQUIRED and agrees(kind, kinds)):
            refuted.update(_matching(parts))
    candidates: dict[_Pattern, set[_Pattern]] = {}
    for parts in wanted:
        for pattern in _matching(parts):
            if pattern not in refuted:
                candidates.setdefault(pattern, set()).add(parts)
    while candidates:
        best = max(candidates, key=lambda pattern: (len(candidates[pattern]), pattern.count("*"), pattern))
        yield best
        matched = candidates[best]
        candidates = {pattern: rest for pattern, parts in candidates.items() if (rest := parts - matched)}


@lru_cache(maxsize=1 << 13)  # The cases of a run are gone through once for each group.
def _matching(parts: _Pattern) -> tuple[_Pattern, ...]:
    """Return the patterns of whole parts that match a case."""
    return tuple(product(*((part, "*") for part in parts)))
