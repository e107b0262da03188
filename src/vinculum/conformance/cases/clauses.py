"""The clause of an operator version that a case tests, by the subject of the case."""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum, auto

from vinculum.spec.element_types import FLOAT8E4M3FN, ElementType
from vinculum.spec.model import AttributeValue, IntegerRounding, OperatorSpec


class Subject(Enum):
    """What a case tests."""

    QUOTIENT = auto()  # a quotient rounded, truncated or floored
    ORDINARY = auto()  # that the element type is supported at all
    DISCARDED = auto()  # how much of the exact quotient rounding discards
    SPECIAL = auto()  # zeros, infinities and NaN
    ZERO_BY_ZERO = auto()
    TOO_LARGE = auto()  # beyond the largest number of a float type
    ZERO_DIVISOR = auto()  # of integers and reals
    MINIMUM = auto()  # the smallest integer divided by -1
    TYPES = auto()  # operands of two element types
    UNLISTED = auto()  # an element type that the version does not list
    SIZE = auto()  # quotients, of tensors of many sizes
    ATTRIBUTES = auto()  # an attribute that the version does not have, or of another type or value


_TAGS: dict[Subject, tuple[str, ...]] = {
    Subject.ORDINARY: ("bfloat16", "narrow-integers", "any-numeric-type"),
    Subject.DISCARDED: ("introduced-error",),
    Subject.SPECIAL: ("special-values",),
    Subject.ZERO_BY_ZERO: ("zero-by-zero-error-condition", "special-values"),
    Subject.TOO_LARGE: ("f8e4m3-without-infinity",),
    Subject.ZERO_DIVISOR: ("[C3]", "integer-zero-divisor-silent", "division-by-zero", "[C2]"),
    Subject.MINIMUM: ("[V1]", "minimum-by-minus-one-silent"),
    Subject.TYPES: ("one-element-type", "[C2]"),
    Subject.UNLISTED: ("one-element-type", "[GR3]"),
    Subject.ATTRIBUTES: ("attributes-of-this-version",),
}
_ONLY_FOR = {
    "bfloat16": ("bfloat16",),
    "narrow-integers": ("int8", "int16", "uint8", "uint16"),
    "f8e4m3-without-infinity": (FLOAT8E4M3FN.name,),
}


def clause(
    spec: OperatorSpec,
    element_type: ElementType,
    subject: Subject | tuple[str, ...],
    attributes: Mapping[str, AttributeValue] | None = None,
) -> str:
    """Return the tag of the clause of an operator version that a case tests.

    Parameters
    ----------
    spec : OperatorSpec
        The operator version.
    element_type : ElementType
        The dividend's element type; some clauses apply to some types only.
    subject : Subject or tuple of str
        What the case tests; or tags of clauses, one of which the version has.
    attributes : Mapping, optional
        They select the rounding of integers, and with it the clause.

    Raises
    ------
    KeyError
        If the version has no such clause.
    """
    if isinstance(subject, Subject):
        wanted = (*_TAGS.get(subject, ()), *_of_quotients(spec, element_type, attributes or {}))
    else:
        wanted = subject
    having = {c.tag for c in spec.clauses}
    for tag in wanted:
        if tag in having and element_type.name in _ONLY_FOR.get(tag, (element_type.name,)):
            return tag
    raise KeyError(f"no clause of {spec.title} is about {subject}")


def _of_quotients(
    spec: OperatorSpec, element_type: ElementType, attributes: Mapping[str, AttributeValue]
) -> tuple[str, ...]:
    if not element_type.is_integer or not spec.integer_rounding:
        return ("ieee-754", "exact-quotient")
    floor = spec.rounding(attributes) is IntegerRounding.FLOOR
    return ("floor-division",) if floor else ("truncating-division", "regular-division")
