"""A page for each operator version, from its row: what it takes and computes, what changed, and what shows it right."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from itertools import groupby
from typing import Any

import numpy as np

from building.documentation.made import MadePage, code, safe, table
from building.documentation.traceability import anchor
from proofs.checking import baseline
from vinculum import BroadcastError, ElementTypeError, Operator
from vinculum.reference import divide
from vinculum.reporting.spec import domain_name, sentences, type_name, type_sentences
from vinculum.spec.diff import SpecDiff, difference
from vinculum.spec.element_types import ELEMENT_TYPES
from vinculum.spec.model import Broadcasting, Dialect, IntegerRounding, OperatorSpec
from vinculum.spec.rows import NEWEST_OPERATOR_SET, ROWS, versions
from vinculum.spec.special_values import OperandClass, QuotientClass, quotient_class
from vinculum.spec.traceability import ClauseTrace, trace

_CLASSES = {
    OperandClass.ZERO: "±0",
    OperandClass.FINITE: "finite",
    OperandClass.INFINITY: "±inf",
    OperandClass.NAN: "NaN",
}
_QUOTIENTS = {
    QuotientClass.ZERO: "±0",
    QuotientClass.ROUNDED: "rounded",
    QuotientClass.INFINITY: "±inf",
    QuotientClass.NAN: "NaN",
}
_SHAPES: Mapping[Broadcasting, tuple[tuple[tuple[int, ...], tuple[int, ...], dict[str, int]], ...]] = {
    Broadcasting.EQUAL: (((2, 3), (2, 3), {}), ((2, 3), (3,), {}), ((2, 3), (), {})),
    Broadcasting.MULTIDIRECTIONAL: (
        ((2, 3, 4, 5), (5,), {}),
        ((4, 5), (2, 3, 4, 5), {}),
        ((2, 3, 1), (3, 4), {}),
        ((3, 1), (1, 4), {}),
        ((2, 3), (2,), {}),
    ),
    Broadcasting.LIMITED: (
        ((2, 3, 4, 5), (), {}),
        ((2, 3, 4, 5), (4, 5), {}),
        ((2, 3, 4, 5), (3, 4), {"axis": 1}),
        ((2, 3, 4, 5), (3, 4), {}),
        ((4, 5), (2, 3, 4, 5), {}),
        ((2, 3), (2, 1), {}),
    ),
    Broadcasting.PDPD: (
        ((2, 3, 4, 5), (5,), {}),
        ((2, 3, 4, 5), (3, 4), {"axis": 1}),
        ((2, 3, 4, 5), (1, 3), {"axis": 0}),
        ((4, 5), (2, 3, 4, 5), {}),
    ),
}
"""Shapes that show each rule, with attributes beside the one that selects it."""
_INTEGERS = (-11, 11, -11, 11), (3, -3, -3, 3)


def operator_pages() -> list[MadePage]:
    """Return the pages, the folder's own first."""
    rows = [
        (
            row.dialect.standard,
            f"[{row.title}]({_file(row)})",
            _counted(row),
            "<br>".join(rule.name.lower() for rule in row.broadcasting.values()) if len(row.inputs) > 1 else "-",
            "<br>".join(rule.name.lower() for rule in row.integer_rounding.values()) or "-",
            _in_force(row),
        )
        for row in ROWS
    ]
    overview = (
        "# Operators\n\nEvery division operator of three standards, as data: these pages are made from the rows of "
        "`vinculum.spec`, which `vinculum spec` prints too.\n\n"
        + table(["Standard", "Version", "Element types", "Broadcasting", "Integer rounding", "In force"], rows)
    )
    return [MadePage("Operators", "index.md", overview), *(MadePage(r.title, _file(r), _page(r)) for r in ROWS)]


def _file(row: OperatorSpec) -> str:
    return row.title.lower().replace(" ", "-").replace("(", "").replace(")", "") + ".md"


def _page(row: OperatorSpec) -> str:
    return "".join(_sections(row))


def _sections(row: OperatorSpec) -> Iterator[str]:
    yield f"# {row.title}\n\n" + "".join(_paragraphs(row.documentation))
    yield table(["Fact", "Value"], _facts(row))
    operands = [(o, "input") for o in row.inputs] + [(o, "output") for o in row.outputs]
    yield "## Operands\n\n" + table(
        ["Name", "Kind", "Type", "Meaning"],
        [(code(o.name), kind, o.type_variable, safe(o.description)) for o, kind in operands],
    )
    if row.attributes:
        yield "## Attributes\n\n" + table(["Name", "Type", "Default", "Meaning"], _attributes(row))
    yield "## Element types\n\n"
    for constraint in row.type_constraints:
        names = ", ".join(code(type_name(row, t)) for t in constraint.element_types)
        yield f"**{constraint.type_variable}**: {names}. {safe(constraint.description)}\n\n"
    if len(row.inputs) > 1:
        yield "## Shapes\n\n" + "".join(_shapes(row))
    if row.integer_rounding:
        yield "## Rounding of integers\n\n" + _rounding(row)
    if any(t.binary_format for t in row.element_types):
        yield "## Special values\n\n" + _special_values(row)
    yield "".join(_changes(row))
    yield "## Clauses\n\nEach statement of this version, where the document has it, and what shows that it is kept.\n\n"
    texts = baseline.read(baseline.FILE.read_text("utf-8"))
    for clause, found in zip(row.clauses, trace(row).clauses, strict=True):
        yield f"### {safe(clause.tag)}\n\n{safe(clause.statement)}\n\n*Basis: {safe(clause.basis)}*\n\n"
        yield "".join(_rests_on(texts.of(row, clause.tag))) + _shown(found)


