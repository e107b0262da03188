"""The records in an export's files, from whose types its JSON Schemas are made, and tensors as text in them.

Each element is written as the hexadecimal digits of its bits, most significant first; reals are written as fractions.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from enum import Enum
from fractions import Fraction
from hashlib import sha256
from math import prod
from typing import Annotated, Any

import msgspec
import numpy as np
from msgspec import UNSET, Meta, Struct, UnsetType
from numpy.typing import NDArray

from vinculum.conformance.cases.case import Case, CaseId, Expectation, Level
from vinculum.conformance.cases.operation import Operation, integer_rounding
from vinculum.errors import ModelError
from vinculum.spec.element_types import REAL, ElementType, by_name
from vinculum.spec.rows import ROWS
from vinculum.tensors.storage import dtype_of, element_type_of, native
from vinculum.text import quoted

UNSPECIFIED = "-"
"""Written for an element that the specification leaves unspecified."""

_FRACTION = re.compile(r"-?\d{1,1000}(/\d{1,1000})?")


def elements_text(array: NDArray[Any], element_type: ElementType, unspecified: NDArray[np.bool_] | None = None) -> str:
    """Return the elements of an array in row-major order, separated by spaces.

    - `element_type`: Elements of 4 bits have one digit, of 8 bits two, and so on.
    - `unspecified`: The elements for which a dash is written.
    """
    if element_type is REAL:
        texts = [str(number) for number in array.flat]
    elif element_type.bits == 4:
        texts = [f"{int(number) & 15:x}" for number in array.flat]
    else:
        size = element_type.bits // 8
        bits = np.ascontiguousarray(native(array)).reshape(-1).view(f"u{size}")
        text = bits.astype(f">u{size}").tobytes().hex(" ", size)
        if unspecified is None:
            return text
        texts = text.split()
    if unspecified is None:
        return " ".join(texts)
    return " ".join(UNSPECIFIED if is_open else text for text, is_open in zip(texts, unspecified.flat, strict=True))


def array_of(text: str, shape: Sequence[int], element_type: ElementType) -> tuple[NDArray[Any], NDArray[np.bool_]]:
    """Return the array of a text, with zeros for dashes, and a mask of the dashes.

    ModelError if the number of elements does not match the shape, or an element has the wrong length or wrong digits.
    """
    texts = text.split()
    if len(texts) != prod(shape):
        raise ModelError(f"{len(texts)} elements are given for the shape {tuple(shape)}, which has {prod(shape)}")
    unspecified = np.array([element == UNSPECIFIED for element in texts], np.bool_).reshape(tuple(shape))
    if element_type is REAL:
        numbers = [_fraction(element) for element in texts]
        array = np.array(numbers, object) if numbers else np.empty(0, object)
        return array.reshape(tuple(shape)), unspecified
    digits = element_type.bits // 4
    zero = "0" * digits
    written = [zero if element == UNSPECIFIED else element for element in texts]
    wrong = next((element for element in written if len(element) != digits), None)
    if wrong is not None:
        raise ModelError(f"an element is {quoted(wrong)}; one of {element_type} has {digits} hexadecimal digits")
    return _from_digits(written, element_type).reshape(tuple(shape)), unspecified


def _from_digits(texts: Sequence[str], element_type: ElementType) -> NDArray[Any]:
    try:
        if element_type.bits == 4:
            return np.array([int(text, 16) for text in texts], np.uint8).astype(dtype_of(element_type))
        size = element_type.bits // 8
        bits = np.frombuffer(bytes.fromhex("".join(texts)), f">u{size}").astype(f"u{size}")
    except ValueError:
        raise ModelError(f"an element of {element_type} has another digit than 0 to 9 and a to f") from None
    return bits.view(dtype_of(element_type))


def _fraction(text: str) -> Fraction:
    if text == UNSPECIFIED:
        return Fraction(0)
    if not _FRACTION.fullmatch(text) or not int(text.partition("/")[2] or 1):
        raise ModelError(f"an element is {quoted(text)}; a real is written as -7 or 5/3")
    return Fraction(text)


SCHEMA = 1
"""The version of this layout; it changes whenever the layout changes."""


class Standing(Enum):
    """What is expected of an answer."""

    EXACT = "exact"
    UNSPECIFIED = "unspecified"
    REFUSED = "must be refused"


class Tensor(Struct, frozen=True, forbid_unknown_fields=True):
    """A tensor: an element type by its ONNX name, a shape, and the elements as text."""

    type: str
    shape: tuple[int, ...]
    elements: Annotated[
        str,
        Meta(
            description="In row-major order, separated by spaces: the hexadecimal digits of each element's bits, most "
            "significant first; a real as a fraction; a dash where the specification leaves the quotient unspecified."
        ),
    ]


class Operand(Tensor, frozen=True, forbid_unknown_fields=True):
    """An operand, and whether it is a constant of the model, which a runtime may fold."""

    constant: bool


class CaseLine(Struct, frozen=True, forbid_unknown_fields=True, rename={"standing": "class"}):
    """A line of ``cases.jsonl``."""

    id: str
    name: Annotated[str, Meta(description="The name of its folder or file; the same in every export.")]
    standing: Standing
    clause: Annotated[str, Meta(description="The clause of the operator version that it tests: see vinculum spec.")]
    standard: str
    operator: str
    version: int
    variant: str | None
    rounding: Annotated[str | None, Meta(description="The rounding of integers: truncating or floor.")]
    attributes: dict[str, int | bool | str | tuple[int, ...]]
    operands: tuple[Operand, ...]
    quotient: Annotated[Tensor | None, Meta(description="None if it must be refused.")]


class ConventionLine(Struct, frozen=True, forbid_unknown_fields=True, rename={"standing": "class"}):
    """A line of ``conventions.jsonl``: small integers, under a convention of other specifications."""

    id: str
    standing: Standing
    rounding: str
    convention: Annotated[str, Meta(description="What is divided, and the result under the convention.")]
    specifications: Annotated[tuple[str, ...], Meta(description="Those with this convention for the element type.")]
    operands: tuple[Tensor, ...]
    quotient: Tensor | None


class AnswerLine(Struct, frozen=True, forbid_unknown_fields=True):
    """A line of answers: an id, and either elements or, in a few words, why there are none.

    Without a type and a shape, the elements have the expected ones.
    """

    id: str
    elements: str | UnsetType = UNSET
    type: str | UnsetType = UNSET
    shape: tuple[int, ...] | UnsetType = UNSET
    refused: str | UnsetType = UNSET
    unsupported: str | UnsetType = UNSET
    crashed: str | UnsetType = UNSET
    hung: str | UnsetType = UNSET


class File(Struct, frozen=True, forbid_unknown_fields=True):
    """A file of an export, with its SHA-256."""

    path: str
    bytes: int
    sha256: str


class Index(Struct, frozen=True, forbid_unknown_fields=True):
    """``index.json``: what was exported, by which versions, and every other file."""

    schema: int
    format: str
    level: str
    only: tuple[str, ...]
    versions: dict[str, str]
    cases: Annotated[dict[str, int], Meta(description="The number of cases of each class.")]
    files: tuple[File, ...]


def schema_of(record: type[Struct]) -> bytes:
    """Return the JSON Schema of a record, as a file."""
    schema: dict[str, Any] = msgspec.json.schema(record)
    return indented({"$schema": "https://json-schema.org/draft/2020-12/schema"} | schema)


def indented(value: object) -> bytes:
    """Return a value as an indented JSON file."""
    return msgspec.json.format(msgspec.json.encode(value), indent=1) + b"\n"


_DIGITS = 12
_PARTS = 5  # of an id


def standing(case: Case) -> Standing:
    """Return the class of a case: what is expected of the answer."""
    if case.expectation.quotient is None:
        return Standing.REFUSED
    return Standing.EXACT if case.expectation.unspecified is None else Standing.UNSPECIFIED


def name_of(case: Case) -> str:
    """Return the name of a case's folder, ``"test_div_14_int64_0123456789ab"``: the same in every export."""
    words = re.sub(r"[^a-z0-9]+", "_", f"{case.operation.spec.title} {case.element_type}".lower()).strip("_")
    return f"test_{words}_{sha256(str(case.id).encode()).hexdigest()[:_DIGITS]}"


