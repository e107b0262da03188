"""The specification for readers: a row as a page, all rows as a table, two rows as their difference."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import fields, is_dataclass
from typing import Any, TypeVar

from rich import box
from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from vinculum.spec.diff import Change, SpecDiff
from vinculum.spec.element_types import ElementType
from vinculum.spec.model import (
    Attribute,
    AttributeValue,
    Broadcasting,
    Dialect,
    IntegerRounding,
    Operand,
    OperatorSpec,
)
from vinculum.spec.special_values import OperandClass, QuotientClass, special_case

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
    """Return rows as one table: what each divides, and how it joins shapes and rounds integers."""
    table = _table("Standard", "Operator", "Element types", "Broadcasting", "Rounding")
    for row in rows:
        numbered = row.dialect is not Dialect.SONNX
        table.add_row(
            row.dialect.standard,
            Text(row.title if numbered else f"{row.name} ({row.variant})", "bold"),
            _counted(row.element_types),
            "\n".join(_word(rule) for rule in row.broadcasting.values()) if _is_binary(row) else "-",
            "\n".join(_word(rule) for rule in row.integer_rounding.values()) or "-",
        )
    return table


def page(row: OperatorSpec) -> RenderableType:
    """Return a row as a page: its facts, what it does, its operands, attributes, types, rules and clauses."""
    return Group(*_sections(row))


def difference_page(diff: SpecDiff) -> RenderableType:
    """Return a difference in the manner of ONNX's own: the header, whether it breaks, then what changed."""
    return Group(*_difference_sections(diff))


def as_json(row: OperatorSpec) -> dict[str, Any]:
    """Return a row as one JSON object: every field under its own name."""
    return {"title": row.title, **_fields(row)}


def difference_as_json(diff: SpecDiff) -> dict[str, Any]:
    """Return a difference as one JSON object: the header of the page, then every field under its own name."""
    changes = {name: value for name, value in _fields(diff).items() if name not in ("old", "new")}
    return {
        "dialect": diff.new.dialect.value,
        "domain": diff.new.domain,
        "name": diff.new.name,
        "old_version": diff.old.since_version,
        "new_version": diff.new.since_version,
        "breaking": diff.breaking,
        **changes,
    }


def _fields(record: Any) -> dict[str, Any]:
    return {field.name: _plain(getattr(record, field.name)) for field in fields(record)}


def _plain(value: Any) -> Any:
    if isinstance(value, ElementType):
        return value.name
    if isinstance(value, Dialect):
        return value.value
    if isinstance(value, Broadcasting | IntegerRounding):
        return _word(value)
    if isinstance(value, tuple):
        return [_plain(item) for item in value]
    if isinstance(value, Mapping):
        return [{"value": key, "rule": _plain(rule)} for key, rule in value.items()]
    return _fields(value) if is_dataclass(value) else value


# A row.


def _sections(row: OperatorSpec) -> Iterator[RenderableType]:
    yield Text(f"{row.title}\n{'=' * len(row.title)}", "bold")
    yield _indented(_grid(_facts(row)))
    yield from _section("Summary", Group(*map(Text, row.documentation)))
    yield from _section("Inputs", _operands(row.inputs))
    yield from _section("Outputs", _operands(row.outputs))
    if row.attributes:
        yield from _section("Attributes", _attributes(row.attributes))
    yield from _section("Type constraints", _grid(_type_constraints(row)))
    if _is_binary(row):
        yield from _section("Broadcasting", _rules(row, row.broadcasting_attribute, row.broadcasting))
    if row.integer_rounding:
        rules = _rules(row, row.integer_rounding_attribute, row.integer_rounding)
        yield from _section("Integer rounding", rules)
    if any(t.binary_format for t in row.element_types):
        yield from _section("Special values", _special_values(row))
    yield from _section("Clauses", _clauses(row))
    yield from _section("Source", Text(f"{row.source.document}\n{row.source.url}", overflow="fold"))


def _section(heading: str, body: RenderableType) -> tuple[RenderableType, ...]:
    return Text(""), Text(heading, "bold cyan"), _indented(body)


def _facts(row: OperatorSpec) -> list[tuple[str, str]]:
    numbered = row.dialect is not Dialect.SONNX
    facts = [
        ("standard", row.dialect.standard),
        ("domain", _domain(row) if numbered else ""),
        ("since version", str(row.since_version) if numbered else ""),
        ("support level", row.support_level),
        ("function", "yes" if row.function else "no"),
        ("shape inference", "yes" if row.shape_inference else "no"),
    ]
    return [(name, value) for name, value in facts if value]


def _operands(operands: Sequence[Operand]) -> RenderableType:
    return _grid((o.name, o.type_variable, o.description) for o in operands)


def _attributes(attributes: Sequence[Attribute]) -> RenderableType:
    table = _table("Name", "Type", "Default", "Meaning")
    for a in attributes:
        spellings = f" Also spelled {', '.join(a.aliases)}." if a.aliases else ""
        allowed = f" One of: {', '.join(_spelled(v) for v in a.allowed)}." if a.allowed else ""
        default = "required" if a.required else "-" if a.default is None else _spelled(a.default)
        cells = (a.name, a.type, default, f"{a.description}{allowed}{spellings}")
        table.add_row(*map(Text, cells))
    return table


