"""Known deviations of a runtime in a strict file: all listed deviations must occur, and no others.

Causes are named as in a run of ``vinculum conform``; a cause must predict every bit of its deviating cases, and every
right quotient of the same circumstances. A cause counts only on processors and with versions that it ``requires``;
``processors`` are those on which the file was recorded. What deviates without a cause is listed by its id.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from pathlib import Path

import msgspec
from msgspec.structs import replace

from vinculum.conformance.arithmetic import Predictor
from vinculum.conformance.arithmetic.explain import written
from vinculum.conformance.cases.case import Level
from vinculum.conformance.run.installation import FEATURES, environment
from vinculum.conformance.run.record import Result, Run
from vinculum.errors import ModelError, VinculumError
from vinculum.files import read_bounded
from vinculum.spec.element_types import by_name
from vinculum.text import one_line, quoted

FEATURES_OF = "processor features"
"""The name of the features of the processor among the versions of a run."""


def is_such(requires: str, versions: Mapping[str, str]) -> bool:
    """Tell whether versions and features meet a requirement: ``"avx512f, no avx512_bf16"``, ``"openvino 2026.4"``."""
    return all(_has(word.strip(), versions) for word in requires.split(",") if requires)


def _has(word: str, versions: Mapping[str, str]) -> bool:
    name, _, version = word.removeprefix("no ").partition(" ")
    if version:
        held = f"{versions.get(name, '')}.".startswith(f"{version}.")
    else:
        held = name in versions.get(FEATURES_OF, "").split()
    return held is not word.startswith("no ")


class KnownCause(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A known cause, a table ``[[cause]]`` of a file: it must predict every case assigned to it, bit for bit.

    - `element_types`: The dividends' element types in its cases.
    - `arithmetic`, `rule`: What it is called after ``"arithmetic: "`` or ``"rule: "`` in a run; one of them is empty.
    - `link`: The address of a report, which may be empty.
    - `requires`: The processors and versions of which it is true, as `is_such` takes it; empty for all.
    - `reproducer`: A program of a few lines, ready for a report to the runtime's authors; it may be empty.
    """

    reason: str
    element_types: tuple[str, ...]
    arithmetic: str = ""
    rule: str = ""
    link: str = ""
    requires: str = ""
    reproducer: str = ""

    @property
    def name(self) -> str:
        """The name as in `vinculum.conformance.run.record.Cause`: ``"arithmetic: a * (1/b)"``."""
        return f"arithmetic: {self.arithmetic}" if self.arithmetic else f"rule: {self.rule}"

    def explains(self, result: Result) -> bool:
        """Tell whether a case deviates by this cause."""
        return result.cause == self.name and result.id.element_type in self.element_types


class KnownDeviations(msgspec.Struct, frozen=True, forbid_unknown_fields=True, rename={"causes": "cause"}):
    """The known deviations of one backend, a whole file.

    - `backend`: The backend, as in `Run.backend`.
    - `level`: The level of the run that they describe.
    - `versions`: The packages with which they were recorded.
    - `processors`: The processors on which they were recorded, each by what `is_such` takes; empty if that is not
      known.
    - `unexplained`: The ids of the cases that deviate without a known cause.
    - `causes`: The causes in the file's order.
    - `file`: The file from which they were read.
    """

    backend: str
    level: Level
    versions: dict[str, str] = {}
    processors: tuple[str, ...] = ()
    unexplained: tuple[str, ...] = ()
    causes: tuple[KnownCause, ...] = ()
    file: Path = Path()

    def on(self, versions: Mapping[str, str]) -> KnownDeviations:
        """Return the causes whose requirements are met by versions and processor features, as in `Run.versions`."""
        return replace(self, causes=tuple(cause for cause in self.causes if is_such(cause.requires, versions)))

    def differences(self, run: Run) -> Iterator[str]:
        """Yield a sentence for each difference between a run and the circumstances of the recording."""
        for package, version in self.versions.items():
            if (actual := run.versions.get(package)) != version:
                found = "it was not used" if actual is None else f"{actual} was used"
                yield f"The file is for {package} {version}; {found}."
        if self.processors and not any(is_such(processor, run.versions) for processor in self.processors):
            yield f"The file is for processors with {' or with '.join(self.processors)}; this one is another."

    def predictors(self) -> tuple[Predictor, ...]:
        """Return the causes as they predict answers."""
        return tuple(written(cause.name, [by_name(name) for name in cause.element_types]) for cause in self.causes)

    def reason(self, result: Result) -> tuple[str, str] | None:
        """Return the reason and the link of the cause of a case; None if it is not known."""
        return next(((cause.reason, cause.link) for cause in self.causes if cause.explains(result)), None)


class Disagreement(Enum):
    """How a run and a file disagree."""

    NEW_FAILURE = "new failure"
    UNEXPECTED_PASS = "unexpected pass"
    UNUSED = "unused"


@dataclass(frozen=True)
class Mismatch:
    """A disagreement between a run and a file of known deviations.

    - `result`: The result of the case; None for what no case of the run has.
    - `unused`: The name of the cause, or the id of the unexplained case, that no case of the run has.
    """

    how: Disagreement
    result: Result | None = None
    unused: str = ""


def mismatches(run: Run, known: KnownDeviations) -> tuple[Mismatch, ...]:
    """Return the disagreements between a run and the known deviations; empty if all is as expected.

    Causes that require another processor or version count for nothing. An unused one is a mismatch too if the run
    included every case of the file's level: the runtime may have been repaired, or a case renamed.
    """
    known, found, unexplained = known.on(run.versions), list[Mismatch](), set(known.unexplained)
    used, ids = set[str](), set[str]()
    for result in run.results:
        id, deviates = str(result.id), result.verdict.kind.deviates
        ids.add(id)
        own = [cause.name for cause in known.causes if deviates and cause.explains(result)]
        used.update(own)
        if id in unexplained and not deviates:
            found.append(Mismatch(Disagreement.UNEXPECTED_PASS, result))
        elif deviates and not own and (id not in unexplained or result.cause):
            found.append(Mismatch(Disagreement.NEW_FAILURE, result))
    if not run.selection.only and run.selection.level >= known.level:
        names = [cause.name for cause in known.causes if cause.name not in used]
        names += [id for id in known.unexplained if id not in ids]
        found += (Mismatch(Disagreement.UNUSED, unused=name) for name in dict.fromkeys(names))
    return tuple(found)


_LARGEST = 16 << 20  # Bytes.


def read_known_deviations(file: Path) -> KnownDeviations:
    """Return the content of a file.

    ModelError if the content is invalid; the message names the file and the position in it. OSError if it cannot be
    read.
    """
    content = read_bounded(file, _LARGEST, "a file of known deviations")
    try:
        text = content.decode("utf-8-sig")
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

    - `known`: An earlier file. Its causes keep their reasons, links and requirements, and those that require another
      processor or version are kept as they are. The reason of a new cause is its statement.
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