def _paragraphs(lines: Iterable[str]) -> Iterator[str]:
    """Yield a row's documentation: empty lines end paragraphs, and a line that ends with a colon begins a list."""
    for ends, found in groupby(lines, key=lambda line: not line):
        if not ends:
            block = [_said(line) for line in found]
            listed = block[0].endswith(":")
            yield "\n".join([block[0], "", *(f"- {line}" for line in block[1:])] if listed else block) + "\n\n"


def _said(line: str) -> str:
    """Return a line of a row's documentation, whose backquotes are Markdown's."""
    return safe(line).replace("\\`", "`")


def _facts(row: OperatorSpec) -> Iterator[tuple[str, str]]:
    yield "Standard", f"[{row.source.document}]({row.source.url})"
    if row.dialect is not Dialect.SONNX:
        yield "Domain", code(domain_name(row))
    yield "In force", _in_force(row)
    yield "Shape inference", "yes" if row.shape_inference else "no"
    yield "In Python", code(_call(row))
    yield "On the command line", code(_command(row))


def _in_force(row: OperatorSpec) -> str:
    if row.dialect is Dialect.SONNX:
        return "in the draft"
    if row.dialect is Dialect.OPENVINO:
        return f"from operation set {row.since_version}"
    later = [r.since_version for r in versions(row.name) if r.since_version > row.since_version]
    last = later[0] - 1 if later else NEWEST_OPERATOR_SET
    return (
        f"operator set {row.since_version}"
        if last == row.since_version
        else f"operator sets {row.since_version} to {last}"
    )


def _call(row: OperatorSpec) -> str:
    operands = ", ".join(o.name.lower() for o in row.inputs)
    if row.dialect is Dialect.SONNX:
        return f"vinculum.sonnx.div({operands})"
    if row.dialect is Dialect.OPENVINO:
        return f"vinculum.divide({operands})"
    return f"vinculum.{row.name.lower()}({operands}, opset={row.since_version})"


def _command(row: OperatorSpec) -> str:
    if row.dialect is Dialect.SONNX:
        return f"vinculum spec {row.name} --dialect sonnx --variant {row.variant}"
    return f"vinculum spec {row.name} --version {row.since_version}"


def _attributes(row: OperatorSpec) -> Iterator[tuple[str, str, str, str]]:
    for a in row.attributes:
        default = "required" if a.required else "none" if a.default is None else code(_spelled(a.default))
        allowed = f" One of: {', '.join(code(_spelled(v)) for v in a.allowed)}." if a.allowed else ""
        aliases = f" Also spelled {', '.join(map(code, a.aliases))}." if a.aliases else ""
        yield code(a.name), a.type, default, safe(a.description) + allowed + aliases


def _shapes(row: OperatorSpec) -> Iterator[str]:
    """Yield each rule in words, and what it makes of some shapes, by the operator itself."""
    element_type = next((t for t in row.element_types if t.name == "float"), row.element_types[0])
    for value, rule in row.broadcasting.items():
        name = row.broadcasting_attribute
        selecting = {} if name is None or value is None else {name: value}
        given = f"With `{name}={_spelled(value)}`: " if name and value is not None else ""
        yield f"{given}{safe(rule.value)}.\n\n"
        lines = []
        for a, b, more in _SHAPES[rule]:
            try:
                settings: dict[str, Any] = {**_selection(row), **selecting, **more}
                operator = Operator(row.name, **settings)
                result = _shape(operator.infer([element_type.name] * 2, [a, b])[1])
            except (BroadcastError, ElementTypeError) as error:
                result = f"refused: {safe(str(error))}"
            attributes = ", ".join(f"{n}={v}" for n, v in more.items())
            lines.append((_shape(a), _shape(b), code(attributes), result))
        plain = all(not line[2] for line in lines)
        headings = ["A", "B", "Attributes", "Result"]
        yield table(
            [h for h in headings if h != "Attributes" or not plain],
            [[c for k, c in enumerate(line) if k != 2 or not plain] for line in lines],
        )


