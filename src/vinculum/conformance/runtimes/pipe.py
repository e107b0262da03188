"""The binary protocol between Vinculum and a program that divides: operations and answers.

Everything is little-endian and aligned to 8 bytes. Messages in both directions consist of a length as a uint64 and
that number of bytes.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vinculum.conformance.cases.operation import Operation, integer_rounding
from vinculum.errors import ModelError
from vinculum.sandbox import CrashedError, UnsupportedError
from vinculum.spec.element_types import by_onnx_code
from vinculum.spec.model import AttributeValue, IntegerRounding
from vinculum.tensors.storage import dtype_of, element_type_of

LENGTH = struct.Struct("<Q")
LONGEST = 1 << 32
"""The largest answer in bytes; a greater length means that the output is not an answer."""

_QUESTION = struct.Struct("<16s16sIIII")
_ATTRIBUTE = struct.Struct("<32sII")
_TENSOR = struct.Struct("<IIII")
_ANSWER = struct.Struct("<IIII")
_BOOL_CODE = 9
_ROUNDINGS = {None: 0, IntegerRounding.TRUNCATING: 1, IntegerRounding.FLOOR: 2}
_QUOTIENT, _UNSUPPORTED, _REFUSED = range(3)


def operation_bytes(operation: Operation) -> bytes:
    """Return the message for an operation."""
    return b"".join(operation_pieces(operation))


def operation_pieces(operation: Operation) -> list[bytes]:
    """Return the message for an operation in pieces; every second piece is the elements of an operand."""
    spec = operation.spec
    head = _QUESTION.pack(
        spec.dialect.value.encode(),
        spec.name.encode(),
        spec.since_version,
        _ROUNDINGS[integer_rounding(operation)],
        len(operation.attributes),
        len(operation.operands),
    )
    attributes = [_attribute(name, value) for name, value in operation.attributes.items()]
    pieces = [b"".join([head, *attributes])]
    for array, constant in zip(operation.operands, operation.constant, strict=True):
        elements = _elements(array)
        pieces[-1] += _tensor_head(array, constant)
        pieces += [elements, bytes(-len(elements) % 8)]
    return [LENGTH.pack(sum(map(len, pieces))) + pieces[0], *pieces[1:]]


def answered(content: bytes) -> NDArray[Any]:
    """Return the quotient in the content of an answer.

    UnsupportedError, ModelError if the answer is "not supported" or a refusal. CrashedError if it is malformed.
    """
    if len(content) < _ANSWER.size:
        raise CrashedError(f"its answer has {len(content)} bytes; one has at least {_ANSWER.size}")
    status, code, rank, _ = _ANSWER.unpack_from(content)
    if status in (_UNSUPPORTED, _REFUSED):
        words = " ".join(content[_ANSWER.size :].decode(errors="replace").replace("\0", " ").split())
        raise (UnsupportedError if status == _UNSUPPORTED else ModelError)(words or "it gave no reason")
    if status != _QUOTIENT:
        raise CrashedError(f"the status of its answer is {status}; allowed: 0 quotient, 1 not supported, 2 refused")
    return _quotient(content, code, rank)


def _quotient(content: bytes, code: int, rank: int) -> NDArray[Any]:
    dtype, start = _dtype(code), _ANSWER.size + 8 * rank
    if rank > 64 or len(content) < start:
        raise CrashedError(f"its answer has {len(content)} bytes, too few for the {rank} dimensions that it declares")
    shape: Sequence[int] = struct.unpack_from(f"<{rank}q", content, _ANSWER.size)
    needed = math.prod(shape) * dtype.itemsize
    if min(shape, default=0) < 0 or not needed <= len(content) - start < needed + 8:
        given = f"{len(content) - start} bytes of quotients"
        raise CrashedError(f"its answer holds {given}; {dtype} of shape {tuple(shape)} has {needed}")
    elements = np.frombuffer(content, dtype.newbyteorder("<"), math.prod(shape), start)
    return elements.astype(dtype, copy=True).reshape(shape)


def _dtype(code: int) -> np.dtype[Any]:
    if code == _BOOL_CODE:
        return np.dtype(np.bool_)
    try:
        return dtype_of(by_onnx_code(code))
    except LookupError:
        raise CrashedError(f"its answer is of element type {code}, which is not an element type number") from None


def _attribute(name: str, value: AttributeValue) -> bytes:
    """Return the bytes of an attribute, with its kind: 1 integer, 2 list of integers, 3 text, 4 Boolean."""
    if isinstance(value, str):
        text = value.encode()
        return _ATTRIBUTE.pack(name.encode(), 3, len(text)) + _padded(text)
    if isinstance(value, tuple):
        return _ATTRIBUTE.pack(name.encode(), 2, len(value)) + struct.pack(f"<{len(value)}q", *value)
    return _ATTRIBUTE.pack(name.encode(), 4 if isinstance(value, bool) else 1, 1) + struct.pack("<q", value)


def _tensor_head(array: NDArray[Any], constant: bool) -> bytes:
    code = element_type_of(array).onnx_code or 0
    return _TENSOR.pack(code, constant, array.ndim, 0) + struct.pack(f"<{array.ndim}q", *array.shape)


def _elements(array: NDArray[Any]) -> bytes:
    """Return an array's elements, little-endian; 4-bit elements take a byte each."""
    little = array if array.dtype.itemsize == 1 else array.astype(array.dtype.newbyteorder("<"), copy=False)
    return little.tobytes()


def _padded(content: bytes) -> bytes:
    return content + bytes(-len(content) % 8)
