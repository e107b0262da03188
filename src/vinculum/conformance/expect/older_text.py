"""The older format of known deviations: lines of text, with patterns of cases but no causes.

A file has lines of these forms; blank lines and those that begin with ``#`` are ignored::

    backend: onnxruntime
    level: default
    version: onnxruntime 1.31.1

    reason: MIN / -1 is left to an instruction that raises SIGFPE
    link: https://example.org/issues/1
    crashed: Div-*/int64/MIN divided by -1/*/*

``backend`` and ``level`` come first. Each ``version`` names a package. A ``reason`` applies to the lines below it, with
an optional ``link`` to a report. Every other line is a verdict and a pattern of case ids, part by part: ``*`` matches
anything within one of the five parts. A pattern of ``refused`` or ``not supported`` may match cases that are refused as
required, but no other passes. Where the verdict depends on the processor, the possible verdicts are joined:
``exact or off by ulps: Div-14/bfloat16/*/*/*``.
"""

from __future__ import annotations

from pathlib import Path

from vinculum.conformance.cases.case import Level
from vinculum.conformance.expect.known import PARTS, PATTERN, KnownCases, KnownDeviations
from vinculum.conformance.oracle.verdict import Kind
from vinculum.errors import ModelError
from vinculum.text import quoted

_KINDS = {kind.value: kind for kind in Kind}
_LEVELS = {level.value: level for level in Level}


def from_older_text(text: str, file: Path) -> KnownDeviations:
    """Return the known deviations in the text of a file.

    Raises
    ------
    ModelError
        If a line is invalid; the message names the file and the line's number.
    """
    head: dict[str, str] = {}
    versions: list[tuple[str, str]] = []
    cases: list[KnownCases] = []
    reason = link = ""
    for number, line in enumerate(text.splitlines(), 1):
        key, _, value = (part.strip() for part in line.partition(":"))
        if not key or key.startswith("#"):
            continue
        if key in ("reason", "link", "backend", "level") and not value:
            raise ModelError(f"line {number} of {file} has nothing after '{key}:'; add a value")
        if key in head:
            raise ModelError(f"line {number} of {file} gives '{key}' a second time; give it once")
        if key == "reason":
            reason, link = value, ""
        elif key == "link":
            link = value
        elif key in ("backend", "level"):
            head[key] = value
        elif key == "version" and len(value.split()) == 2:
            versions.append((value.split()[0], value.split()[1]))
        elif kinds := _kinds(key):
            cases.append(KnownCases(_pattern(value, file, number), kinds, reason, link, f"line {number}"))
            if not reason:
                raise ModelError(f"line {number} of {file} has no reason; write a line 'reason: ...' above it")
        else:
            verdicts = (name for name, kind in _KINDS.items() if not kind.passes)
            allowed = ", ".join(("backend", "level", "version", "reason", "link", *verdicts))
            raise ModelError(
                f"line {number} of {file} is {quoted(line)}; a line begins with one of {allowed} and a colon"
            )
    backend = _head(head, "backend", file)
    return KnownDeviations(file, backend, _level(head, file), tuple(versions), cases=tuple(cases))


def _kinds(key: str) -> tuple[Kind, ...]:
    """Return the verdicts that a line lists; empty if it lists other words, or passes only."""
    kinds = tuple(_KINDS[name] for name in key.split(" or ") if name in _KINDS)
    return kinds if len(kinds) == len(key.split(" or ")) and not all(kind.passes for kind in kinds) else ()


def _pattern(value: str, file: Path, number: int) -> tuple[str, ...]:
    pattern = tuple(value.split("/"))
    if len(pattern) != PARTS:
        raise ModelError(f"line {number} of {file} has the pattern {quoted(value)}; {PATTERN}")
    return pattern


def _head(head: dict[str, str], key: str, file: Path) -> str:
    if key not in head:
        raise ModelError(
            f"{file} has no line '{key}: ...'; --expect takes a file of known deviations, which --record writes"
        )
    return head[key]


def _level(head: dict[str, str], file: Path) -> Level:
    given = _head(head, "level", file)
    if given not in _LEVELS:
        raise ModelError(f"the level of {file} is {quoted(given)}; allowed: {', '.join(_LEVELS)}")
    return _LEVELS[given]
