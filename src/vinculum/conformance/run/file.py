"""Runs as a JSON file, which any program can read, and from which every report can be made.

An answer is kept as the bits in which it differs from the expected quotient, compressed; most have none. A case is
rebuilt by the suite's own enumeration, which needs no runtime; by a digest it is known to have the same numbers still.
"""

from __future__ import annotations

import binascii
import zlib
from base64 import b64decode, b64encode
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from hashlib import sha256
from math import prod
from pathlib import Path
from typing import Any, Literal

import ml_dtypes
import msgspec
import numpy as np
from numpy.typing import NDArray

from vinculum.conformance.arithmetic import Answered
from vinculum.conformance.cases.case import Case, CaseId, Expectation
from vinculum.conformance.cases.enumeration import cases
from vinculum.conformance.run.judgement import judge
from vinculum.conformance.run.record import KeptAnswer, Kind, Result, Run
from vinculum.conformance.vectors.records import array_of, elements_text
from vinculum.errors import ModelError
from vinculum.files import read_bounded
from vinculum.sandbox import Answer, End
from vinculum.spec.element_types import REAL
from vinculum.spec.rows import ROWS
from vinculum.tensors.storage import native
from vinculum.text import one_line, quoted

_FORMAT: Literal["vinculum run 2"] = "vinculum run 2"
_LARGEST = 1 << 30  # Bytes; a run of the full level has some tens of MiB.
_XZ = b"\xfd7zXZ\0"


@dataclass(frozen=True)
class RunFile:
    """The content of a file."""

    runs: tuple[Run, ...]
    format: Literal["vinculum run 2"] = _FORMAT


def as_json(runs: Sequence[Run]) -> str:
    """Return runs as the text of a file; the same runs give the same text."""
    content = msgspec.json.encode(RunFile(tuple(runs)))
    return msgspec.json.format(content, indent=1).decode() + "\n"


def read_runs(file: Path) -> tuple[Run, ...]:
    """Return the runs of a file, which may be packed by xz, as those in ``docs/survey`` are.

    ModelError if it is not such a file; the message names it. OSError if it cannot be read.
    """
    content = read_bounded(file, _LARGEST, "a file written by --save")
    try:
        if content.startswith(_XZ):
            content = _unpacked(content)
        runs = msgspec.json.decode(content, type=RunFile).runs
    except (_UnpackingError, msgspec.DecodeError, UnicodeDecodeError) as error:
        raise ModelError(
            f"{str(file)!r} is not a run of the conformance suite ({one_line(error)}); give a file written by --save"
        ) from None
    if not runs:
        raise ModelError(f"{str(file)!r} holds no run; give a file written by --save")
    for run in runs:
        _check(run, file)
    return runs


class _UnpackingError(Exception):
    """Content that cannot be unpacked."""


def _unpacked(content: bytes) -> bytes:
    try:
        import lzma  # Here, as a Python that was built without it reads what is not packed.
    except ImportError:
        raise _UnpackingError("this Python was built without lzma: unpack it first") from None
    unpacking = lzma.LZMADecompressor(lzma.FORMAT_XZ)
    try:
        unpacked = unpacking.decompress(content, _LARGEST)
    except lzma.LZMAError as error:
        raise _UnpackingError(str(error)) from None
    if not unpacking.eof:
        raise _UnpackingError(f"its content is cut off, or larger than {_LARGEST:,} bytes")
    return unpacked


def _check(run: Run, file: Path) -> None:
    """Refuse what no run is: its reports would count cases wrongly."""
    named = {result.cause for result in run.results} - {"", *(cause.name for cause in run.causes)}
    if named:
        raise ModelError(
            f"{str(file)!r} gives a case the cause {quoted(min(named))}, which its run does not list; give what "
            "--save has written"
        )
    seen: set[CaseId] = set()
    for result in run.results:
        if result.id in seen:
            raise ModelError(f"{str(file)!r} has the case {quoted(str(result.id))} twice; give what --save has written")
        seen.add(result.id)


def schema() -> dict[str, Any]:
    """Return the JSON Schema of such a file."""
    return msgspec.json.schema(RunFile)


_DIGITS = 16
_MOST = 1 << 30  # Bytes of one answer.
_REALS = "real"


def digest(case: Case) -> str:
    """Return a digest of a case's operation and expectation; two cases with the same one ask and expect the same."""
    spec, operation, expected = case.operation.spec, case.operation, case.expectation
    hashed = sha256(repr((spec.title, sorted(operation.attributes.items()), operation.constant)).encode())
    for array in (*operation.operands, _quotient(expected), expected.unspecified):
        if array is None:
            hashed.update(b"none")
            continue
        hashed.update(f"{array.dtype.name} {array.shape} ".encode())
        hashed.update(_bits(array))
    return hashed.hexdigest()[:_DIGITS]


