"""The answers that any program wrote to an export, judged as those of a runtime: the backend ``answers:DIR``."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from fnmatch import fnmatchcase
from hashlib import file_digest
from io import BufferedReader
from math import prod
from pathlib import Path
from typing import TypeVar

import msgspec
from msgspec import UNSET, Struct

from vinculum.conformance.arithmetic import Answered
from vinculum.conformance.cases.case import Level
from vinculum.conformance.run.judgement import judge
from vinculum.conformance.run.record import Selection
from vinculum.conformance.runtimes.protocol import check_names
from vinculum.conformance.vectors.export import CASES, INDEX
from vinculum.conformance.vectors.records import SCHEMA, AnswerLine, CaseLine, Index, Tensor, array_of, case_of, type_of
from vinculum.errors import AttributeValueError, ModelError
from vinculum.files import regular_size
from vinculum.sandbox import Answer, End
from vinculum.text import listed, quoted

_LINES = "answers.jsonl"
_MOST = 1 << 34  # The largest file in bytes; files of cases and answers are read line by line.
_ENDS = {"refused": End.REFUSED, "unsupported": End.UNSUPPORTED, "crashed": End.CRASHED, "hung": End.HUNG}
_R = TypeVar("_R", bound=Struct)


class GivenAnswers:
    """The answers of a program to an export; nothing is run.

    - `folder`: The export, with ``answers.jsonl``.
    - `options`: ``from``: such a file elsewhere.

    ModelError if the folder is not an export, or its cases were changed. AttributeValueError if there is another
    option.
    """

    def __init__(self, folder: Path, options: Mapping[str, str]) -> None:
        check_names("answers:", options, ("from",))
        self._index = _index(folder)
        self._from = Path(options["from"]) if "from" in options else folder / _LINES
        self._folder = folder
        self.title = f"the program that wrote {self._from}"

    def versions(self) -> Mapping[str, str]:
        """Return the version that wrote the export; the program and its processor are not known."""
        return {"vinculum that exported": self._index.versions.get("vinculum", "unknown")}

    def selection(self, asked: Selection) -> Selection:
        """Return a selection of the export's level, for which another may not be asked.

        AttributeValueError if another is.
        """
        level = Level(self._index.level)
        if asked.level not in (Level.DEFAULT, level):
            raise AttributeValueError(
                f"{str(self._folder)!r} is an export of the {level.value} level; leave --{asked.level.value} out"
            )
        return Selection(level, asked.only or self._index.only)

    def answered(self, only: tuple[str, ...]) -> Iterator[Answered]:
        """Yield the cases of the export that a pattern matches, if there are patterns, with the answers.

        ModelError if a file cannot be read, a case has no answer, or an answer has no case. AttributeValueError if a
        pattern matches no case.
        """
        given, idle, missing = _given(self._from), set(only), []
        for line in _records(self._folder / CASES, CaseLine):
            matching = [pattern for pattern in only if fnmatchcase(line.id, pattern)]
            idle.difference_update(matching)
            found = given.pop(line.id, None)
            if not matching and only:
                continue
            if found is None:
                missing.append(line.id)
                continue
            try:
                answer = _answer(found, line.quotient)
            except ModelError as error:
                raise ModelError(f"{str(self._from)!r}: {error}") from None
            try:
                case = case_of(line, Level(self._index.level))
            except ModelError as error:
                raise ModelError(f"the case {quoted(line.id)} cannot be read: {error}") from None
            yield Answered(case, answer, judge(case.operation, case.expectation, answer))
        if given:
            raise ModelError(f"{str(self._from)!r} answers cases that the export does not have: {listed([*given])}")
        if missing:
            raise ModelError(
                f"{str(self._from)!r} has no answer to {len(missing):,} cases, such as {quoted(missing[0])}; write why "
                "(refused, unsupported, crashed or hung), or choose cases by --only"
            )
        if idle:
            patterns = [pattern for pattern in only if pattern in idle]
            raise AttributeValueError(f"no case of {str(self._folder)!r} matches {listed(patterns)}; * is anything")


def _given(path: Path) -> dict[str, AnswerLine]:
    """Return the answers of a program by the cases' ids."""
    if not path.exists():
        raise ModelError(f"there are no answers {str(path)!r}; give a file of JSON lines")
    given: dict[str, AnswerLine] = {}
    for line in _records(path, AnswerLine):
        if line.id in given:
            raise ModelError(f"{str(path)!r} answers {quoted(line.id)} twice")
        given[line.id] = line
    if not given:
        raise ModelError(f"{str(path)!r} holds no answer; give a file of JSON lines")
    return given


