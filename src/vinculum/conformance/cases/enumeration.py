"""The suite: the cases of all operator versions, element types, values, shapes, attributes and placements.

Attributes may be hints, defaults, other spellings, or must be refused. So must operands of two element types, or of one
that the version does not list.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from functools import cache

from vinculum.conformance.cases.builder import CaseBuilder
from vinculum.conformance.cases.case import Case, Level, Subject
from vinculum.conformance.cases.floats import DIVISIONS, RECIPROCALS
from vinculum.conformance.cases.integers import INTEGERS
from vinculum.conformance.cases.operation import BOTH
from vinculum.conformance.cases.shape_cases import shape_cases
from vinculum.conformance.cases.values import REALS, ValueClass, dividends, divisors, sizes
from vinculum.spec.element_types import DOUBLE, ELEMENT_TYPES, REAL, ElementType
from vinculum.spec.model import AttributeValue, Dialect, OperatorSpec
from vinculum.spec.rows import ROWS, versions

_ONCE = (Subject.ZERO_DIVISOR, Subject.MINIMUM, Subject.SIZE)  # These do not depend on the rounding.


@cache
def value_classes(element_type: ElementType, operands: int) -> tuple[ValueClass, ...]:
    """Return the classes of operands of an element type, for a division or for Reciprocal.

    - `operands`: 2 for a division, 1 for Reciprocal, which has floating-point types only.
    """
    of_floats = DIVISIONS if operands > 1 else RECIPROCALS
    table = INTEGERS if element_type.is_integer else of_floats if element_type.binary_format else REALS
    return tuple(values for values in (*table, *sizes(operands)) if values.types(element_type))


def value_cases(builder: CaseBuilder) -> Iterator[Case]:
    """Yield the cases of every class of values and every selectable rounding."""
    spec, element_type = builder.spec, builder.element_type
    for place, rounding in enumerate(builder.roundings()):
        for values in value_classes(element_type, len(spec.inputs)):
            joining = builder.joining(values.joined)
            if joining is None:
                continue
            newest = builder.newest and not (place and values.subject in _ONCE)
            yield from builder.cases(
                values.tried,
                values.shapes(len(spec.inputs)),
                values.subject,
                {**rounding, **joining},
                values,
                values.level if newest else values.older,
                values.constants if newest or values.constants is None else (),
            )


_VALUES: Mapping[str, AttributeValue] = {"axis": 0, "broadcast": 1, "consumed_inputs": (0, 0)}

Asked = tuple[str, Subject | tuple[str, ...], Mapping[str, AttributeValue]]
"""The scenario, its subject, and the attributes of the model; what has `Subject.ATTRIBUTES` must be refused."""


def attribute_cases(builder: CaseBuilder) -> Iterator[Case]:
    """Yield the cases of the attributes of an operator version, except those that concern shapes."""
    spec, element_type = builder.spec, builder.element_type
    # Integers on which all roundings differ; ordinary floats, whose quotients floor division would change.
    classes = value_classes(element_type, len(spec.inputs))
    values = next(v for v in classes if v.subject in (Subject.ORDINARY, Subject.DISCARDED, Subject.QUOTIENT))
    for tried, subject, attributes in _asked(spec, element_type):
        refused = subject is Subject.ATTRIBUTES
        yield from builder.cases(
            tried,
            values.shapes(len(spec.inputs)),
            subject,
            attributes,
            values,
            Level.FULL if refused and not builder.chosen else Level.DEFAULT,
            # A runtime may honour an attribute when it folds constants but not at run time, or conversely.
            BOTH if element_type.is_integer and not refused else (),
            refused=refused,
        )


def _asked(spec: OperatorSpec, element_type: ElementType) -> Iterator[Asked]:
    for attribute in spec.attributes:
        name = attribute.name
        if attribute.hint:
            yield f"{name} given", (f"{name.replace('_', '-')}-hint",), {name: _VALUES[name]}
            yield f"{name} that is no list", Subject.ATTRIBUTES, {name: 7}
        elif attribute.type == "INT":
            yield f"{name} written as text", Subject.ATTRIBUTES, {name: str(_VALUES[name])}
        if name == spec.integer_rounding_attribute:
            yield from _rounding(spec, element_type, name, attribute.aliases)
        if attribute.allowed and isinstance(attribute.default, str):
            yield f"an {name} that the document does not list", Subject.ATTRIBUTES, {name: "tensorflow"}
    for name in dict.fromkeys(a.name for row in versions(spec.name, dialect=spec.dialect) for a in row.attributes):
        if spec.attribute(name) is None:
            yield f"{name} which the version does not have", Subject.ATTRIBUTES, {name: _VALUES[name]}


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
    yield f"{name} that is neither true nor false", Subject.ATTRIBUTES, {name: "maybe"}


def mixed_type_cases(builder: CaseBuilder) -> Iterator[Case]:
    """Yield operands of two element types, which must be refused.

    The divisor's is the next in the document's order, mostly one of another width; for SONNX's reals it is double.
    """
    spec, element_type = builder.spec, builder.element_type
    if len(spec.inputs) < 2:
        return
    types = (*spec.element_types, DOUBLE) if element_type is REAL else spec.element_types
    other = types[(types.index(element_type) + 1) % len(types)]
    three = ValueClass(f"{other.name} divisors", Subject.TYPES, lambda t: (dividends((3,), t), divisors((3,), other)))
    # For reals, clause [C2] has another subject.
    subject = ("[GR3]",) if element_type is REAL else Subject.TYPES
    yield from builder.cases(three.tried, three.shapes(2), subject, {}, three, Level.DEFAULT, refused=True)


def unlisted_type_cases(builder: CaseBuilder) -> Iterator[Case]:
    """Yield operands of an element type that the version does not list, which must be refused."""
    spec, element_type, count = builder.spec, builder.element_type, len(builder.spec.inputs)
    tried = "an element type that the version does not list"
    three = ValueClass(tried, Subject.UNLISTED, lambda t: (dividends((3,), t), divisors((3,), t))[-count:])
    # Models are likely to use a type that the newest division of the standard lists.
    likely = spec.dialect is not Dialect.ONNX or element_type in versions("Div", dialect=spec.dialect)[-1].element_types
    level = Level.DEFAULT if likely else Level.FULL
    yield from builder.cases(tried, three.shapes(count), three.subject, {}, three, level, refused=True)


def unlisted_types(spec: OperatorSpec) -> tuple[ElementType, ...]:
    """Return the element types that a version does not list although its standard has them.

    SONNX has three operators of one name, selected by the element type. A type that another of them lists is legal, so
    only types that none of them lists are refused: integers by the integer operator, floats by the float operator.
    """
    arithmetic, sonnx = {t.kind for t in spec.element_types}, spec.dialect is Dialect.SONNX
    others = (t for t in ELEMENT_TYPES if t not in spec.element_types)
    return tuple(t for t in others if (t.kind in arithmetic if sonnx else t is not REAL))


_OF_LISTED_TYPES = (value_cases, shape_cases, attribute_cases, mixed_type_cases)


def cases(level: Level, rows: Iterable[OperatorSpec] | None = None) -> Iterator[Case]:
    """Yield the cases of a level and of the levels before it, in the same order on every run.

    - `level`: The last level whose cases are yielded; each has an id that is unique in the suite.
    - `rows`: The operator versions; all twelve if None.
    """
    for spec in ROWS if rows is None else rows:
        for element_type in (*spec.element_types, *unlisted_types(spec)):
            builder = CaseBuilder(spec, element_type, level)
            listed = element_type in spec.element_types
            for made in _OF_LISTED_TYPES if listed else (unlisted_type_cases,):
                yield from made(builder)
