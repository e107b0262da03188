"""The specification for readers: a row as a page, all rows as a table."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TypeVar

from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.text import Text

from vinculum.reporting.terminal import grid, section, table
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
    lines = table("Standard", "Operator", "Element types", "Broadcasting", "Rounding")
    for row in rows:
        numbered = row.dialect is not Dialect.SONNX
        lines.add_row(
            row.dialect.standard,
            Text(row.title if numbered else f"{row.name} ({row.variant})", "bold"),
            _counted(row.element_types),
            "\n".join(_word(rule) for rule in row.broadcasting.values()) if _is_binary(row) else "-",
            "\n".join(_word(rule) for rule in row.integer_rounding.values()) or "-",
        )
    return lines


def page(row: OperatorSpec) -> RenderableType:
    """Return a row as a page: its facts, what it does, its operands, attributes, types, rules and clauses."""
    return Group(*_sections(row))


def _sections(row: OperatorSpec) -> Iterator[RenderableType]:
    yield Text(f"{row.title}\n{'=' * len(row.title)}", "bold")
    yield Padding.indent(grid(_facts(row)), 2)
    yield from section("Summary", Group(*map(Text, row.documentation)))
    yield from section("Inputs", _operands(row.inputs))
    yield from section("Outputs", _operands(row.outputs))
    if row.attributes:
        yield from section("Attributes", _attributes(row.attributes))
    yield from section("Type constraints", grid(_type_constraints(row)))
    if _is_binary(row):
        yield from section("Broadcasting", _rules(row, row.broadcasting_attribute, row.broadcasting))
    if row.integer_rounding:
        rules = _rules(row, row.integer_rounding_attribute, row.integer_rounding)
        yield from section("Integer rounding", rules)
    if any(t.binary_format for t in row.element_types):
        yield from section("Special values", _special_values(row))
    yield from section("Clauses", _clauses(row))
    yield from section("Source", Text(f"{row.source.document}\n{row.source.url}", overflow="fold"))


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


def _attributes(attributes: Sequence[Attribute]) -> RenderableType:
    rows = table("Name", "Type", "Default", "Meaning")
    for a in attributes:
        spellings = f" Also spelled {', '.join(a.aliases)}." if a.aliases else ""
        allowed = f" One of: {', '.join(_spelled(v) for v in a.allowed)}." if a.allowed else ""
        default = "required" if a.required else "-" if a.default is None else _spelled(a.default)
        cells = (a.name, a.type, default, f"{a.description}{allowed}{spellings}")
        rows.add_row(*map(Text, cells))
    return rows


def _type_constraints(row: OperatorSpec) -> Iterator[tuple[str, str]]:
    for constraint in row.type_constraints:
        names = ", ".join(type_name(row, t) for t in constraint.element_types)
        yield constraint.type_variable, f"{constraint.description}\n{names}"


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
    binary = _is_binary(row)
    rows = table("dividend \\ divisor" if binary else "dividend \\ x", *_OPERANDS.values())
    for dividend in OperandClass if binary else (OperandClass.FINITE,):
        cells = (_QUOTIENTS[special_case(dividend, divisor).quotient] for divisor in OperandClass)
        rows.add_row(_OPERANDS[dividend] if binary else "1", *cells)
    legend = (
        "+- of a quotient is the exclusive-or of the operands' signs.",
        "finite is any number but 0, subnormals too; rounded is the exact quotient, rounded once.",
    )
    return Group(rows, *(Text(line, "dim") for line in legend))


def _clauses(row: OperatorSpec) -> RenderableType:
    blocks: list[RenderableType] = []
    for clause in row.clauses:
        basis = Text(f"Basis: {clause.basis}", "dim")
        blocks += [Text(clause.tag, "bold"), Padding.indent(Group(Text(clause.statement), basis), 4)]
    return Group(*blocks)


def type_name(row: OperatorSpec, element_type: ElementType) -> str:
    """Return what a row's own community calls an element type."""
    return (element_type.openvino if row.dialect is Dialect.OPENVINO else None) or element_type.name


def domain_name(row: OperatorSpec) -> str:
    """Return an ONNX row's domain as people write it."""
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