def _answer(given: AnswerLine, expected: Tensor | None) -> Answer:
    """Return the answer in a line.

    ModelError if it has no answer or several, or elements that cannot be read.
    """
    told = [name for name in ("elements", *_ENDS) if getattr(given, name) is not UNSET]
    if len(told) != 1:
        raise ModelError(
            f"the answer to {quoted(given.id)} has {', '.join(told) or 'nothing'}; allowed is one of elements, "
            f"{', '.join(_ENDS)}"
        )
    if told != ["elements"]:
        return Answer(_ENDS[told[0]], None, " ".join(str(getattr(given, told[0])).split()))
    if expected is None and (given.type is UNSET or given.shape is UNSET):
        return Answer(End.RETURNED, None)  # Any value is wrong, as the case must be refused.
    type_name = given.type if isinstance(given.type, str) else expected.type if expected else ""
    shape = given.shape if isinstance(given.shape, tuple) else _shape(str(given.elements), expected)
    try:
        array, unspecified = array_of(str(given.elements), shape, type_of(Tensor(type_name, shape, "")))
    except ModelError as error:
        raise ModelError(f"the answer to {quoted(given.id)}: {error}") from None
    if unspecified.any():
        raise ModelError(f"the answer to {quoted(given.id)} has a dash for an element; write the quotient, or refuse")
    return Answer(End.RETURNED, array)


def _shape(elements: str, expected: Tensor | None) -> tuple[int, ...]:
    """Return the shape of elements given without one: the expected shape if the number of elements matches."""
    count = len(elements.split())
    return expected.shape if expected is not None and prod(expected.shape) == count else (count,)


def _index(folder: Path) -> Index:
    """Return the index of an export; refuse one of another layout, or one whose cases were changed."""
    path = folder / INDEX
    if not path.is_file():
        raise ModelError(f"{str(folder)!r} is not an export: it has no {INDEX}; make one by vinculum vectors export")
    try:
        with _opened(path) as file:
            found: object = msgspec.json.decode(file.read())
        if not isinstance(found, dict) or found.get("schema") != SCHEMA:
            raise ModelError(f"{str(path)!r} is not of layout {SCHEMA}; export the cases again")
        index = msgspec.convert(found, Index)
    except msgspec.DecodeError as error:
        raise ModelError(f"{str(path)!r} is not an index: {error}") from None
    digests = {file.path: file.sha256 for file in index.files}
    with _opened(folder / CASES) as file:
        digest = file_digest(file, "sha256").hexdigest()
    if digest != digests.get(CASES) or index.level not in {level.value for level in Level}:
        raise ModelError(f"{str(folder / CASES)!r} does not match {INDEX}; export the cases again")
    return index


def _records(path: Path, kind: type[_R]) -> Iterator[_R]:
    """Yield the lines of a file, each as a record."""
    decoder = msgspec.json.Decoder(kind)
    with _opened(path) as file:
        for number, line in enumerate(file, 1):
            if not line.strip():
                continue
            try:
                yield decoder.decode(line)
            except (msgspec.DecodeError, UnicodeDecodeError) as error:
                raise ModelError(f"{str(path)!r}, line {number}: {error}") from None


def _opened(path: Path) -> BufferedReader:
    """Open an ordinary file; pipes and devices are refused, as they could be endless."""
    try:
        if regular_size(path) > _MOST:
            raise ModelError(f"{str(path)!r} is larger than {_MOST >> 30} GiB")
        return path.open("rb")
    except OSError as error:
        reason = f"{str(path)!r} cannot be read: {error.strerror}" if error.strerror else str(error)
        raise ModelError(f"{reason}; give an ordinary file") from None
