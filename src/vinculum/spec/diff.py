"""The difference of two versions of an operator, and whether it breaks models."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher, unified_diff

from vinculum.errors import SpecLookupError
from vinculum.spec.element_types import ElementType
from vinculum.spec.model import Attribute, AttributeValue, Broadcasting, IntegerRounding, Operand, OperatorSpec

Rule = Broadcasting | IntegerRounding


@dataclass(frozen=True)
class Change:
    """One thing that changed."""

    what: str  # "added", "removed" or "changed".
    name: str  # Its name; of a rule the setting that selects it, empty if none does.
    details: tuple[str, ...] = ()  # The old and the new values, or a remark.


@dataclass(frozen=True)
class TypeChange:
    """The element types that a type variable gained and lost."""

    type_variable: str
    added: tuple[ElementType, ...]
    removed: tuple[ElementType, ...]


@dataclass(frozen=True)
class DocumentationChange:
    """The difference of the two documentations."""

    similarity: float  # The share of lines in common, 1.0 for equal documentations.
    added: int
    removed: int
    lines: tuple[str, ...]  # The unified difference with its header; empty for equal documentations.


@dataclass(frozen=True)
class SpecDiff:
    """The difference of two versions of one operator.

    - `reasons`: Why models of the old version break under the new one; empty if none does.
    - `changes`: By what changed, such as ``"attributes"``, in the order of the old row and then of the new one.
    """

    old: OperatorSpec
    new: OperatorSpec
    reasons: tuple[str, ...]
    changes: Mapping[str, tuple[Change, ...]]
    type_constraints: tuple[TypeChange, ...]
    documentation: DocumentationChange

    @property
    def breaking(self) -> bool:
        """Whether a model legal under the old version is illegal, or means something else, under the new.

        An attribute that is a hint does not count: without it the model means the same.
        """
        return bool(self.reasons)


def difference(old: OperatorSpec, new: OperatorSpec) -> SpecDiff:
    """Return what changed from one version of an operator to another, older or newer.

    SpecLookupError if the rows are of different operators.
    """
    if _operator(old) != _operator(new):
        raise SpecLookupError(f"{old.title} and {new.title} are different operators; give two versions of one")
    before, after = _parts(old), _parts(new)
    return SpecDiff(
        old,
        new,
        tuple(dict.fromkeys(_breaking_reasons(old, new))),
        {kind: tuple(_changes(before[kind], after[kind])) for kind in before},
        tuple(_changed_types(old, new)),
        _changed_documentation(old, new),
    )


def _operator(row: OperatorSpec) -> tuple[object, ...]:
    return row.dialect, row.domain, row.name, row.variant


Part = Mapping[str, object]
"""The fields of a part of a row by their names; a part that is a single value has it under `_VALUE`."""
_VALUE = ""
_RULES = ("broadcasting", "integer_rounding")
"""The fields of a row that hold rules by the value of an attribute, which the field ``..._attribute`` names."""


def _parts(row: OperatorSpec) -> dict[str, Mapping[object, Part]]:
    """Return the parts of a row that are compared, by their kind and by what is the same in both versions."""
    return {
        # Models name operands by their places: a new name in an old place is a change.
        "inputs": dict(enumerate(map(vars, row.inputs))),
        "outputs": dict(enumerate(map(vars, row.outputs))),
        "attributes": {attribute.name: vars(attribute) for attribute in row.attributes},
        "properties": {
            name.replace("_", " "): {_VALUE: str(getattr(row, name))}
            for name in ("shape_inference", "function", "support_level")
        },
        **{rules: _settings(row, rules) for rules in _RULES},
        "clauses": {clause.tag: vars(clause) for clause in row.clauses},
    }


def _settings(row: OperatorSpec, rules: str) -> dict[object, Part]:
    selector = getattr(row, f"{rules}_attribute")
    return {f"{selector}={key}" if selector else "": {_VALUE: _word(rule)} for key, rule in getattr(row, rules).items()}


def _changes(old: Mapping[object, Part], new: Mapping[object, Part]) -> Iterator[Change]:
    for key in dict.fromkeys((*old, *new)):
        before, after = old.get(key), new.get(key)
        if before != after:
            what = "added" if before is None else "removed" if after is None else "changed"
            name = (before or after or {}).get("name", key)
            yield Change(what, str(name), tuple(_details(before or {}, after or {})))


_PROSE = ("description", "statement", "basis")


def _details(before: Part, after: Part) -> Iterator[str]:
    if _VALUE in {**before, **after}:
        yield " -> ".join(str(part[_VALUE]) for part in (before, after) if part)
    elif after:
        for name, value in before.items():
            if value != after[name]:
                yield f"{name} reworded" if name in _PROSE else f"{name}: {value!r} -> {after[name]!r}"
    elif before.get("hint"):
        yield "a hint, which changes no result"


def _word(rule: Rule | None) -> str:
    """Return the name of a rule in sentences."""
    return rule.name.lower() if rule else "none"


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
    """Yield every reason why an old model breaks under the new version."""
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
        # A hint changes no result, so a model keeps its meaning without it; the document calls Div-6 not breaking.
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
    # The default of an attribute that selects a rule matters only by that rule, which is compared with the rules.
    selectors = [{getattr(row, f"{rules}_attribute") for row in (old, new)} for rules in _RULES]
    if kept.default != attribute.default and not (attribute.required or kept.hint or {attribute.name} in selectors):
        yield f"{name} changes its default from {attribute.default!r} to {kept.default!r}"


# Every model that the first rule accepts has the same meaning under the others. A limited divisor may also be
# broadcast as in NumPy if there is no axis that could place it before the end.
_COVERED_BY: Mapping[Rule | None, Collection[Rule | None]] = {
    Broadcasting.EQUAL: set(Broadcasting),
    Broadcasting.LIMITED: {Broadcasting.LIMITED, Broadcasting.PDPD},
}


def _rule_reasons(old: OperatorSpec, new: OperatorSpec) -> Iterator[str]:
    for rules in _RULES:
        if rules == "broadcasting" and len(old.inputs) < 2:
            continue
        if not getattr(old, rules) or not getattr(new, rules):
            continue  # One of the two has no integer types; the reasons about types cover that.
        for setting, given in _settings_of_models(old, rules):
            before, after = _selected(old, rules, given), _selected(new, rules, given)
            covered = before is after or after in _COVERED_BY.get(before, ())
            if before is Broadcasting.LIMITED and after is Broadcasting.MULTIDIRECTIONAL:
                covered = old.attribute("axis") is None
            if not covered:
                yield f"{rules.replace('_', ' ')}{setting}: {_word(before)} -> {_word(after)}"


def _settings_of_models(row: OperatorSpec, rules: str) -> Iterator[tuple[str, dict[str, AttributeValue]]]:
    """Yield every way in which a model can select a rule, in words and as attributes."""
    declared = row.attribute(getattr(row, f"{rules}_attribute") or "")
    if declared is None:
        yield "", {}
        return
    if not declared.required:
        yield f" without {declared.name}", {}
    for value in getattr(row, rules):
        yield f" with {declared.name}={value}", {declared.name: value}


def _selected(row: OperatorSpec, rules: str, given: Mapping[str, AttributeValue]) -> Rule | None:
    """Return the rule that attributes select in a row; None if it has none for them."""
    declared = row.attribute(getattr(row, f"{rules}_attribute") or "")
    values = [value for name, value in given.items() if declared and row.attribute(name) is declared]
    default = declared.default if declared else None
    rule: Rule | None = getattr(row, rules).get(values[0] if values else default)
    return rule


def _without(types: Iterable[ElementType], others: Iterable[ElementType]) -> tuple[ElementType, ...]:
    """Return the element types that are not among the others."""
    excluded = set(others)
    return tuple(t for t in types if t not in excluded)
