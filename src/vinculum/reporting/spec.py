"""The specification as pages and as JSON: all rows, one row, the difference of two, and the evidence for clauses."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict
from itertools import groupby
from typing import Any, TypeVar

from rich.console import Group, RenderableType, group
from rich.padding import Padding
from rich.text import Text

from vinculum.reporting.plain import part, plain
from vinculum.reporting.terminal import grid, section, table
from vinculum.spec.diff import Change, SpecDiff
from vinculum.spec.element_types import ElementType
from vinculum.spec.model import (
    Attribute,
    AttributeValue,
    Broadcasting,
    Clause,
    Dialect,
    IntegerRounding,
    Operand,
    OperatorSpec,
)
from vinculum.spec.special_values import OperandClass, QuotientClass, quotient_class
from vinculum.spec.traceability import ClauseTrace, trace

Rule = TypeVar("Rule", Broadcasting, IntegerRounding)

_OPERANDS = {
    OperandClass.ZERO: "+-0",
    OperandClass.FINITE: "finite",
    OperandClass.INFINITY: "+-inf",
    OperandClass.NAN: "NaN",
}
_QUOTIENTS = {
    QuotientClass.ZERO: "+-0",
    QuotientClass.ROUNDED: "rounded",
    QuotientClass.INFINITY: "+-inf",
    QuotientClass.NAN: "NaN",
}


def overview(rows: Iterable[OperatorSpec]) -> RenderableType:
    """Return rows as one table: their element types, broadcasting and rounding."""
    lines = (
        (
            row.dialect.standard,
            Text(row.title if row.dialect is not Dialect.SONNX else f"{row.name} ({row.variant})", "bold"),
            _counted(row.element_types),
            "\n".join(_word(rule) for rule in row.broadcasting.values()) if len(row.inputs) > 1 else "-",
            "\n".join(_word(rule) for rule in row.integer_rounding.values()) or "-",
        )
        for row in rows
    )
    return table(("Standard", "Operator", "Element types", "Broadcasting", "Rounding"), lines)


@group()
def page(row: OperatorSpec) -> Iterator[RenderableType]:
    """Return a row as a page: facts, summary, operands, attributes, types, rules and clauses."""
    yield _heading(row)
    yield Padding.indent(grid(_facts(row)), 2)
    yield from section("Summary", Group(*map(Text, row.documentation)))
    yield from section("Inputs", _operands(row.inputs))
    yield from section("Outputs", _operands(row.outputs))
    if row.attributes:
        attributes = table(("Name", "Type", "Default", "Meaning"), map(_attribute, row.attributes))
        yield from section("Attributes", attributes)
    types = ", ".join(type_name(row, t) for t in row.element_types)
    yield from section(
        "Type constraints", grid((c.type_variable, f"{c.description}\n{types}") for c in row.type_constraints)
    )
    if len(row.inputs) > 1:
        yield from section("Broadcasting", _rules(row, row.broadcasting_attribute, row.broadcasting))
    if row.integer_rounding:
        rules = _rules(row, row.integer_rounding_attribute, row.integer_rounding)
        yield from section("Integer rounding", rules)
    if any(t.binary_format for t in row.element_types):
        yield from section("Special values", _special_values(row))
    yield from section("Clauses", _clauses(row))
    yield from section("Source", Text(f"{row.source.document}\n{row.source.url}"))


def _heading(row: OperatorSpec) -> Text:
    return Text(f"{row.title}\n{'=' * len(row.title)}", "bold")


def _facts(row: OperatorSpec) -> list[tuple[str, str]]:
    numbered = row.dialect is not Dialect.SONNX
    facts = [
        ("standard", row.dialect.standard),
        ("domain", domain_name(row) if numbered else ""),
        ("since version", str(row.since_version) if numbered else ""),
        ("support level", row.support_level),
        ("function", "yes" if row.function else "no"),
        ("shape inference", "yes" if row.shape_inference else "no"),
    ]
    return [(name, value) for name, value in facts if value]


def _operands(operands: Sequence[Operand]) -> RenderableType:
    return grid((o.name, o.type_variable, o.description) for o in operands)


def _attribute(a: Attribute) -> tuple[str, ...]:
    spellings = f" Also spelled {', '.join(a.aliases)}." if a.aliases else ""
    allowed = f" One of: {', '.join(_spelled(v) for v in a.allowed)}." if a.allowed else ""
    default = "required" if a.required else "-" if a.default is None else _spelled(a.default)
    return a.name, a.type, default, f"{a.description}{allowed}{spellings}"


def _rules(row: OperatorSpec, attribute: str | None, rules: Mapping[AttributeValue | None, Rule]) -> RenderableType:
    if attribute is None:
        return Group(*(Text(_described(rule)) for rule in rules.values()))
    declared = row.attribute(attribute)
    default = declared.default if declared else None
    return grid(
        (f"{attribute}={_spelled(value)}", _described(rule) + (" (default)" if value == default else ""))
        for value, rule in rules.items()
        if value is not None
    )


def _special_values(row: OperatorSpec) -> RenderableType:
    binary = len(row.inputs) > 1
    lines = (
        (_OPERANDS[a] if binary else "1", *(_QUOTIENTS[quotient_class(a, b)] for b in OperandClass))
        for a in (OperandClass if binary else (OperandClass.FINITE,))
    )
    rows = table(("dividend \\ divisor" if binary else "dividend \\ x", *_OPERANDS.values()), lines)
    legend = (
        "+- of a quotient is the exclusive-or of the operands' signs.",
        "finite is any number but 0, subnormals too; rounded is the exact quotient, rounded once.",
    )
    return Group(rows, *(Text(line, "dim") for line in legend))


@group()
def _clauses(row: OperatorSpec) -> Iterator[RenderableType]:
    for clause in row.clauses:
        basis = Text(f"Basis: {clause.basis}", "dim")
        yield from (Text(clause.tag, "bold"), Padding.indent(Group(Text(clause.statement), basis), 4))


def type_name(row: OperatorSpec, element_type: ElementType) -> str:
    """Return the name of an element type in the standard of a row."""
    return (element_type.openvino if row.dialect is Dialect.OPENVINO else None) or element_type.name


def domain_name(row: OperatorSpec) -> str:
    """Return the domain of an ONNX row, as people write it."""
    return row.domain or "ai.onnx"


def _counted(element_types: Sequence[ElementType]) -> str:
    floats = sum(t.binary_format is not None for t in element_types)
    integers = sum(t.is_integer for t in element_types)
    counts = ((floats, "float"), (integers, "integer"), (len(element_types) - floats - integers, "real"))
    return ", ".join(f"{count} {what}" for count, what in counts if count)


def _word(rule: Broadcasting | IntegerRounding) -> str:
    return rule.name.lower()


def _described(rule: Broadcasting | IntegerRounding) -> str:
    return f"{_word(rule)}, {rule.value}" if isinstance(rule, IntegerRounding) else rule.value


def _spelled(value: AttributeValue) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def as_json(row: OperatorSpec) -> dict[str, Any]:
    """Return a row as one JSON object: every field under its own name."""
    rules: dict[str, Mapping[Any, Any]] = {"broadcasting": row.broadcasting, "integer_rounding": row.integer_rounding}
    listed = {name: [{"value": v, "rule": _word(r)} for v, r in choices.items()] for name, choices in rules.items()}
    return {"title": row.title, **plain(row), **listed}


_COMPARED = (
    "inputs", "outputs", "attributes", "type_constraints", "broadcasting", "integer_rounding", "properties", "clauses",
)  # fmt: skip
"""The fields of a difference in the order of its page."""


@group()
def difference_page(diff: SpecDiff) -> Iterator[RenderableType]:
    """Return a difference in the style of ONNX's documents: header, whether it breaks models, and the changes."""
    domain = f" (domain '{domain_name(diff.new)}')"
    yield Text(f"SchemaDiff: {diff.new.name}{domain}", "bold")
    yield Text(f"old version: {diff.old.since_version}")
    yield Text(f"new version: {diff.new.since_version}")
    yield Text.assemble("breaking: ", ("yes", "bold red") if diff.breaking else ("no", "bold green"))
    yield from map(_hanging, diff.reasons)
    for name in _COMPARED:
        lines = type_sentences(diff) if name == "type_constraints" else sentences(diff.changes[name])
        told = [_hanging(line) for line in lines]
        yield from [Text(f"{name.replace('_', ' ').capitalize()}:", "cyan"), *told] if told else []
    yield from _documentation(diff)


