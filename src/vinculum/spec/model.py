"""The fields of a row: one version of one operator, as its document states it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum

from vinculum.spec.element_types import ElementType

AttributeValue = int | str | bool | tuple[int, ...]


class Dialect(Enum):
    """The standard that defines an operator."""

    ONNX = "onnx"
    OPENVINO = "openvino"
    SONNX = "sonnx"

    @property
    def standard(self) -> str:
        """The name of the standard."""
        return {Dialect.ONNX: "ONNX", Dialect.OPENVINO: "OpenVINO", Dialect.SONNX: "SONNX"}[self]


class Broadcasting(Enum):
    """How the operands' shapes are joined."""

    EQUAL = "equal shapes"
    LIMITED = "limited: the divisor onto the dividend, as one contiguous run of its shape"
    MULTIDIRECTIONAL = "multidirectional (NumPy)"
    PDPD = "pdpd: the divisor onto the dividend, from an axis (PaddlePaddle)"


class IntegerRounding(Enum):
    """How the quotient of two integers becomes an integer."""

    TRUNCATING = "toward zero"
    FLOOR = "toward minus infinity"


@dataclass(frozen=True)
class Source:
    """The document of a row."""

    document: str
    url: str


@dataclass(frozen=True)
class Clause:
    """One statement about the operator version, in our own words."""

    tag: str  # As in the document if it has one ("[C3]"), else a short English name.
    statement: str
    basis: str  # The line of the document, or "the specification is silent here" with the reason for our reading.


@dataclass(frozen=True)
class Attribute:
    """An attribute of an operator version."""

    name: str  # As models spell it.
    type: str  # The standard's name of the attribute type: "INT", "INTS", "boolean", "string".
    default: AttributeValue | None  # None if the standard gives none.
    required: bool
    description: str  # In our own words.
    allowed: tuple[AttributeValue, ...] = ()  # Empty if the type alone limits the values.
    hint: bool = False  # Whether it changes no result, so that models keep their meaning without it.
    aliases: tuple[str, ...] = ()  # Other spellings that readers accept.
    minimum: int | None = None  # The least number, if there is one.


@dataclass(frozen=True)
class Operand:
    """An input or an output: its name, the type variable it belongs to, and its role."""

    name: str
    type_variable: str
    description: str


@dataclass(frozen=True)
class TypeConstraint:
    """The element types that a type variable ranges over."""

    type_variable: str
    element_types: tuple[ElementType, ...]
    description: str


@dataclass(frozen=True)
class OperatorSpec:
    """One version of one operator.

    The rules of broadcasting and of integer rounding are listed by the values of the attribute that selects one; if no
    attribute does, a single rule is listed by None. An operator without integer types has no rule of rounding.
    """

    dialect: Dialect
    domain: str  # As models write it: "" is ONNX's own, "opset1" OpenVINO's.
    name: str
    since_version: int  # The operator set that introduced this version; 1 where the standard does not number them.
    variant: str | None  # "real", "float" or "int", as SONNX has three operators of one name.
    inputs: tuple[Operand, ...]
    outputs: tuple[Operand, ...]
    attributes: tuple[Attribute, ...]  # In the document's order.
    type_constraints: tuple[TypeConstraint, ...]  # One for each type variable.
    broadcasting: Mapping[AttributeValue | None, Broadcasting]
    broadcasting_attribute: str | None
    integer_rounding: Mapping[AttributeValue | None, IntegerRounding]
    integer_rounding_attribute: str | None
    shape_inference: bool  # Whether the standard promises it.
    function: bool  # Whether the standard defines the operator as a function of others.
    support_level: str  # ONNX's "COMMON"; empty for other standards.
    documentation: tuple[str, ...]  # What the operator does, line by line, in our own words.
    clauses: tuple[Clause, ...]
    source: Source

    def __hash__(self) -> int:
        """Hash by identity of the row: dialect, name, version and variant are unique."""
        return hash((self.dialect, self.name, self.since_version, self.variant))

    @property
    def title(self) -> str:
        """What a message calls it: ``"Div-14"``, ``"Divide-1"``, ``"SONNX Div (int)"``."""
        if self.dialect is Dialect.SONNX:
            return f"SONNX {self.name} ({self.variant})"
        return f"{self.name}-{self.since_version}"

    @property
    def operand_names(self) -> tuple[str, ...]:
        """What the document calls the operands."""
        return tuple(operand.name for operand in self.inputs)

    @property
    def element_types(self) -> tuple[ElementType, ...]:
        """The element types that every operand may have (all twelve rows have one type variable)."""
        (constraint,) = self.type_constraints
        return constraint.element_types

    def attribute(self, name: str) -> Attribute | None:
        """Return the attribute of that name or alias, None if the version has none."""
        return next((a for a in self.attributes if name == a.name or name in a.aliases), None)

    def broadcasting_rule(self, attributes: Mapping[str, AttributeValue]) -> Broadcasting:
        """Return the broadcasting rule that these attributes select."""
        return self.broadcasting[self._value(self.broadcasting_attribute, attributes)]

    def rounding(self, attributes: Mapping[str, AttributeValue]) -> IntegerRounding:
        """Return the integer rounding that these attributes select."""
        return self.integer_rounding[self._value(self.integer_rounding_attribute, attributes)]

    def _value(self, name: str | None, attributes: Mapping[str, AttributeValue]) -> AttributeValue | None:
        if name is None:
            return None
        declared = self.attribute(name)
        return attributes.get(name, declared.default if declared else None)
