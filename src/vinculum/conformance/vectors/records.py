"""The records in an export's files; the JSON Schemas in the export are made from these types."""

from __future__ import annotations

from enum import Enum
from typing import Annotated, Any

import msgspec
from msgspec import UNSET, Meta, Struct, UnsetType

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