def sentences(changes: Iterable[Change]) -> Iterator[str]:
    """Yield a line for each change."""
    for change in changes:
        details = f": {'; '.join(change.details)}" if change.details else ""
        name = f" '{change.name}'" if change.name else ""
        yield f"{change.what}{name}{details}"


def type_sentences(diff: SpecDiff) -> Iterator[str]:
    """Yield a line for the element types that a type variable gains, and one for those that it loses."""
    for change in diff.type_constraints:
        for what, types in (("added", change.added), ("removed", change.removed)):
            if types:
                names = ", ".join(f"tensor({type_name(diff.new, t)})" for t in types)
                yield f"changed '{change.type_variable}': {what} types: {names}"


def _documentation(diff: SpecDiff) -> Iterator[RenderableType]:
    change = diff.documentation
    yield Text("Documentation:", "cyan")
    yield _hanging(f"line similarity: {change.similarity:.2f} (+{change.added}/-{change.removed} lines)")
    styles = {"+": "green", "-": "red", "@": "dim"}
    for line in change.lines:
        yield _hanging(line, styles.get(line[:1], ""))


def _hanging(line: str, style: str = "") -> RenderableType:
    return Padding.indent(Text(line, style), 2)


def difference_as_json(diff: SpecDiff) -> dict[str, Any]:
    """Return a difference as one JSON object: the header of the page, then every field under its own name."""
    return {
        **part(diff.new, "dialect", "domain", "name"),
        "old_version": diff.old.since_version,
        "new_version": diff.new.since_version,
        **part(diff, "breaking", "reasons"),
        **plain(diff.changes),
        **part(diff, "type_constraints", "documentation"),
    }


