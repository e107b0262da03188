"""A file of known deviations, as TOML.

::

    backend = "openvino"
    level = "default"
    versions = { openvino = "2026.4.1" }
    processors = ["x86_64, avx512_bf16"]

    [[cause]]
    arithmetic = "a * (1/b)"
    element_types = ["float16", "float"]
    reason = "the CPU device multiplies by the reciprocal"
    link = "https://example.org/issues/1"

    [[cause]]
    rule = "crashed: SIGFPE where MIN / -1"
    element_types = ["int32", "int64"]
    reason = "MIN / -1 is left to an instruction that raises SIGFPE"

    [[cases]]
    verdicts = ["exact", "off by ulps"]
    ids = ["Div-14/bfloat16/*/*/*"]
    requires = "no avx512_bf16"
    reason = "bfloat16 is computed in float where the processor has no instructions for it"

Causes are named as in a run of ``vinculum conform``; a cause must predict every bit of its deviating cases. Cases are
given by patterns of ids, part by part: ``*`` matches anything within one of the five parts. A pattern of ``refused`` or
``not supported`` may match cases that are refused as required, but no other passes. An entry counts only on processors
that it ``requires``; ``processors`` are those on which the file was recorded.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from pathlib import Path

import msgspec

from vinculum.conformance.arithmetic.explain import written
from vinculum.conformance.cases.case import Level
from vinculum.conformance.execute.installation import FEATURES
from vinculum.conformance.expect.known import PARTS, PATTERN, KnownCases, KnownCause, KnownDeviations
from vinculum.conformance.expect.older_text import from_older_text
from vinculum.conformance.oracle.verdict import Kind
from vinculum.errors import ModelError, VinculumError
from vinculum.files import read_bounded
from vinculum.spec.element_types import by_name
from vinculum.text import one_line, quoted

_LARGEST = 16 << 20  # Bytes.
_TOML = re.compile(r"\s*(#[^\n]*\n\s*)*(\[|[\w.]+\s*=)")


class CauseEntry(msgspec.Struct, forbid_unknown_fields=True):
    """A table ``[[cause]]``."""

    reason: str
    element_types: tuple[str, ...]
    arithmetic: str = ""
    rule: str = ""
    link: str = ""
    requires: str = ""


class CasesEntry(msgspec.Struct, forbid_unknown_fields=True):
    """A table ``[[cases]]``."""

    reason: str
    verdicts: tuple[Kind, ...]
    ids: tuple[str, ...]
    link: str = ""
    requires: str = ""


class Content(msgspec.Struct, forbid_unknown_fields=True):
    """A whole file."""

    backend: str
    level: Level
    versions: dict[str, str] = {}
    processors: tuple[str, ...] = ()
    cause: tuple[CauseEntry, ...] = ()
    cases: tuple[CasesEntry, ...] = ()


def read_known_deviations(file: Path) -> KnownDeviations:
    """Return the content of a file, in TOML or in the older format, which had patterns only.

    Raises
    ------
    ModelError
        If the content is invalid; the message names the file and the position in it.
    OSError
        If it cannot be read.
    """
    content = read_bounded(file, _LARGEST, "a file of known deviations")
    try:
        text = content.decode("utf-8")
    except UnicodeDecodeError:
        raise ModelError(f"{file} is not a text file in UTF-8; --expect takes a file of known deviations") from None
    if text.lstrip().startswith("{"):
        raise ModelError(f"{file} is JSON; --expect takes a file of known deviations, which --record writes")
    if not _TOML.match(text):
        return from_older_text(text, file)
    try:
        read = msgspec.toml.decode(text, type=Content)
    except msgspec.DecodeError as error:
        raise ModelError(f"{file} is not a file of known deviations: {one_line(error)}{_allowed(str(error))}") from None
    for words in read.processors:
        _check_processor(words, file)
    return KnownDeviations(
        file,
        read.backend,
        read.level,
        tuple(read.versions.items()),
        read.processors,
        tuple(_causes(read, file)),
        tuple(_cases(read, file)),
    )


def _allowed(words: str) -> str:
    """Return a list of the allowed names or values for an error message of the parser."""
    allowed: Iterable[str]
    if "unknown field" in words:
        entry = CauseEntry if "$.cause[" in words else CasesEntry if "$.cases[" in words else Content
        allowed = entry.__struct_fields__
    elif "enum" in words:
        allowed = (kind.value for kind in (Level if "$.level" in words else Kind))
    else:
        return ""
    return f"; allowed: {', '.join(allowed)}"


def _check_processor(words: str, where: object) -> None:
    for word in words.split(","):
        if (name := word.strip().removeprefix("no ")) not in FEATURES:
            raise ModelError(f"{where} names the processor feature {quoted(name)}; allowed: {', '.join(FEATURES)}")


def _causes(read: Content, file: Path) -> Iterator[KnownCause]:
    for number, entry in enumerate(read.cause, 1):
        where = f"[[cause]] {number}"
        if bool(entry.arithmetic) == bool(entry.rule):
            which = "both arithmetic and rule" if entry.rule else "neither arithmetic nor rule"
            raise ModelError(f"{where} of {file} has {which}; give one")
        if not (entry.reason and entry.element_types):
            raise ModelError(f"{where} of {file} has no {'element_types' if entry.reason else 'reason'}")
        name = f"arithmetic: {entry.arithmetic}" if entry.arithmetic else f"rule: {entry.rule}"
        try:
            written(name, [by_name(each) for each in entry.element_types])
        except VinculumError as error:
            raise ModelError(f"{where} of {file}: {one_line(error)}") from None
        if entry.requires:
            _check_processor(entry.requires, f"{where} of {file}")
        yield KnownCause(name, entry.element_types, entry.reason, entry.link, where, entry.requires)


def _cases(read: Content, file: Path) -> Iterator[KnownCases]:
    for number, entry in enumerate(read.cases, 1):
        where = f"[[cases]] {number}"
        if not (entry.reason and entry.verdicts and entry.ids):
            raise ModelError(f"{where} of {file} lacks a reason, verdicts or ids; give all three")
        if all(kind.passes for kind in entry.verdicts):
            raise ModelError(f"{where} of {file} lists passes only; what passes needs no entry")
        if entry.requires:
            _check_processor(entry.requires, f"{where} of {file}")
        for place, text in enumerate(entry.ids, 1):
            pattern = tuple(text.split("/"))
            if len(pattern) != PARTS:
                raise ModelError(f"{where} of {file} has the pattern {quoted(text)}; {PATTERN}")
            here = f"{where}, pattern {place}"
            yield KnownCases(pattern, entry.verdicts, entry.reason, entry.link, here, entry.requires)
