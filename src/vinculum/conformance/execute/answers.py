"""The answers that a run keeps, and the answered cases that are rebuilt from them.

An answer that equals the expected quotient is kept in one word, other arrays as compressed bits. A case is rebuilt by
the suite's own enumeration, which needs no runtime; by a digest it is known to have the same numbers still.
"""

from __future__ import annotations

import binascii
import zlib
from base64 import b64decode, b64encode
from fractions import Fraction
from hashlib import sha256
from math import prod
from typing import Any

import ml_dtypes
import numpy as np
from numpy.typing import NDArray

from vinculum.conformance.arithmetic import Answered
from vinculum.conformance.cases.case import Case, CaseId
from vinculum.conformance.cases.enumeration import cases
from vinculum.conformance.execute.run import KeptAnswer, Result, Run
from vinculum.conformance.oracle.judgement import judge
from vinculum.conformance.oracle.verdict import Kind
from vinculum.conformance.vectors.elements import array_of, elements_text
from vinculum.errors import ModelError
from vinculum.sandbox import Answer, End
from vinculum.spec.element_types import REAL
from vinculum.tensors.storage import native
from vinculum.text import quoted

_DIGITS = 16
_MOST = 1 << 30  # Bytes of one answer.
_REALS = "real"


def digest(case: Case) -> str:
    """Return a digest of a case's operation and expectation; two cases with the same one ask and expect the same."""
    spec, operation, expected = case.operation.spec, case.operation, case.expectation
    hashed = sha256(repr((spec.title, sorted(operation.attributes.items()), operation.constant)).encode())
    for array in (*operation.operands, expected.quotient, expected.unspecified):
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
    array, expected = native(np.asarray(answer.value)), case.expectation.quotient
    reals = array.dtype.hasobject
    if reals and not all(type(element) is Fraction for element in array.flat):
        return None
    if not reals and _dtype(array.dtype.name) != array.dtype:
        return None
    bits = _bits(array)
    if expected is not None and (array.dtype, array.shape, bits) == (expected.dtype, expected.shape, _bits(expected)):
        return KeptAnswer(exact=True)
    data = b64encode(zlib.compress(bits, 9)).decode("ascii")
    return KeptAnswer(type=_REALS if reals else array.dtype.name, shape=array.shape, data=data)


def value(answer: KeptAnswer) -> NDArray[Any]:
    """Return the array of an answer whose bits are kept.

    Raises
    ------
    ModelError
        If the data is damaged, or does not match the type and the shape.
    """
    dtype, size = None if answer.type == _REALS else _dtype(answer.type), prod(answer.shape)
    if (dtype is None and answer.type != _REALS) or min(answer.shape, default=0) < 0 or len(answer.shape) > 64:
        raise ModelError(f"{quoted(answer.type)} of shape {quoted(str(answer.shape))} is not a tensor")
    largest = _MOST if dtype is None else size * dtype.itemsize
    if largest > _MOST:
        raise ModelError(f"its shape has {size} elements")
    try:
        bits = zlib.decompressobj().decompress(b64decode(answer.data, validate=True), largest + 1)
    except (zlib.error, binascii.Error, ValueError):
        raise ModelError("its data cannot be decompressed") from None
    if dtype is None:
        return array_of(bits.decode("ascii", "replace"), answer.shape, REAL)[0]
    if len(bits) != largest:
        raise ModelError(f"its data has not the {largest} bytes of its shape")
    return np.frombuffer(bits, dtype.newbyteorder("<")).astype(dtype).reshape(answer.shape)


def answered(run: Run) -> tuple[Answered, ...]:
    """Return the cases of a run with their answers, judged anew, in the order of the run.

    Cases that the suite no longer has, or has with other numbers, and answers that are not arrays of numbers are left
    out. "Answers differ between runs" stays, as a run keeps the first answer only.

    Raises
    ------
    ModelError
        If an answer is damaged.
    """
    wanted = {result.id: result for result in run.results if result.answer is not None}
    found: dict[CaseId, Answered] = {}
    for case in cases(run.selection.level) if wanted else ():
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
    if answer.exact:
        return Answer(End.RETURNED, case.expectation.quotient)
    try:
        return Answer(End.RETURNED, value(answer))
    except ModelError as error:
        raise ModelError(f"the answer to {quoted(str(result.id))} is damaged: {error}") from None


def _bits(array: NDArray[Any]) -> bytes:
    """Return an array's elements, little-endian; those of reals as text."""
    if array.dtype.hasobject:
        return elements_text(array, REAL).encode()
    little = array if array.dtype.itemsize == 1 else array.astype(array.dtype.newbyteorder("<"), copy=False)
    return little.tobytes()


def _dtype(name: str) -> np.dtype[Any] | None:
    """Return the type of a name, of NumPy or ml_dtypes; None for another name."""
    try:
        dtype = np.dtype(getattr(ml_dtypes, name, name))
    except TypeError:
        return None
    return dtype if dtype.name == name and dtype.itemsize and not dtype.hasobject else None