def _shape(shape: object) -> str:
    """Return a shape that no line breaks."""
    return code(str(shape).replace(" ", "\N{NO-BREAK SPACE}"))


def _selection(row: OperatorSpec) -> dict[str, Any]:
    if row.dialect is Dialect.ONNX:
        return {"opset": row.since_version}
    return {"dialect": "openvino"} if row.dialect is Dialect.OPENVINO else {"dialect": "sonnx", "variant": row.variant}


def _rounding(row: OperatorSpec) -> str:
    int32 = next(t for t in ELEMENT_TYPES if t.name == "int32")
    dividends, divisors = (np.array(values, "int32") for values in _INTEGERS)
    lines = []
    for value, rule in row.integer_rounding.items():
        name = row.integer_rounding_attribute
        setting = code(f"{name}={_spelled(value)}") if name and value is not None else "always"
        quotients = divide(dividends, divisors, int32, rounding=rule)
        lines.append((setting, f"{_words(rule)}", *map(str, quotients.tolist())))
    return table(["Setting", "Rounds", *(f"{a} / {b}" for a, b in zip(*_INTEGERS, strict=True))], lines)


def _words(rule: IntegerRounding) -> str:
    return f"{rule.name.lower()}, {rule.value}"


def _special_values(row: OperatorSpec) -> str:
    binary = len(row.inputs) > 1
    rows = [
        (
            f"**{_CLASSES[dividend] if binary else '1'}**",
            *(_QUOTIENTS[quotient_class(dividend, divisor)] for divisor in OperandClass),
        )
        for dividend in (OperandClass if binary else (OperandClass.FINITE,))
    ]
    return table(["dividend \\ divisor", *_CLASSES.values()], rows) + (
        "The sign of a quotient is the exclusive-or of the operands' signs; that of NaN is unspecified. *finite* is "
        "any number but 0, subnormals included; *rounded* is the exact quotient, rounded once, ties to even.\n\n"
    )


def _changes(row: OperatorSpec) -> Iterator[str]:
    if row.dialect is not Dialect.ONNX:
        return
    older = [r for r in versions(row.name) if r.since_version < row.since_version]
    if not older:
        return
    diff = difference(older[-1], row)
    yield f"## What changed since {older[-1].title}\n\n"
    if diff.breaking:
        yield "**Breaking**: a model of the old version may be illegal, or mean something else.\n\n"
        yield "".join(f"- {safe(reason)}\n" for reason in diff.reasons) + "\n"
    else:
        yield "Not breaking: every model of the old version means the same.\n\n"
    yield "".join(f"- {safe(line)}\n" for line in _lines(diff)) + "\n"


def _lines(diff: SpecDiff) -> Iterator[str]:
    order = ("inputs", "outputs", "attributes", "broadcasting", "integer_rounding", "properties", "clauses")
    for kind in order:
        title = kind.replace("_", " ").capitalize()
        yield from (f"{title}: {line}" for line in sentences(diff.changes[kind]))
    yield from (f"Element types: {line}" for line in type_sentences(diff))


def _rests_on(requirement: baseline.Requirement | None) -> Iterator[str]:
    if requirement is None:
        return
    if requirement.on:
        yield f"[Text](../../traceability.md#the-documents): {', '.join(map(str, requirement.on))}.\n\n"
    if requirement.derived:
        yield f"*Derived*, the document does not state it: {safe(requirement.derived)}.\n\n"
    if requirement.changed:
        yield f"*Changed* in SONNX's later text: {safe(requirement.changed)}.\n\n"


def _shown(found: ClauseTrace) -> str:
    parts = []
    if found.theorems:
        links = ", ".join(f"[{safe(t.name)}](../../traceability.md#{anchor(t.name)})" for t in found.theorems)
        parts.append(f"Theorems: {links}.")
    elif found.no_theorem_because:
        parts.append(f"No theorem: {safe(found.no_theorem_because)}.")
    if found.functions:
        names = (name.removeprefix("vinculum.").removeprefix("vinculum/") for name in found.functions)
        parts.append(f"Functions: {', '.join(map(code, names))}.")
    tests = [*found.tests, *found.shared_tests]
    parts.append(f"Tests: {', '.join(code(test.partition('::')[2]) for test in tests)}.")
    body = "\n\n".join(f"    {part}" for part in parts)
    counts = f"{_number(len(found.theorems), 'theorem')}, {_number(len(tests), 'test')}"
    return f'??? note "{counts}"\n\n{body}\n\n'


def _number(count: int, what: str) -> str:
    return f"{count} {what}{'' if count == 1 else 's'}"


def _spelled(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def _counted(row: OperatorSpec) -> str:
    floats = sum(t.binary_format is not None for t in row.element_types)
    integers = sum(t.is_integer for t in row.element_types)
    counts = ((floats, "float"), (integers, "integer"), (len(row.element_types) - floats - integers, "real"))
    return ", ".join(f"{count} {what}" for count, what in counts if count)