@group()
def trace_page(row: OperatorSpec) -> Iterator[RenderableType]:
    """Return the evidence for a row as a page: each clause with its theorems, functions and tests."""
    traced = trace(row)
    place = Text(f"{row.source.document}\n{traced.constant} in {traced.file}")
    yield from (_heading(row), Padding.indent(place, 2))
    for clause, found in zip(row.clauses, traced.clauses, strict=True):
        yield from (Text(""), Text(clause.tag, "bold"), Padding.indent(Group(*_evidence(clause, found)), 4))


def trace_as_json(row: OperatorSpec) -> dict[str, Any]:
    """Return the same as one JSON object, with the statement and the basis of each clause."""
    traced = trace(row)
    clauses = [{**asdict(c), **asdict(t)} for c, t in zip(row.clauses, traced.clauses, strict=True)]
    return {**asdict(traced), "source": asdict(row.source), "clauses": clauses}


def _evidence(clause: Clause, found: ClauseTrace) -> Iterator[RenderableType]:
    """Yield a statement and the evidence for it, one name a line; on 80 columns names have 73 characters at most."""
    sections: dict[str, list[RenderableType]] = {
        "theorems": list(_theorems(found)),
        "functions": [Text("\n".join(found.functions))],
        "tests": list(_tests(found.tests)),
        "tests of this clause, in no row in particular": list(_tests(found.shared_tests)),
    }
    yield Text(clause.statement)
    for title, lines in sections.items():
        yield from (Text(title, "cyan"), Padding.indent(Group(*lines), 2)) if lines else ()


def _theorems(found: ClauseTrace) -> Iterator[RenderableType]:
    if found.no_theorem_because is not None:
        yield Text(f"none: {found.no_theorem_because}")
    for theorem in found.theorems:
        time = "" if theorem.seconds is None else f"; {theorem.seconds} s"
        yield Text(theorem.name)
        yield Padding.indent(Text(f"{', '.join(theorem.provers)}{time}", "dim"), 2)


def _tests(tests: Sequence[str]) -> Iterator[RenderableType]:
    """Yield each file and below it its tests; pytest takes them as file::test."""
    for file, named in groupby(tests, lambda test: test.partition("::")[0]):
        yield Text(file)
        yield Padding.indent(Text("\n".join(test.partition("::")[2] for test in named)), 2)
