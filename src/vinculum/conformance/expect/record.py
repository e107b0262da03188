"""Writing the deviations in a run as a file of known deviations."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import product

from vinculum.conformance.cases.case import CaseId
from vinculum.conformance.execute.installation import environment
from vinculum.conformance.execute.run import Cause, Result, Run
from vinculum.conformance.expect.known import KnownCases, KnownDeviations
from vinculum.conformance.oracle.verdict import Kind

_UNEXPLAINED = "not explained yet"

_Why = tuple[str, str, tuple[Kind, ...]]
_Pattern = tuple[str, ...]


def as_toml(run: Run, known: KnownDeviations | None = None) -> str:
    """Return the file that expects exactly the deviations of a run.

    Cases that a cause predicts are covered by the cause. The others are covered by patterns, a small number found
    greedily; each matches cases of one verdict, and no other case of the run.

    Parameters
    ----------
    run : Run
        The run.
    known : KnownDeviations, optional
        An earlier file, from which reasons are taken: for a cause, the most common reason of its cases; without it, the
        cause's statement. Its entries that allow several verdicts are kept.
    """
    platform = environment()
    versions = {name: version for name, version in run.versions.items() if name not in platform}
    parts = [
        f"backend = {_quoted(run.backend)}",
        f"level = {_quoted(run.selection.level.value)}",
        f"versions = {{ {', '.join(f'{_quoted(name)} = {_quoted(version)}' for name, version in versions.items())} }}",
    ]
    loose = {result.id: entry for result in run.results if (entry := _any_of_several(result, known)) is not None}
    for cause in run.causes:
        own = [one for one in run.results if one.cause == cause.name and one.id not in loose]
        if own:
            parts += ["", *_cause(cause, own, known)]
    parts += _cases(run, loose, known)
    return "\n".join([*parts, ""])


def _any_of_several(result: Result, known: KnownDeviations | None) -> KnownCases | None:
    """Return the entry that allows a case several verdicts, depending on the processor; None if there is none."""
    for entry in known.cases if known else ():
        if len(entry.kinds) > 1 and result.verdict.kind in entry.kinds and entry.matches(result.id):
            return entry
    return None


def _cause(cause: Cause, own: Sequence[Result], known: KnownDeviations | None) -> Iterator[str]:
    told = Counter(why for one in own if known is not None and (why := known.reason(one)) is not None)
    reason, link = told.most_common(1)[0][0] if told else (cause.statement, "")
    kind, _, form = cause.name.partition(": ")
    types = list(dict.fromkeys(one.id.element_type for one in own))
    yield "[[cause]]"
    yield f"{kind} = {_quoted(form)}"
    yield f"element_types = {_quoted(types)}"
    yield f"reason = {_quoted(reason)}"
    if link:
        yield f"link = {_quoted(link)}"


def _cases(run: Run, loose: Mapping[CaseId, KnownCases], known: KnownDeviations | None) -> Iterator[str]:
    groups: dict[_Why, set[_Pattern]] = {}
    for result in run.results:
        entry = loose.get(result.id)
        if entry is not None:
            why: _Why = entry.reason, entry.link, entry.kinds
        elif result.verdict.kind.deviates and not result.cause:
            told = known.reason(result) if known else None
            why = (*(told or (_UNEXPLAINED, "")), (result.verdict.kind,))
        else:
            continue
        groups.setdefault(why, set()).add(result.id.parts)
    verdicts: dict[_Pattern, Kind] = {result.id.parts: result.verdict.kind for result in run.results}
    for (reason, link, kinds), cases in groups.items():
        yield from ("", "[[cases]]", f"verdicts = {_quoted([kind.value for kind in kinds])}", "ids = [")
        yield from (f"    {_quoted('/'.join(pattern))}," for pattern in sorted(_patterns(verdicts, kinds, cases)))
        yield from ("]", f"reason = {_quoted(reason)}", *([f"link = {_quoted(link)}"] if link else []))


def _quoted(value: str | list[str]) -> str:
    """Return a text, or a list of texts, as TOML, whose syntax for them is that of JSON except for DEL."""
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")


def _patterns(verdicts: Mapping[_Pattern, Kind], kinds: tuple[Kind, ...], wanted: set[_Pattern]) -> Iterator[_Pattern]:
    """Yield patterns that match all wanted cases, and no cases with another verdict or another reason."""
    refuted: set[_Pattern] = set()
    for parts, kind in verdicts.items():
        if parts not in wanted and not (kind is Kind.REFUSED_AS_REQUIRED and Kind.REFUSED in kinds):
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


@lru_cache(maxsize=1 << 13)  # Each group iterates over all cases of the run.
def _matching(parts: _Pattern) -> tuple[_Pattern, ...]:
    """Return the patterns of whole parts that match a case."""
    return tuple(product(*((part, "*") for part in parts)))
