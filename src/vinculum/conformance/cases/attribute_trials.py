"""Trials of attributes: hints, defaults, alternative spellings, and attributes that must be refused."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import partial

from vinculum.conformance.cases.builder import CaseBuilder, Trial
from vinculum.conformance.cases.case import Level
from vinculum.conformance.cases.clauses import Subject
from vinculum.conformance.cases.expectations import expectation_of_class, refusal
from vinculum.conformance.cases.operation import declared_attributes
from vinculum.conformance.cases.placements import BOTH
from vinculum.conformance.cases.value_trials import value_classes
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

Asked = tuple[str, Subject | tuple[str, ...], Mapping[str, AttributeValue]]
"""The scenario, its subject, and the attributes of the model; a trial with `Subject.ATTRIBUTES` must be refused."""


def attribute_trials(builder: CaseBuilder) -> Iterator[Trial]:
    """Yield the trials of the attributes of an operator version, except those that concern shapes."""
    spec, element_type = builder.spec, builder.element_type
    # Integers on which all roundings differ; ordinary floats, whose quotients floor division would change.
    classes = value_classes(element_type, len(spec.inputs))
    values = next(v for v in classes if v.subject in (Subject.ORDINARY, Subject.DISCARDED, Subject.QUOTIENT))
    for tried, subject, attributes in _asked(spec, element_type):
        refused = subject is Subject.ATTRIBUTES
        exact = partial(expectation_of_class, spec, element_type, declared_attributes(spec, attributes), values)
        yield Trial(
            tried,
            values.shapes(len(spec.inputs)),
            subject,
            attributes,
            partial(values.operands, element_type),
            refusal if refused else exact,
            Level.FULL if refused and not builder.chosen else Level.DEFAULT,
            # A runtime may honour an attribute when it folds constants but not at run time, or conversely.
            BOTH if element_type.is_integer and not refused else (),
        )


def _asked(spec: OperatorSpec, element_type: ElementType) -> Iterator[Asked]:
    for attribute in spec.attributes:
        if attribute.hint:
            name = attribute.name
            yield f"{name} given", (f"{name.replace('_', '-')}-hint",), {name: _VALUES[name]}
            yield f"{name} that is no list", Subject.ATTRIBUTES, {name: 7}
        elif attribute.type == "INT":
            yield (
                f"{attribute.name} written as text",
                Subject.ATTRIBUTES,
                {attribute.name: str(_VALUES[attribute.name])},
            )
        if attribute.name == spec.integer_rounding_attribute:
            yield from _rounding(spec, element_type, attribute.name, attribute.aliases)
        if attribute.allowed and isinstance(attribute.default, str):
            yield (
                f"an {attribute.name} that the document does not list",
                Subject.ATTRIBUTES,
                {attribute.name: _UNLISTED_STRING},
            )
    yield from _of_other_versions(spec)


def _rounding(spec: OperatorSpec, element_type: ElementType, name: str, aliases: tuple[str, ...]) -> Iterator[Asked]:
    values = [value for value in spec.integer_rounding if isinstance(value, bool)]
    if not element_type.is_integer:
        for value in values:
            yield f"{name}={str(value).lower()} on floats", ("floats-ignore-pythondiv",), {name: value}
        return
    yield f"{name} left to its default", Subject.QUOTIENT, {}
    for alias in aliases:
        for value in values:
            yield f"{name} spelled {alias}={str(value).lower()}", ("pythondiv-spelling",), {alias: value}
    yield f"{name} that is neither true nor false", Subject.ATTRIBUTES, {name: _NO_BOOLEAN}


def _of_other_versions(spec: OperatorSpec) -> Iterator[Asked]:
    """Yield the attributes that other versions of the operator have and this one lacks."""
    others = (a.name for row in versions(spec.name, dialect=spec.dialect) for a in row.attributes)
    for name in dict.fromkeys(others):
        if spec.attribute(name) is None:
            yield f"{name} which the version does not have", Subject.ATTRIBUTES, {name: _VALUES[name]}