def kept(case: Case, answer: Answer) -> KeptAnswer | None:
    """Return what a run keeps of an answer; None for an object that is no array of numbers."""
    if answer.end is not End.RETURNED:
        return KeptAnswer(answer.end)
    if not isinstance(answer.value, np.ndarray):
        return None
    array, expected = native(np.asarray(answer.value)), _quotient(case.expectation)
    reals = array.dtype.hasobject
    if reals and not all(type(element) is Fraction for element in array.flat):
        return None
    if not reals and _dtype(array.dtype.name) != array.dtype:
        return None
    bits = _bits(array)
    if expected is not None and (array.dtype, array.shape) == (expected.dtype, expected.shape):
        if bits == _bits(expected):
            return KeptAnswer()
        if not reals:
            return KeptAnswer(data=_compressed(_xor(bits, _bits(expected))))
    return KeptAnswer(type=_REALS if reals else array.dtype.name, shape=array.shape, data=_compressed(bits))


def value(answer: KeptAnswer, expected: NDArray[Any] | None) -> NDArray[Any]:
    """Return the array of an answer.

    - `expected`: The expected quotient of its case, with zeros where any will do.

    ModelError if the data is damaged, or does not match the type and the shape.
    """
    if expected is not None and answer == KeptAnswer():
        return expected
    if answer.type == _REALS:
        return array_of(_decompressed(answer.data, _MOST).decode("ascii", "replace"), answer.shape, REAL)[0]
    alike = None if answer.type else expected
    dtype, shape = (_dtype(answer.type), answer.shape) if alike is None else (alike.dtype, alike.shape)
    if dtype is None or dtype.hasobject or any(size < 0 for size in shape) or len(shape) > 64:
        raise ModelError(f"{quoted(answer.type)} of shape {quoted(str(shape))} is not a tensor")
    size = prod(shape) * dtype.itemsize
    if size > _MOST:
        raise ModelError(f"a shape of {size} bytes is too large")
    bits = _decompressed(answer.data, size)
    if len(bits) != size:
        raise ModelError(f"its data has not the {size} bytes of its shape")
    if alike is not None:
        bits = _xor(bits, _bits(alike))
    return np.frombuffer(bits, dtype.newbyteorder("<")).astype(dtype).reshape(shape)


def _quotient(expectation: Expectation) -> NDArray[Any] | None:
    """Return the expected quotient, with zeros where any will do."""
    quotient, unspecified = expectation.quotient, expectation.unspecified
    if quotient is None or unspecified is None:
        return quotient
    return np.where(unspecified, np.zeros((), quotient.dtype), quotient)


def _compressed(bits: bytes) -> str:
    return b64encode(zlib.compress(bits, 9)).decode("ascii")


def _decompressed(data: str, size: int) -> bytes:
    """Return what was compressed, but no more than one byte above a size."""
    try:
        return zlib.decompressobj().decompress(b64decode(data, validate=True), size + 1)
    except (zlib.error, binascii.Error, ValueError):
        raise ModelError("its data cannot be decompressed") from None


def _xor(bits: bytes, others: bytes) -> bytes:
    return np.bitwise_xor(np.frombuffer(bits, np.uint8), np.frombuffer(others, np.uint8)).tobytes()


def answered(run: Run) -> tuple[Answered, ...]:
    """Return the cases of a run with their answers, judged anew, in the order of the run.

    Cases that the suite no longer has, or has with other numbers, and answers that are not arrays of numbers are left
    out. "Answers differ between runs" stays, as a run keeps the first answer only.

    ModelError if an answer is damaged.
    """
    wanted = {result.id: result for result in run.results if result.answer is not None}
    found: dict[CaseId, Answered] = {}
    titles = {id.operator for id in wanted}
    for case in cases(run.selection.level, [row for row in ROWS if row.title in titles]):
        result = wanted.get(case.id)
        if result is not None and result.digest == digest(case):
            found[case.id] = _answered(case, result)
    return tuple(found[result.id] for result in run.results if result.id in found)


def _answered(case: Case, result: Result) -> Answered:
    assert result.answer is not None
    answer = _answer(case, result, result.answer)
    differs = result.verdict.kind is Kind.DIFFERS
    verdict = result.verdict if differs else judge(case.operation, case.expectation, answer)
    return Answered(case, answer, verdict, result.reproducer)


def _answer(case: Case, result: Result, answer: KeptAnswer) -> Answer:
    if answer.end is not End.RETURNED:
        return Answer(answer.end, None, result.verdict.said)
    try:
        return Answer(End.RETURNED, value(answer, _quotient(case.expectation)))
    except ModelError as error:
        raise ModelError(f"the answer to {quoted(str(result.id))} is damaged: {error}") from None


def _bits(array: NDArray[Any]) -> bytes:
    """Return an array's elements, little-endian; those of reals as text."""
    if array.dtype.hasobject:
        return elements_text(array, REAL).encode()
    return array.astype(array.dtype.newbyteorder("<"), copy=False).tobytes()


def _dtype(name: str) -> np.dtype[Any] | None:
    """Return the type of a name, of NumPy or ml_dtypes; None for another name."""
    try:
        dtype = np.dtype(getattr(ml_dtypes, name, name))
    except TypeError:
        return None
    return dtype if dtype.name == name and dtype.itemsize and not dtype.hasobject else None
