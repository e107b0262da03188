"""Verdicts on the answers of any program to an export, by the same judge as a run of the suite."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from hashlib import file_digest
from io import BufferedReader
from math import prod
from pathlib import Path
from typing import TypeVar

import msgspec
import numpy as np
from msgspec import UNSET, Struct

from vinculum.conformance.oracle.judgement import judge
from vinculum.conformance.oracle.verdict import Kind, Verdict
from vinculum.conformance.vectors.elements import array_of
from vinculum.conformance.vectors.export import CASES, CONVENTIONS, INDEX
from vinculum.conformance.vectors.lines import expectation_of, operation_of, type_of
from vinculum.conformance.vectors.npy import read_array
from vinculum.conformance.vectors.records import SCHEMA, AnswerLine, CaseLine, ConventionLine, Index, Tensor
from vinculum.errors import AttributeValueError, ModelError
from vinculum.files import regular_size
from vinculum.sandbox import Answer, End
from vinculum.tensors.storage import dtype_of
from vinculum.text import listed, quoted

_MOST = 1 << 34  # The largest file in bytes; files of cases and answers are read line by line.
_ENDS = {
    "refused": End.REFUSED,
    "unsupported": End.UNSUPPORTED,
    "crashed": End.CRASHED,
    "hung": End.HUNG,
}
_R = TypeVar("_R", bound=Struct)


@dataclass(frozen=True)
class Judged:
    """The verdict on an answer.

    Attributes
    ----------
    id : str
        The id of the case or the convention.
    verdict : Verdict or None
        The verdict, as in a run of the suite; None if there is no answer.
    """

    id: str
    verdict: Verdict | None

    @property
    def fails(self) -> bool:
        """Whether the answer is wrong or missing."""
        return self.verdict is None or self.verdict.kind.deviates


def judged(folder: Path, answers: Path, only: Sequence[str] = ()) -> Iterator[Judged]:
    """Yield the verdict on every answer to an export, in the order of its cases.

    The rows of conventions need no answer, as no program divides by all of them; those with an answer are judged.

    Parameters
    ----------
    folder : Path
        The export.
    answers : Path
        A file of JSON lines, or a folder of ``NAME.npy`` files with an ``answers.jsonl`` for cases without quotients.
    only : sequence of str
        Glob patterns on the ids; other cases need no answer.

    Raises
    ------
    ModelError
        If a file cannot be read or does not belong to the export, or if an answer has no case.
    AttributeValueError
        If a pattern matches no case.
    """
    _check_index(folder)
    given = _Answers(answers)
    matched: set[str] = set()
    for line in _records(folder / CASES, CaseLine):
        matching = [pattern for pattern in only if fnmatchcase(line.id, pattern)]
        matched.update(matching)
        answer = given.answer(line.id, line.name, line.quotient)
        if not only or matching:
            yield Judged(line.id, None if answer is None else _verdict(line, answer))
    if (folder / CONVENTIONS).is_file():
        for row in _records(folder / CONVENTIONS, ConventionLine):
            matching = [pattern for pattern in only if fnmatchcase(row.id, pattern)]
            matched.update(matching)
            answer = given.answer(row.id, None, row.quotient or row.operands[0])
            if answer is not None and (not only or matching):
                yield Judged(row.id, _verdict(row, answer))
    given.check()
    idle = [pattern for pattern in only if pattern not in matched]
    if idle:
        raise AttributeValueError(f"no case of {str(folder)!r} matches {listed(idle)}; * stands for anything")


def counts(results: Sequence[Judged]) -> dict[str, int]:
    """Return the number of answers with each verdict, passes first and ``"not answered"`` last."""
    found = Counter("not answered" if one.verdict is None else one.verdict.kind.value for one in results)
    order = [*(kind.value for kind in Kind), "not answered"]
    return {name: found[name] for name in order if found[name]}


class _Answers:
    """The answers of a program, by id or by name."""

    def __init__(self, path: Path) -> None:
        if not path.exists():
            raise ModelError(
                f"there are no answers {str(path)!r}; give a file of JSON lines, or a folder of .npy files"
            )
        lines = path / "answers.jsonl" if path.is_dir() else path
        self._path, self._file = path, lines
        self._lines: dict[str, AnswerLine] = {}
        self._arrays: set[str] = set()
        if path.is_dir():
            self._arrays = {file.stem for file in path.glob("*.npy")}
        if lines.is_file() or not path.is_dir():
            for line in _records(lines, AnswerLine):
                if line.id in self._lines:
                    raise ModelError(f"{str(lines)!r} answers {quoted(line.id)} twice")
                self._lines[line.id] = line
        if not self._lines and not self._arrays:
            raise ModelError(f"{str(path)!r} holds no answer; give a file of JSON lines, or a folder of .npy files")

    def answer(self, id: str, name: str | None, expected: Tensor | None) -> Answer | None:
        """Remove and return the answer to a case; None if there is none."""
        line = self._lines.pop(id, None)
        if line is not None:
            try:
                return _answer(line, expected)
            except ModelError as error:
                raise ModelError(f"{str(self._file)!r}: {error}") from None
        if name is None or name not in self._arrays:
            return None
        self._arrays.remove(name)
        path = self._path / f"{name}.npy"
        dtype = np.dtype(np.float32) if expected is None else dtype_of(type_of(expected))
        return Answer(End.RETURNED, read_array(path, dtype))

    def check(self) -> None:
        """Raise an error if answers remain, which belong to no case of the export."""
        left = [*self._lines, *(f"{name}.npy" for name in sorted(self._arrays))]
        if left:
            raise ModelError(f"{str(self._path)!r} answers cases that the export does not have: {listed(left)}")


def _answer(line: AnswerLine, expected: Tensor | None) -> Answer:
    """Return the answer in a line.

    Raises
    ------
    ModelError
        If it has no answer or several, or elements that cannot be read.
    """
    told = [name for name in ("elements", *_ENDS) if getattr(line, name) is not UNSET]
    if len(told) != 1:
        raise ModelError(
            f"the answer to {quoted(line.id)} has {', '.join(told) or 'nothing'}; allowed is one of elements, "
            f"{', '.join(_ENDS)}"
        )
    if told != ["elements"]:
        return Answer(_ENDS[told[0]], None, " ".join(str(getattr(line, told[0])).split()))
    if expected is None and (line.type is UNSET or line.shape is UNSET):
        return Answer(End.RETURNED, None)  # Any value is wrong, as the case must be refused.
    type_name = line.type if isinstance(line.type, str) else expected.type if expected else ""
    shape = line.shape if isinstance(line.shape, tuple) else _shape(str(line.elements), expected)
    try:
        array, unspecified = array_of(str(line.elements), shape, type_of(Tensor(type_name, shape, "")))
    except ModelError as error:
        raise ModelError(f"the answer to {quoted(line.id)}: {error}") from None
    if unspecified.any():
        raise ModelError(f"the answer to {quoted(line.id)} has a dash for an element; write the quotient, or refuse")
    return Answer(End.RETURNED, array)


def _shape(elements: str, expected: Tensor | None) -> tuple[int, ...]:
    """Return the shape of elements given without one: the expected shape if the number of elements matches."""
    count = len(elements.split())
    return expected.shape if expected is not None and prod(expected.shape) == count else (count,)


def _verdict(line: CaseLine | ConventionLine, answer: Answer) -> Verdict:
    try:
        operation, expectation = operation_of(line), expectation_of(line)
    except ModelError as error:
        raise ModelError(f"the case {quoted(line.id)} cannot be read: {error}") from None
    return judge(operation, expectation, answer)


def _check_index(folder: Path) -> None:
    """Raise an error for an export of another layout, or one whose cases were changed."""
    path = folder / INDEX
    if not path.is_file():
        raise ModelError(f"{str(folder)!r} is not an export: it has no {INDEX}; make one by vinculum vectors export")
    try:
        with _opened(path) as file:
            found: Mapping[str, object] = msgspec.json.decode(file.read())
        if not isinstance(found, dict) or found.get("schema") != SCHEMA:
            raise ModelError(f"{str(path)!r} is not of layout {SCHEMA}; export the cases again")
        index = msgspec.convert(found, Index)
    except msgspec.DecodeError as error:
        raise ModelError(f"{str(path)!r} is not an index: {error}") from None
    digests = {file.path: file.sha256 for file in index.files}
    for name in (CASES, CONVENTIONS):
        if name in digests and _digest(folder / name) != digests[name]:
            raise ModelError(f"{str(folder / name)!r} does not match {INDEX}; export the cases again")


def _digest(path: Path) -> str:
    with _opened(path) as file:
        return file_digest(file, "sha256").hexdigest()


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
