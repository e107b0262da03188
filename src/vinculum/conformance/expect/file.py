"""A file of known deviations, as TOML.

::

    backend = "openvino"
    level = "default"
    versions = { openvino = "2026.4.1" }
    processors = ["x86_64, avx512_bf16"]
    unexplained = ["Div-14/float/x divided by itself/equal shapes/run-time operands"]

    [[cause]]
    arithmetic = "a * (1/b)"
    element_types = ["float16", "float"]
    reason = "the CPU device multiplies by the reciprocal"
    link = "https://example.org/issues/1"

    [[cause]]
    rule = "crashed: SIGFPE where MIN / -1"
    element_types = ["int32", "int64"]
    requires = "x86_64, openvino 2026.4"
    reason = "MIN / -1 is left to an instruction that raises SIGFPE"
    reproducer = "session.run(None, {'A': [-2**31], 'B': [-1]})"

Causes are named as in a run of ``vinculum conform``; a cause must predict every bit of its deviating cases, and every
passing case of the same circumstances. A cause counts only on processors and with versions that it ``requires``;
``processors`` are those on which the file was recorded. A cause may have a ``reproducer``, a program of a few lines.
What deviates without a cause is listed by its id.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from pathlib import Path

import msgspec

from vinculum.conformance.arithmetic.explain import written
from vinculum.conformance.cases.case import Level
from vinculum.conformance.expect.known import KnownCause, KnownDeviations, is_such
from vinculum.conformance.run.installation import FEATURES, environment
from vinculum.conformance.run.record import Run
from vinculum.errors import ModelError, VinculumError
from vinculum.files import read_bounded
from vinculum.spec.element_types import by_name
from vinculum.text import one_line, quoted

_LARGEST = 16 << 20  # Bytes.


def read_known_deviations(file: Path) -> KnownDeviations:
    """Return the content of a file.

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
    try:
        read = msgspec.toml.decode(text, type=KnownDeviations)
    except msgspec.DecodeError as error:
        raise ModelError(f"{file} is not a file of known deviations: {one_line(error)}{_allowed(str(error))}") from None
    for words in read.processors:
        _check_requirement(words, file)
    for number, cause in enumerate(read.causes, 1):
        _check_cause(cause, f"[[cause]] {number} of {file}")
    return msgspec.structs.replace(read, file=file)


def _allowed(words: str) -> str:
    """Return a list of the allowed names or values for an error message of the parser."""
    if "unknown field" in words:
        allowed = KnownCause.__struct_fields__ if "$.cause[" in words else KnownDeviations.__struct_encode_fields__[:-1]
    elif "enum" in words:
        allowed = tuple(level.value for level in Level)
    else:
        return ""
    return f"; allowed: {', '.join(allowed)}"


def _check_requirement(words: str, where: object) -> None:
    for word in words.split(","):
        name, _, version = word.strip().removeprefix("no ").partition(" ")
        if not version and name not in FEATURES:
            allowed = f"{', '.join(FEATURES)}, or a package and its version"
            raise ModelError(f"{where} names the processor feature {quoted(name)}; allowed: {allowed}")


def _check_cause(cause: KnownCause, where: str) -> None:
    if bool(cause.arithmetic) == bool(cause.rule):
        which = "both arithmetic and rule" if cause.rule else "neither arithmetic nor rule"
        raise ModelError(f"{where} has {which}; give one")
    if not (cause.reason and cause.element_types):
        raise ModelError(f"{where} has no {'element_types' if cause.reason else 'reason'}")
    try:
        written(cause.name, [by_name(each) for each in cause.element_types])
    except VinculumError as error:
        raise ModelError(f"{where}: {one_line(error)}") from None
    if cause.requires:
        _check_requirement(cause.requires, where)


def as_toml(run: Run, known: KnownDeviations | None = None) -> str:
    """Return the file that expects exactly the deviations of a run.

    Parameters
    ----------
    run : Run
        The run.
    known : KnownDeviations, optional
        An earlier file. Its causes keep their reasons, links and requirements, and those that require another processor
        or version are kept as they are. The reason of a new cause is its statement.
    """
    platform = environment()
    versions = {name: version for name, version in run.versions.items() if name not in platform}
    processors = [each for each in known.processors if is_such(each, run.versions)] if known else []
    unexplained = [str(one.id) for one in run.unexplained]
    parts = [
        f"backend = {_quoted(run.backend)}",
        f"level = {_quoted(run.selection.level.value)}",
        f"versions = {{ {', '.join(f'{_quoted(name)} = {_quoted(version)}' for name, version in versions.items())} }}",
    ]
    if processors:
        parts.append(f"processors = {_quoted(processors)}")
    if unexplained:
        parts += ["unexplained = [", *(f"    {_quoted(id)}," for id in unexplained), "]"]
    here = known.on(run.versions).causes if known else ()
    for cause in run.causes:
        left = list(dict.fromkeys(one.id.element_type for one in run.results if one.cause == cause.name))
        for earlier in (one for one in here if one.name == cause.name):
            if types := [element_type for element_type in earlier.element_types if element_type in left]:
                left = [element_type for element_type in left if element_type not in types]
                parts += _entry(earlier, types)
        if left:
            kind, _, form = cause.name.partition(": ")
            parts += _entry(KnownCause(cause.statement, (), **{kind: form}), left)
    for elsewhere in (one for one in known.causes if one not in here) if known else ():
        parts += _entry(elsewhere, elsewhere.element_types)
    return "\n".join([*parts, ""])


def _entry(cause: KnownCause, element_types: Sequence[str]) -> Iterator[str]:
    yield from ("", "[[cause]]")
    told = {"arithmetic": cause.arithmetic, "rule": cause.rule, "element_types": element_types}
    told |= {name: getattr(cause, name) for name in ("requires", "reason", "link")}
    yield from (f"{name} = {_quoted(value)}" for name, value in told.items() if value)
    if cause.reproducer:
        yield f"reproducer = '''\n{cause.reproducer}'''"


def _quoted(value: str | Sequence[str]) -> str:
    """Return a text, or a list of texts, as TOML, whose syntax for them is that of JSON except for DEL."""
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
