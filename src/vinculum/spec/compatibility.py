"""Whether a model that is legal under one version of an operator is illegal, or means something else, under another."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TypeVar

from vinculum.spec.element_types import ElementType
from vinculum.spec.model import Attribute, AttributeValue, Broadcasting, IntegerRounding, Operand, OperatorSpec

Rule = TypeVar("Rule", Broadcasting, IntegerRounding)


def breaking_reasons(old: OperatorSpec, new: OperatorSpec) -> Iterator[str]:
    """Yield every reason for which an old model breaks under the new version; none if it cannot notice."""
    yield from _operand_reasons("input", old.inputs, new.inputs)
    yield from _operand_reasons("output", old.outputs, new.outputs)
    lost = without(old.element_types, new.element_types)
    if lost:
        yield f"the type constraint loses {', '.join(t.name for t in lost)}"
    for attribute in old.attributes:
        yield from _attribute_reasons(attribute, old, new)
    for attribute in new.attributes:
        if attribute.required and old.attribute(attribute.name) is None:
            yield f"attribute '{attribute.name}' is added and required"
    yield from _broadcasting_reasons(old, new)
    yield from _rounding_reasons(old, new)


def _operand_reasons(role: str, old: Sequence[Operand], new: Sequence[Operand]) -> Iterator[str]:
    before, after = [o.name for o in old], [n.name for n in new]
    if len(before) != len(after):
        yield f"the number of {role}s changes from {len(before)} to {len(after)}"
    elif before != after and sorted(before) == sorted(after):
        yield f"the {role}s change places"


def _attribute_reasons(attribute: Attribute, old: OperatorSpec, new: OperatorSpec) -> Iterator[str]:
    kept = new.attribute(attribute.name)
    name = f"attribute '{attribute.name}'"
    if kept is None:
        # A hint changes no result, so a model keeps its meaning without it: Div-6 calls itself not breaking.
        if not attribute.hint:
            yield f"{name} is removed"
        return
    if kept.type != attribute.type:
        yield f"{name} changes its type from {attribute.type} to {kept.type}"
    if kept.required and not attribute.required:
        yield f"{name} becomes required"
    if kept.hint != attribute.hint:
        yield f"{name} {'no longer changes' if kept.hint else 'now changes'} results"
    refused = [v for v in attribute.allowed if kept.allowed and v not in kept.allowed]
    if refused:
        yield f"{name} loses {', '.join(map(repr, refused))}"
    elif kept.allowed and not attribute.allowed:
        yield f"{name} is limited to {', '.join(map(repr, kept.allowed))}"
    if kept.minimum is not None and (attribute.minimum is None or attribute.minimum < kept.minimum):
        yield f"{name} is limited to {kept.minimum} and above"
    spellings = [s for s in (attribute.name, *attribute.aliases) if new.attribute(s) is not kept]
    if spellings:
        yield f"{name} loses the spelling {', '.join(map(repr, spellings))}"
    # The default of an attribute that selects a rule matters by the rule, which is compared with the rules.
    if kept.default != attribute.default and not (attribute.required or kept.hint or _selects(attribute, old, new)):
        yield f"{name} changes its default from {attribute.default!r} to {kept.default!r}"


def _selects(attribute: Attribute, old: OperatorSpec, new: OperatorSpec) -> bool:
    return any(
        before is not None and before == after == attribute.name
        for before, after in (
            (old.broadcasting_attribute, new.broadcasting_attribute),
            (old.integer_rounding_attribute, new.integer_rounding_attribute),
        )
    )


# Every program that the first rule accepts has the same meaning under the others. A limited divisor may also
# be broadcast NumPy's way as long as no axis can place it elsewhere than at the end.
_COVERED_BY = {
    Broadcasting.EQUAL: set(Broadcasting),
    Broadcasting.LIMITED: {Broadcasting.LIMITED, Broadcasting.PDPD},
    Broadcasting.MULTIDIRECTIONAL: {Broadcasting.MULTIDIRECTIONAL},
    Broadcasting.PDPD: {Broadcasting.PDPD},
}


def _broadcasting_reasons(old: OperatorSpec, new: OperatorSpec) -> Iterator[str]:
    if len(old.inputs) < 2:
        return
    selectors = (old.broadcasting_attribute, new.broadcasting_attribute)
    for setting, before, after in _cases(old, selectors, old.broadcasting, new.broadcasting, new):
        covered = before is after or after in _COVERED_BY[before]
        if before is Broadcasting.LIMITED and after is Broadcasting.MULTIDIRECTIONAL:
            covered = old.attribute("axis") is None
        if not covered:
            yield f"broadcasting{setting}: {word(before)} -> {word(after)}"


def _rounding_reasons(old: OperatorSpec, new: OperatorSpec) -> Iterator[str]:
    if not old.integer_rounding or not new.integer_rounding:
        return  # one of the two has no integer types: what that breaks, the type constraints say
    selectors = (old.integer_rounding_attribute, new.integer_rounding_attribute)
    for setting, before, after in _cases(old, selectors, old.integer_rounding, new.integer_rounding, new):
        if before is not after:
            yield f"integer rounding{setting}: {word(before)} -> {word(after)}"


def _cases(
    old: OperatorSpec,
    selectors: tuple[str | None, str | None],
    old_rules: Mapping[AttributeValue | None, Rule],
    new_rules: Mapping[AttributeValue | None, Rule],
    new: OperatorSpec,
) -> Iterator[tuple[str, Rule, Rule | None]]:
    """Yield every way in which an old model selects a rule: the setting, the old rule and the new one."""
    old_selector, new_selector = selectors
    declared = old.attribute(old_selector) if old_selector else None
    chosen = new.attribute(new_selector) if new_selector else None
    new_default = new_rules.get(chosen.default if chosen else None)
    if declared is None:
        yield "", old_rules[None], new_default
        return
    if not declared.required:
        yield f" without {declared.name}", old_rules[declared.default], new_default
    for value, rule in old_rules.items():
        carried = chosen is not None and new.attribute(declared.name) is chosen
        yield f" with {declared.name}={value}", rule, new_rules.get(value) if carried else new_default


def word(rule: Broadcasting | IntegerRounding | None) -> str:
    """Return what a sentence calls a rule."""
    return rule.name.lower() if rule else "none"


def without(types: Iterable[ElementType], others: Iterable[ElementType]) -> tuple[ElementType, ...]:
    """Return the element types that are not among the others."""
    excluded = set(others)
    return tuple(t for t in types if t not in excluded)
