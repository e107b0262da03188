"""What changed from one version of an operator to another, and whether a model can notice."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from difflib import SequenceMatcher, unified_diff
from typing import TypeVar

from vinculum.errors import SpecLookupError
from vinculum.spec.compatibility import Rule, breaking_reasons, without, word
from vinculum.spec.element_types import ElementType
from vinculum.spec.model import (
    Attribute,
    AttributeValue,
    Clause,
    Operand,
    OperatorSpec,
)

Named = TypeVar("Named", Attribute, Clause, Operand)


@dataclass(frozen=True)
class Change:
    """One thing that changed.

    Attributes
    ----------
    what : str
        ``"added"``, ``"removed"`` or ``"changed"``.
    name : str
        Whose change it is; of a rule the setting that selects it, empty if none does.
    details : tuple of str
        The old and the new values, or what else there is to say.
    """

    what: str
    name: str
    details: tuple[str, ...] = ()


@dataclass(frozen=True)
class TypeChange:
    """The element types that a type variable gained and lost."""

    type_variable: str
    added: tuple[ElementType, ...]
    removed: tuple[ElementType, ...]


@dataclass(frozen=True)
class DocumentationChange:
    """The two documentations side by side.

    Attributes
    ----------
    similarity : float
        The share of lines in common, 1.0 for equal documentations.
    added, removed : int
        How many lines the unified difference adds and removes.
    lines : tuple of str
        The unified difference with its header; empty for equal documentations.
    """

    similarity: float
    added: int
    removed: int
    lines: tuple[str, ...]


@dataclass(frozen=True)
class SpecDiff:
    """The difference of two versions of one operator.

    Attributes
    ----------
    old, new : OperatorSpec
        The rows compared.
    reasons : tuple of str
        Why models of the old version break under the new one; empty if none does.
    inputs, outputs, attributes, properties, broadcasting, integer_rounding, clauses : tuple of Change
        What changed, each in the old row's order and then the new one's. The properties are shape inference,
        function and support level.
    type_constraints : tuple of TypeChange
        The same for the element types.
    documentation : DocumentationChange
        The same for the documentation.
    """

    old: OperatorSpec
    new: OperatorSpec
    reasons: tuple[str, ...]
    inputs: tuple[Change, ...]
    outputs: tuple[Change, ...]
    attributes: tuple[Change, ...]
    properties: tuple[Change, ...]
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

    Raises
    ------
    SpecLookupError
        If the rows are of different operators.
    """
    if _operator(old) != _operator(new):
        raise SpecLookupError(f"{old.title} and {new.title} are different operators; give two versions of one")
    return SpecDiff(
        old,
        new,
        reasons=tuple(dict.fromkeys(breaking_reasons(old, new))),
        inputs=_changed_operands(old.inputs, new.inputs),
        outputs=_changed_operands(old.outputs, new.outputs),
        attributes=_changed({a.name: a for a in old.attributes}, {a.name: a for a in new.attributes}),
        properties=tuple(_changed_properties(old, new)),
        broadcasting=_changed_rules(
            _by_setting(old.broadcasting_attribute, old.broadcasting),
            _by_setting(new.broadcasting_attribute, new.broadcasting),
        ),
        integer_rounding=_changed_rules(
            _by_setting(old.integer_rounding_attribute, old.integer_rounding),
            _by_setting(new.integer_rounding_attribute, new.integer_rounding),
        ),
        clauses=_changed({c.tag: c for c in old.clauses}, {c.tag: c for c in new.clauses}),
        type_constraints=tuple(_changed_types(old, new)),
        documentation=_changed_documentation(old, new),
    )


def _operator(row: OperatorSpec) -> tuple[object, ...]:
    return row.dialect, row.domain, row.name, row.variant


# What changed.


def _changed(old: Mapping[str, Named], new: Mapping[str, Named]) -> tuple[Change, ...]:
    changes = []
    for name in dict.fromkeys((*old, *new)):
        if name not in new:
            gone = old[name]
            hint = isinstance(gone, Attribute) and gone.hint
            changes.append(Change("removed", name, ("a hint, which changes no result",) if hint else ()))
        elif name not in old:
            changes.append(Change("added", name))
        elif old[name] != new[name]:
            changes.append(Change("changed", name, _details(old[name], new[name])))
    return tuple(changes)


_PROSE = ("description", "statement", "basis")


def _details(old: Named, new: Named) -> tuple[str, ...]:
    changed = [f.name for f in fields(old) if getattr(old, f.name) != getattr(new, f.name)]
    return tuple(
        f"{name} reworded" if name in _PROSE else f"{name}: {getattr(old, name)!r} -> {getattr(new, name)!r}"
        for name in changed
    )


def _changed_operands(old: Sequence[Operand], new: Sequence[Operand]) -> tuple[Change, ...]:
    """Compare by place, as models do: a new name at an old place is a change."""
    places = zip(old, new, strict=False)
    changed = [Change("changed", o.name, _details(o, n)) for o, n in places if o != n]
    removed = [Change("removed", o.name) for o in old[len(new) :]]
    added = [Change("added", n.name) for n in new[len(old) :]]
    return (*changed, *removed, *added)


def _changed_properties(old: OperatorSpec, new: OperatorSpec) -> Iterator[Change]:
    for name in ("shape_inference", "function", "support_level"):
        before, after = getattr(old, name), getattr(new, name)
        if before != after:
            yield Change("changed", name.replace("_", " "), (f"{before} -> {after}",))


def _by_setting(attribute: str | None, rules: Mapping[AttributeValue | None, Rule]) -> dict[str, str]:
    return {f"{attribute}={key}" if attribute else "": word(rule) for key, rule in rules.items()}


def _changed_rules(old: Mapping[str, str], new: Mapping[str, str]) -> tuple[Change, ...]:
    changes = []
    for setting in dict.fromkeys((*old, *new)):
        before, after = old.get(setting), new.get(setting)
        if before is None:
            changes.append(Change("added", setting, (str(after),)))
        elif after is None:
            changes.append(Change("removed", setting, (before,)))
        elif before != after:
            changes.append(Change("changed", setting, (f"{before} -> {after}",)))
    return tuple(changes)


def _changed_types(old: OperatorSpec, new: OperatorSpec) -> Iterator[TypeChange]:
    before = {c.type_variable: c.element_types for c in old.type_constraints}
    after = {c.type_variable: c.element_types for c in new.type_constraints}
    for variable in dict.fromkeys((*before, *after)):
        lost, gained = before.get(variable, ()), after.get(variable, ())
        change = TypeChange(variable, without(gained, lost), without(lost, gained))
        if change.added or change.removed:
            yield change


def _changed_documentation(old: OperatorSpec, new: OperatorSpec) -> DocumentationChange:
    before, after = (f"{row.name} v{row.since_version}" for row in (old, new))
    lines = tuple(unified_diff(old.documentation, new.documentation, before, after, lineterm=""))
    marks = [line[:1] for line in lines[2:]]
    similarity = SequenceMatcher(None, old.documentation, new.documentation, autojunk=False).ratio()
    return DocumentationChange(similarity, marks.count("+"), marks.count("-"), lines)