def case_line(case: Case) -> CaseLine:
    """Return a case as a line."""
    spec, operation = case.operation.spec, case.operation
    quotient, rounding = case.expectation.quotient, integer_rounding(operation)
    tensors = map(tensor_of, operation.operands)
    operands = [Operand(t.type, t.shape, t.elements, c) for t, c in zip(tensors, operation.constant, strict=True)]
    return CaseLine(
        id=str(case.id),
        name=name_of(case),
        standing=standing(case),
        clause=case.clause,
        standard=spec.dialect.value,
        operator=spec.name,
        version=spec.since_version,
        variant=spec.variant,
        rounding=None if rounding is None or quotient is None else rounding.name.lower(),
        attributes=dict(operation.attributes),
        operands=tuple(operands),
        quotient=None if quotient is None else tensor_of(quotient, case.expectation.unspecified),
    )


def case_of(line: CaseLine, level: Level) -> Case:
    """Return the case of a line.

    ModelError if a tensor cannot be read, or if there is no such operator version, clause or element type.
    """
    row = (line.standard, line.operator, line.version, line.variant)
    found = [s for s in ROWS if (s.dialect.value, s.name, s.since_version, s.variant) == row]
    if not found or not any(clause.tag == line.clause for clause in found[0].clauses):
        raise ModelError(f"{line.standard!r} has no {line.operator}-{line.version} with the clause {line.clause!r}")
    spec, parts = found[0], line.id.split("/")
    if len(parts) != _PARTS or len(line.operands) != len(spec.inputs):
        raise ModelError(f"{quoted(line.id)} is not a case of {spec.title}, which has {len(spec.inputs)} operands")
    arrays = tuple(_array(operand)[0] for operand in line.operands)
    operation = Operation(spec, line.attributes, arrays, tuple(operand.constant for operand in line.operands))
    expectation = Expectation(None)
    if line.quotient is not None:
        array, unspecified = _array(line.quotient)
        expectation = Expectation(array, unspecified if unspecified.any() else None)
    id = CaseId(spec.title, parts[0].removeprefix(spec.title).strip(), *parts[1:])
    return Case(id, line.clause, type_of(line.operands[0]), lambda: operation, lambda: expectation, level)


def type_of(tensor: Tensor) -> ElementType:
    """Return the element type of a tensor; ModelError if there is none of that name."""
    try:
        return by_name(tensor.type)
    except LookupError as error:
        raise ModelError(str(error)) from None


def tensor_of(array: NDArray[Any], unspecified: NDArray[np.bool_] | None = None) -> Tensor:
    """Return an array as it is written in files, with dashes for unspecified elements."""
    element_type = element_type_of(array)
    return Tensor(element_type.name, array.shape, elements_text(array, element_type, unspecified))


def _array(tensor: Tensor) -> tuple[NDArray[Any], NDArray[np.bool_]]:
    return array_of(tensor.elements, tensor.shape, type_of(tensor))
