"""Checks and conversions of the attributes given to an operator version."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from vinculum.errors import AttributeValueError
from vinculum.spec.model import Attribute, AttributeValue, OperatorSpec
from vinculum.spec.rows import versions, whole_number

_LONGEST_SHOWN = 100


def checked_attributes(spec: OperatorSpec, given: Mapping[str, object]) -> dict[str, AttributeValue]:
    """Return the attributes given, by their declared names, without those that are None.

    AttributeValueError if the version has no such attribute, or the attribute does not allow the value.
    """
    values: dict[str, AttributeValue] = {}
    for name, value in given.items():
        if value is None:
            continue
        attribute = spec.attribute(name)
        if attribute is None:
            raise AttributeValueError(_unknown(spec, name))
        values[attribute.name] = _checked(spec, attribute, value)
    return values


def _unknown(spec: OperatorSpec, name: str) -> str:
    allowed = ", ".join(a.name for a in spec.attributes) or "none"
    having = [v.title for v in versions(spec.name, dialect=spec.dialect) if v.attribute(name)]
    hint = f"; {' and '.join(having)} {'has' if len(having) == 1 else 'have'} it" if having else ""
    return f"{spec.title} has no attribute {_shown(name)}; its attributes: {allowed}{hint}"


def _checked(spec: OperatorSpec, attribute: Attribute, value: object) -> AttributeValue:
    converted = _converted(attribute, value)
    if converted is None or (attribute.allowed and converted not in attribute.allowed):
        raise AttributeValueError(
            f"{attribute.name} of {spec.title} is {_shown(value)}; allowed: {_allowed(attribute)}"
        )
    if attribute.minimum is not None and isinstance(converted, int) and converted < attribute.minimum:
        but = f" but {attribute.minimum}" if attribute.minimum else ""
        raise AttributeValueError(
            f"{attribute.name} of {spec.title} is {_shown(value)}; negative values{but} are not defined: "
            f"allowed from {attribute.minimum} on"
        )
    return converted


def _allowed(attribute: Attribute) -> str:
    if attribute.allowed:
        return ", ".join(repr(value) for value in attribute.allowed)
    words = {"INT": "a whole number", "int": "a whole number", "INTS": "a list of whole numbers"}
    return words.get(attribute.type, f"a {attribute.type}")


def _converted(attribute: Attribute, value: object) -> AttributeValue | None:
    """Return the value converted to the attribute's type, None if it is of another type."""
    if attribute.type in ("INT", "int"):
        return whole_number(value)
    if attribute.type == "INTS":
        if isinstance(value, str | bytes) or not isinstance(value, Sequence):
            return None
        wholes = [whole_number(v) for v in value]
        return tuple(w for w in wholes if w is not None) if None not in wholes else None
    if attribute.type == "boolean":
        return bool(value) if type(value).__name__ in ("bool", "bool_") else None
    return value if isinstance(value, str) else None


def _shown(value: object) -> str:
    """Return the `repr` of a value, shortened if it is very long."""
    text = repr(value)
    return text if len(text) <= _LONGEST_SHOWN else f"{text[: _LONGEST_SHOWN - 3]}..."
