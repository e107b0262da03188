"""Attributes that change nothing, are left to their defaults or are spelled otherwise, and those to be refused."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from vinculum.conformance.cases.clauses import Subject
from vinculum.spec.element_types import ElementType
from vinculum.spec.model import AttributeValue, OperatorSpec
from vinculum.spec.registry import versions

_VALUES: Mapping[str, AttributeValue] = {
    "axis": 0,
    "broadcast": 1,
    "consumed_inputs": (0, 0),
}
_UNLISTED_STRING = "tensorflow"
_NO_BOOLEAN = "maybe"


@dataclass(frozen=True)
class AttributeTrial:
    """Attributes that are written down.

    Attributes
    ----------
    tried : str
        What they try.
    subject : Subject or str
        What they are after; a string is the tag of a clause.
    attributes : Mapping
        The attributes, as they are written.
    refused : bool
        Whether they must be refused.
    """

    tried: str
    subject: Subject | str
    attributes: Mapping[str, AttributeValue]
    refused: bool = False


def attribute_trials(spec: OperatorSpec, element_type: ElementType) -> Iterator[AttributeTrial]:
    """Yield what an operator version is asked about its attributes, those of shapes apart."""
    for attribute in spec.attributes:
        if attribute.hint:
            tag = f"{attribute.name.replace('_', '-')}-hint"
            name = attribute.name
            yield AttributeTrial(f"{name} given", tag, {name: _VALUES[name]})
            yield AttributeTrial(f"{name} that is no list", Subject.ATTRIBUTES, {name: 7}, refused=True)
        elif attribute.type == "INT":
            text = str(_VALUES[attribute.name])
            tried = f"{attribute.name} written as text"
            yield AttributeTrial(tried, Subject.ATTRIBUTES, {attribute.name: text}, refused=True)
        if attribute.name == spec.integer_rounding_attribute:
            yield from _rounding(spec, element_type, attribute.name, attribute.aliases)
        if attribute.allowed and isinstance(attribute.default, str):
            tried = f"an {attribute.name} that the document does not list"
            yield AttributeTrial(tried, Subject.ATTRIBUTES, {attribute.name: _UNLISTED_STRING}, refused=True)
    yield from _of_other_versions(spec)


def _rounding(
    spec: OperatorSpec, element_type: ElementType, name: str, aliases: tuple[str, ...]
) -> Iterator[AttributeTrial]:
    values = [value for value in spec.integer_rounding if isinstance(value, bool)]
    if not element_type.is_integer:
        for value in values:
            yield AttributeTrial(f"{name}={str(value).lower()} on floats", "floats-ignore-pythondiv", {name: value})
        return
    yield AttributeTrial(f"{name} left to its default", Subject.QUOTIENT, {})
    for alias in aliases:
        for value in values:
            tried = f"{name} spelled {alias}={str(value).lower()}"
            yield AttributeTrial(tried, "pythondiv-spelling", {alias: value})
    tried = f"{name} that is neither true nor false"
    yield AttributeTrial(tried, Subject.ATTRIBUTES, {name: _NO_BOOLEAN}, refused=True)


def _of_other_versions(spec: OperatorSpec) -> Iterator[AttributeTrial]:
    """Yield the attributes that other versions of the operator have and this one has not."""
    others = (a.name for row in versions(spec.name, dialect=spec.dialect) for a in row.attributes)
    for name in dict.fromkeys(others):
        if spec.attribute(name) is None:
            tried = f"{name} which the version does not have"
            yield AttributeTrial(tried, Subject.ATTRIBUTES, {name: _VALUES[name]}, refused=True)
