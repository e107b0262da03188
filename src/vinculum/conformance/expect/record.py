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
from vinculum.conformance.expect.known import KnownCases, KnownCause, KnownDeviations, is_such
from vinculum.conformance.oracle.verdict import Kind

_UNEXPLAINED = "not explained yet"

_Why = tuple[str, str, str]  # reason, link, requires
_Group = tuple[_Why, tuple[Kind, ...]]
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
        An earlier file, from which reasons are taken, with their links and what they require: for a cause, the most
        common reason of its cases; without it, the cause's statement. Its entries that allow several verdicts are kept,
        and those that require another processor.
    """
    platform = environment()
    versions = {name: version for name, version in run.versions.items() if name not in platform}
    parts = [
        f"backend = {_quoted(run.backend)}",
        f"level = {_quoted(run.selection.level.value)}",
        f"versions = {{ {', '.join(f'{_quoted(name)} = {_quoted(version)}' for name, version in versions.items())} }}",
    ]
    here = known.on(run.features) if known else None
    if known and (processors := [each for each in known.processors if is_such(each, run.features)]):
        parts.append(f"processors = {_quoted(processors)}")
    loose = {result.id: entry for result in run.results if (entry := _any_of_several(result, here)) is not None}
    for cause in run.causes:
        own = [one for one in run.results if one.cause == cause.name and one.id not in loose]
        if own:
            parts += ["", *_cause(cause, own, here)]
    groups = _groups(run, loose, here)
    if known and here:
        for elsewhere in (entry for entry in known.causes if entry not in here.causes):
            parts += ["", *_cause_lines(elsewhere.name, elsewhere.element_types, _why(elsewhere))]
        for pattern in (entry for entry in known.cases if entry not in here.cases):
            groups.setdefault((_why(pattern), pattern.kinds), set()).add(pattern.pattern)
    parts += _cases(groups)
    return "\n".join([*parts, ""])


def _any_of_several(result: Result, known: KnownDeviations | None) -> KnownCases | None:
    """Return the entry that allows a case several verdicts, depending on the processor; None if there is none."""
    for entry in known.cases if known else ():
        if len(entry.kinds) > 1 and result.verdict.kind in entry.kinds and entry.matches(result.id):
            return entry
    return None


def _cause(cause: Cause, own: Sequence[Result], known: KnownDeviations | None) -> Iterator[str]:
    told = Counter(_why(entry) for one in own if known and (entry := next(known.entries(one), None)))
    why = told.most_common(1)[0][0] if told else (cause.statement, "", "")
    yield from _cause_lines(cause.name, list(dict.fromkeys(one.id.element_type for one in own)), why)


def _cause_lines(name: str, element_types: Sequence[str], why: _Why) -> Iterator[str]:
    kind, _, form = name.partition(": ")
    yield "[[cause]]"
    yield f"{kind} = {_quoted(form)}"
    yield f"element_types = {_quoted(element_types)}"
    yield from _why_lines(why)


def _why(entry: KnownCause | KnownCases) -> _Why:
    return entry.reason, entry.link, entry.requires


def _why_lines(why: _Why) -> Iterator[str]:
    reason, link, requires = why
    if requires:
        yield f"requires = {_quoted(requires)}"
    yield f"reason = {_quoted(reason)}"
    if link:
        yield f"link = {_quoted(link)}"


def _groups(run: Run, loose: Mapping[CaseId, KnownCases], known: KnownDeviations | None) -> dict[_Group, set[_Pattern]]:
    """Return the patterns of the cases that no cause predicts, by their reasons and verdicts."""
    groups: dict[_Group, set[_Pattern]] = {}
    for result in run.results:
        entry = loose.get(result.id)
        if entry is not None:
            group: _Group = _why(entry), entry.kinds
        elif result.verdict.kind.deviates and not result.cause:
            told = next(known.entries(result), None) if known else None
            group = _why(told) if told else (_UNEXPLAINED, "", ""), (result.verdict.kind,)
        else:
            continue
        groups.setdefault(group, set()).add(result.id.parts)
    verdicts: dict[_Pattern, Kind] = {result.id.parts: result.verdict.kind for result in run.results}
    return {group: set(_patterns(verdicts, group[1], cases)) for group, cases in groups.items()}


def _cases(groups: Mapping[_Group, set[_Pattern]]) -> Iterator[str]:
    for (why, kinds), patterns in groups.items():
        yield from ("", "[[cases]]", f"verdicts = {_quoted([kind.value for kind in kinds])}", "ids = [")
        yield from (f"    {_quoted('/'.join(pattern))}," for pattern in sorted(patterns))
        yield "]"
        yield from _why_lines(why)


def _quoted(value: str | Sequence[str]) -> str:
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
