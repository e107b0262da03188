"""What changed from one version of an operator to another, and whether that breaks models."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from difflib import SequenceMatcher, unified_diff
from itertools import zip_longest
from typing import NamedTuple, TypeVar

from vinculum.errors import SpecLookupError
from vinculum.spec.element_types import ElementType
from vinculum.spec.model import (
    Attribute,
    Broadcasting,
    Clause,
    IntegerRounding,
    Operand,
    OperatorSpec,
)

Rule = Broadcasting | IntegerRounding


@dataclass(frozen=True)
class Change:
    """One thing that changed."""

    what: str  # "added", "removed" or "changed".
    name: str  # Whose change it is; of a rule the setting that selects it, empty if none does.
    details: tuple[str, ...] = ()  # The old and the new values, or what else there is to say.


@dataclass(frozen=True)
class TypeChange:
    """The element types that a type variable gained and lost."""

    type_variable: str
    added: tuple[ElementType, ...]
    removed: tuple[ElementType, ...]


@dataclass(frozen=True)
class DocumentationChange:
    """The two documentations side by side."""

    similarity: float  # The share of lines in common, 1.0 for equal documentations.
    added: int
    removed: int
    lines: tuple[str, ...]  # The unified difference with its header; empty for equal documentations.


@dataclass(frozen=True)
class SpecDiff:
    """The difference of two versions of one operator: what changed, in the old row's order and then the new one's."""

    old: OperatorSpec
    new: OperatorSpec
    reasons: tuple[str, ...]  # Why models of the old version break under the new one; empty if none does.
    inputs: tuple[Change, ...]
    outputs: tuple[Change, ...]
    attributes: tuple[Change, ...]
    properties: tuple[Change, ...]  # Shape inference, function and support level.
    broadcasting: tuple[Change, ...]
    integer_rounding: tuple[Change, ...]
    clauses: tuple[Change, ...]
    type_constraints: tuple[TypeChange, ...]
    documentation: DocumentationChange

    @property
    def breaking(self) -> bool:
        """Whether a model legal under the old version is illegal, or means something else, under the new.

        An attribute that is a hint does not count: without it the model means the same.
        """
        return bool(self.reasons)


def difference(old: OperatorSpec, new: OperatorSpec) -> SpecDiff:
    """Return what changed from one version of an operator to another, in either direction of time.

    SpecLookupError if the rows are of different operators.
    """
    if _operator(old) != _operator(new):
        raise SpecLookupError(f"{old.title} and {new.title} are different operators; give two versions of one")
    return SpecDiff(
        old,
        new,
        reasons=tuple(dict.fromkeys(_breaking_reasons(old, new))),
        # Operands by place, as models name them: a new name at an old place is a change.
        inputs=_changed(zip_longest(old.inputs, new.inputs)),
        outputs=_changed(zip_longest(old.outputs, new.outputs)),
        attributes=_changed(_paired(*({a.name: a for a in row.attributes} for row in (old, new)))),
        properties=_changed(_paired(_properties(old), _properties(new))),
        broadcasting=_changed(_paired(*(_settings(row, "broadcasting") for row in (old, new)))),
        integer_rounding=_changed(_paired(*(_settings(row, "integer_rounding") for row in (old, new)))),
        clauses=_changed(_paired(*({c.tag: c for c in row.clauses} for row in (old, new)))),
        type_constraints=tuple(_changed_types(old, new)),
        documentation=_changed_documentation(old, new),
    )


def _operator(row: OperatorSpec) -> tuple[object, ...]:
    return row.dialect, row.domain, row.name, row.variant


class _Fact(NamedTuple):
    """Something of a row that is one word, or the rule that a setting selects."""

    name: str
    value: str


_Part = Attribute | Clause | Operand | _Fact
_P = TypeVar("_P", Attribute, Clause, _Fact)


def _paired(old: Mapping[str, _P], new: Mapping[str, _P]) -> Iterator[tuple[_P | None, _P | None]]:
    """Yield what has the same name in both, in the old order and then the new one."""
    for name in dict.fromkeys((*old, *new)):
        yield old.get(name), new.get(name)


def _properties(row: OperatorSpec) -> dict[str, _Fact]:
    names = ("shape_inference", "function", "support_level")
    return {name: _Fact(name.replace("_", " "), str(getattr(row, name))) for name in names}


_RULES = ("broadcasting", "integer_rounding")
"""The fields of a row that hold rules by the value of an attribute, which the field ``..._attribute`` names."""


def _selector(row: OperatorSpec, rules: str) -> str | None:
    selector: str | None = getattr(row, f"{rules}_attribute")
    return selector


def _settings(row: OperatorSpec, rules: str) -> dict[str, _Fact]:
    selector = _selector(row, rules)
    named = {f"{selector}={key}" if selector else "": _word(rule) for key, rule in getattr(row, rules).items()}
    return {name: _Fact(name, value) for name, value in named.items()}


def _changed(pairs: Iterable[tuple[_Part | None, _Part | None]]) -> tuple[Change, ...]:
    return tuple(_change(before, after) for before, after in pairs if before != after)


_PROSE = ("description", "statement", "basis")


def _change(before: _Part | None, after: _Part | None) -> Change:
    found = before or after
    assert found is not None
    name = found.tag if isinstance(found, Clause) else found.name
    details: Iterable[str] = ()
    if isinstance(found, _Fact):
        details = (" -> ".join(fact.value for fact in (before, after) if isinstance(fact, _Fact)),)
    elif before is not None and after is not None and not isinstance(before, _Fact):
        changed = [f.name for f in fields(before) if getattr(before, f.name) != getattr(after, f.name)]
        details = (
            f"{name} reworded" if name in _PROSE else f"{name}: {getattr(before, name)!r} -> {getattr(after, name)!r}"
            for name in changed
        )
    elif after is None and isinstance(before, Attribute) and before.hint:
        details = ("a hint, which changes no result",)
    return Change("added" if before is None else "removed" if after is None else "changed", name, tuple(details))


def _changed_types(old: OperatorSpec, new: OperatorSpec) -> Iterator[TypeChange]:
    before = {c.type_variable: c.element_types for c in old.type_constraints}
    after = {c.type_variable: c.element_types for c in new.type_constraints}
    for variable in dict.fromkeys((*before, *after)):
        lost, gained = before.get(variable, ()), after.get(variable, ())
        change = TypeChange(variable, _without(gained, lost), _without(lost, gained))
        if change.added or change.removed:
            yield change


def _changed_documentation(old: OperatorSpec, new: OperatorSpec) -> DocumentationChange:
    before, after = (f"{row.name} v{row.since_version}" for row in (old, new))
    lines = tuple(unified_diff(old.documentation, new.documentation, before, after, lineterm=""))
    marks = [line[:1] for line in lines[2:]]
    similarity = SequenceMatcher(None, old.documentation, new.documentation, autojunk=False).ratio()
    return DocumentationChange(similarity, marks.count("+"), marks.count("-"), lines)


def _breaking_reasons(old: OperatorSpec, new: OperatorSpec) -> Iterator[str]:
    """Yield every reason for which an old model breaks under the new version; none if it cannot notice."""
    yield from _operand_reasons("input", old.inputs, new.inputs)
    yield from _operand_reasons("output", old.outputs, new.outputs)
    lost = _without(old.element_types, new.element_types)
    if lost:
        yield f"the type constraint loses {', '.join(t.name for t in lost)}"
    for attribute in old.attributes:
        yield from _attribute_reasons(attribute, old, new)
    for attribute in new.attributes:
        if attribute.required and old.attribute(attribute.name) is None:
            yield f"attribute '{attribute.name}' is added and required"
    yield from _rule_reasons(old, new)


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
    return any(_selector(old, rules) == _selector(new, rules) == attribute.name for rules in _RULES)


# Every program that the first rule accepts has the same meaning under the others. A limited divisor may also
# be broadcast NumPy's way as long as no axis can place it elsewhere than at the end.
_COVERED_BY: Mapping[Rule, Collection[Rule | None]] = {
    Broadcasting.EQUAL: set(Broadcasting),
    Broadcasting.LIMITED: {Broadcasting.LIMITED, Broadcasting.PDPD},
}


def _rule_reasons(old: OperatorSpec, new: OperatorSpec) -> Iterator[str]:
    for rules in _RULES:
        if rules == "broadcasting" and len(old.inputs) < 2:
            continue
        if not getattr(old, rules) or not getattr(new, rules):
            continue  # one of the two has no integer types: what that breaks, the type constraints say
        for setting, before, after in _cases(old, new, rules):
            covered = before is after or after in _COVERED_BY.get(before, ())
            if before is Broadcasting.LIMITED and after is Broadcasting.MULTIDIRECTIONAL:
                covered = old.attribute("axis") is None
            if not covered:
                yield f"{rules.replace('_', ' ')}{setting}: {_word(before)} -> {_word(after)}"


def _cases(old: OperatorSpec, new: OperatorSpec, rules: str) -> Iterator[tuple[str, Rule, Rule | None]]:
    """Yield every way in which an old model selects a rule: the setting, the old rule and the new one."""
    old_rules, new_rules = getattr(old, rules), getattr(new, rules)
    old_selector, new_selector = _selector(old, rules), _selector(new, rules)
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


def _word(rule: Rule | None) -> str:
    """Return what a sentence calls a rule."""
    return rule.name.lower() if rule else "none"


def _without(types: Iterable[ElementType], others: Iterable[ElementType]) -> tuple[ElementType, ...]:
    """Return the element types that are not among the others."""
    excluded = set(others)
    return tuple(t for t in types if t not in excluded)
