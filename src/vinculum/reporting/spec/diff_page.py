"""What changed between two versions of an operator, for readers."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.text import Text

from vinculum.reporting.spec.page import domain_name, type_name
from vinculum.spec.diff import Change, SpecDiff


def difference_page(diff: SpecDiff) -> RenderableType:
    """Return a difference in the manner of ONNX's own: the header, whether it breaks, then what changed."""
    return Group(*_difference_sections(diff))


def _difference_sections(diff: SpecDiff) -> Iterator[RenderableType]:
    domain = f" (domain '{domain_name(diff.new)}')"
    yield Text(f"SchemaDiff: {diff.new.name}{domain}", "bold")
    yield Text(f"old version: {diff.old.since_version}")
    yield Text(f"new version: {diff.new.since_version}")
    yield Text.assemble("breaking: ", ("yes", "bold red") if diff.breaking else ("no", "bold green"))
    yield from map(_hanging, diff.reasons)
    written = {
        "Inputs": sentences(diff.inputs),
        "Outputs": sentences(diff.outputs),
        "Attributes": sentences(diff.attributes),
        "Type constraints": type_sentences(diff),
        "Broadcasting": sentences(diff.broadcasting),
        "Integer rounding": sentences(diff.integer_rounding),
        "Properties": sentences(diff.properties),
        "Clauses": sentences(diff.clauses),
    }
    for heading, lines in written.items():
        told = [_hanging(line) for line in lines]
        yield from [Text(f"{heading}:", "cyan"), *told] if told else []
    yield from _documentation(diff)


def sentences(changes: Iterable[Change]) -> Iterator[str]:
    """Yield a line for each change."""
    for change in changes:
        details = f": {'; '.join(change.details)}" if change.details else ""
        name = f" '{change.name}'" if change.name else ""
        yield f"{change.what}{name}{details}"


def type_sentences(diff: SpecDiff) -> Iterator[str]:
    """Yield a line for the element types that a type variable gained, and one for those that it lost."""
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
    return Padding.indent(Text(line, style, overflow="fold"), 2)