def _type_constraints(row: OperatorSpec) -> Iterator[tuple[str, str]]:
    for constraint in row.type_constraints:
        names = ", ".join(_called(row, t) for t in constraint.element_types)
        yield constraint.type_variable, f"{constraint.description}\n{names}"


def _rules(row: OperatorSpec, attribute: str | None, rules: Mapping[AttributeValue | None, Rule]) -> RenderableType:
    if attribute is None:
        return Group(*(Text(_described(rule)) for rule in rules.values()))
    declared = row.attribute(attribute)
    default = declared.default if declared else None
    return _grid(
        (f"{attribute}={_spelled(value)}", _described(rule) + (" (default)" if value == default else ""))
        for value, rule in rules.items()
        if value is not None
    )


def _special_values(row: OperatorSpec) -> RenderableType:
    binary = _is_binary(row)
    table = _table("dividend \\ divisor" if binary else "dividend \\ x", *_OPERANDS.values())
    for dividend in OperandClass if binary else (OperandClass.FINITE,):
        cells = (_QUOTIENTS[special_case(dividend, divisor).quotient] for divisor in OperandClass)
        table.add_row(_OPERANDS[dividend] if binary else "1", *cells)
    legend = (
        "+- of a quotient is the exclusive-or of the operands' signs.",
        "finite is any number but 0, subnormals too; rounded is the exact quotient, rounded once.",
    )
    return Group(table, *(Text(line, "dim") for line in legend))


def _clauses(row: OperatorSpec) -> RenderableType:
    blocks: list[RenderableType] = []
    for clause in row.clauses:
        basis = Text(f"Basis: {clause.basis}", "dim")
        blocks += [Text(clause.tag, "bold"), Padding(Group(Text(clause.statement), basis), (0, 0, 0, 4))]
    return Group(*blocks)


# A difference.


def _difference_sections(diff: SpecDiff) -> Iterator[RenderableType]:
    domain = f" (domain '{_domain(diff.new)}')"
    yield Text(f"SchemaDiff: {diff.new.name}{domain}", "bold")
    yield Text(f"old version: {diff.old.since_version}")
    yield Text(f"new version: {diff.new.since_version}")
    yield Text.assemble("breaking: ", ("yes", "bold red") if diff.breaking else ("no", "bold green"))
    yield from map(_hanging, diff.reasons)
    yield from _difference_section("Inputs", _sentences(diff.inputs))
    yield from _difference_section("Outputs", _sentences(diff.outputs))
    yield from _difference_section("Attributes", _sentences(diff.attributes))
    yield from _difference_section("Type constraints", _type_sentences(diff))
    yield from _difference_section("Broadcasting", _sentences(diff.broadcasting))
    yield from _difference_section("Integer rounding", _sentences(diff.integer_rounding))
    yield from _difference_section("Properties", _sentences(diff.properties))
    yield from _difference_section("Clauses", _sentences(diff.clauses))
    yield from _documentation(diff)


def _difference_section(heading: str, sentences: Iterable[str]) -> Iterator[RenderableType]:
    lines = [_hanging(sentence) for sentence in sentences]
    if lines:
        yield Text(f"{heading}:", "cyan")
        yield from lines


def _sentences(changes: Iterable[Change]) -> Iterator[str]:
    for change in changes:
        details = f": {'; '.join(change.details)}" if change.details else ""
        name = f" '{change.name}'" if change.name else ""
        yield f"{change.what}{name}{details}"


def _type_sentences(diff: SpecDiff) -> Iterator[str]:
    for change in diff.type_constraints:
        for what, types in (("added", change.added), ("removed", change.removed)):
            if types:
                names = ", ".join(f"tensor({_called(diff.new, t)})" for t in types)
                yield f"changed '{change.type_variable}': {what} types: {names}"


def _documentation(diff: SpecDiff) -> Iterator[RenderableType]:
    change = diff.documentation
    yield Text("Documentation:", "cyan")
    yield _hanging(f"line similarity: {change.similarity:.2f} (+{change.added}/-{change.removed} lines)")
    styles = {"+": "green", "-": "red", "@": "dim"}
    for line in change.lines:
        yield _hanging(line, styles.get(line[:1], ""))


# Words and layout.


def _called(row: OperatorSpec, element_type: ElementType) -> str:
    return (element_type.openvino if row.dialect is Dialect.OPENVINO else None) or element_type.name


def _domain(row: OperatorSpec) -> str:
    return row.domain or "ai.onnx"


def _is_binary(row: OperatorSpec) -> bool:
    return len(row.inputs) > 1


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


def _table(*headings: str) -> Table:
    table = Table(box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False)
    for heading in headings:
        table.add_column(heading)
    return table


def _grid(rows: Iterable[Sequence[str]]) -> Table:
    grid = Table.grid(padding=(0, 2, 0, 0))
    for row in rows:
        grid.add_row(*(Text(cell, overflow="fold") for cell in row))
    return grid


def _indented(body: RenderableType) -> Padding:
    return Padding(body, (0, 0, 0, 2))


def _hanging(line: str, style: str = "") -> RenderableType:
    """Return a line indented by two, and what does not fit of it too."""
    grid = Table.grid()
    grid.add_column(width=2)
    grid.add_column(overflow="fold")
    grid.add_row("", Text(line, style))
    return grid
