"""What ``vinculum audit`` tells: of every division what its quotients are worth, and what its operands were like."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from typing import Any

from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.text import Text

from vinculum.conformance.audit.record import Audit, NodeRecord, Run
from vinculum.conformance.verdict import Kind, Verdict
from vinculum.reporting.conformance.words import message
from vinculum.reporting.harmless import one_line, short
from vinculum.reporting.run_page import inputs_table, seconds_text
from vinculum.reporting.run_report import InputReport
from vinculum.reporting.tables import counted, section, table
from vinculum.sandbox import End
from vinculum.text import shape_text

_ENDS = {
    End.REFUSED: "refused to run it",
    End.UNSUPPORTED: "does not support it",
    End.CRASHED: "died",
    End.HUNG: "did not end",
    End.OUT_OF_MEMORY: "ran out of memory",
}
_ZERO, _SUBNORMAL = "divisor zero", "divisor subnormal"
_OVERFLOWS = ("MIN/-1", "quotient overflows")


def page(audit: Audit, inputs: Sequence[InputReport], seed: int | None) -> RenderableType:
    """Return an audit as a page: inputs, divisions, findings."""
    return Group(*_sections(audit, inputs, seed))


def _sections(audit: Audit, inputs: Sequence[InputReport], seed: int | None) -> Iterator[RenderableType]:
    yield Text(short(f"{audit.model} in {audit.title}{audit.backend[len(audit.backend.partition('[')[0]) :]}"), "bold")
    yield Text(short(", ".join(f"{name} {number}" for name, number in audit.versions.items())))
    if inputs:
        yield from section("Inputs", inputs_table(inputs, seed))
    yield from section("Divisions", _divisions(audit.nodes))
    told = [node for node in audit.nodes if _is_told(node)]
    if told:
        yield from section("Findings", Group(*(part for node in told for part in _finding(node))))
    if audit.cure:
        words = "Put these lines before compile_model, and its divisions of floats are exact on the CPU device:"
        yield from section("The cure", Group(Text(words), *(Padding(Text(line), (0, 0, 0, 2)) for line in audit.cure)))
    if audit.exposed.end is not End.RETURNED:
        yield from section(f"{audit.title} {_ENDS[audit.exposed.end]}", Group(*_end(audit)))
    yield Text("")
    yield Text(_exposure(audit), "dim")
    yield Text("")
    yield Text(_summary(audit))


def _divisions(nodes: Sequence[NodeRecord]) -> RenderableType:
    if not nodes:
        return Text("none in this model")
    rows = table("Node", "Verdict", right=("Least divisor", "Zero", "Subnormal", "Overflow"))
    for column in rows.columns:  # In a narrow terminal nothing may be left out.
        column.no_wrap, column.overflow = False, "fold"
    for node in nodes:
        rows.add_row(_node(node), _verdict(node), *_counts(node))
    return rows


def _node(node: NodeRecord) -> RenderableType:
    division = node.division
    facts = [f"{division.operator} in {division.path}" if division.path else division.operator]
    facts += [] if node.element_type is None else [str(node.element_type)]
    lines = [", ".join(facts)]
    if node.verdict is not None:
        lines.insert(0, " / ".join([*(["1"] if len(node.shapes) == 1 else []), *map(shape_text, node.shapes)]))
    below = Text("\n").join(Text(short(line), "dim") for line in lines)
    return Group(Text(short(division.name), "bold", overflow="fold"), Padding(below, (0, 0, 0, 2), expand=False))


def _verdict(node: NodeRecord) -> Text:
    if node.verdict is None:
        return Text("not observed", "yellow")
    if node.verdict.kind is Kind.EXACT:
        return Text("exact", "green")
    if node.verdict.kind is Kind.ULPS:
        return Text(f"off by {counted(node.verdict.largest or 0, 'ulp')}", "bold red")
    return Text(node.verdict.kind.value, "yellow" if node.verdict.kind.passes else "bold red")


def _counts(node: NodeRecord) -> Iterator[Text]:
    if node.verdict is None:
        yield from (Text("-", "dim") for _ in range(4))
        return
    counts = {hazard.what: hazard.count for hazard in node.hazards}
    yield Text(node.smallest_divisor or "-")
    for count in (counts.get(_ZERO, 0), counts.get(_SUBNORMAL, 0), sum(counts.get(what, 0) for what in _OVERFLOWS)):
        yield Text(f"{count:,}", "bold yellow" if count else "dim")


def _is_told(node: NodeRecord) -> bool:
    return bool(node.hazards) or node.verdict is None or node.verdict.kind is not Kind.EXACT


def _finding(node: NodeRecord) -> Iterator[RenderableType]:
    yield Text(short(node.division.name), "bold", overflow="fold")
    for line in _lines(node):
        yield Padding(Text(one_line(line)), (0, 0, 0, 2), expand=False)


def _lines(node: NodeRecord) -> Iterator[str]:
    verdict = node.verdict
    if verdict is None:
        yield f"not observed: {node.unobserved}"
    elif verdict.kind is not Kind.EXACT:
        counted_already = verdict.kind in (Kind.ULPS, Kind.WRONG_VALUE)
        yield message(verdict) if counted_already else f"{verdict.kind.value}: {message(verdict)}"
        if verdict.example is not None:
            example = verdict.example
            operands = " / ".join([*(["1"] if len(example.operands) == 1 else []), *example.operands])
            yield f"at {example.index}: {operands}"
            yield f"is {example.actual}"
            yield f"not {example.expected}"
    if node.alone is not None and node.alone.kind.passes:
        yield "alone, on the same operands, it is exact: in the model the runtime has wider ones, or computes otherwise"
    for hazard in node.hazards:
        yield f"{hazard.what} in {counted(hazard.count, 'quotient')}, first at {hazard.first}"


def _end(audit: Audit) -> Iterator[RenderableType]:
    if audit.exposed.words:
        yield Text(one_line(audit.exposed.words))
    for sentence in audit.suspects:
        yield Text(f"Our engine meets here: {one_line(sentence)}")
    if audit.exposed.end is End.CRASHED and not audit.suspects:
        yield Text("Our engine meets no MIN/-1 and no integer x/0 in this model, or cannot run it.")
    if audit.plain.end is End.RETURNED:
        yield Text("As it is, its divisions not exposed, the model runs.")
    elif audit.plain != audit.exposed:
        yield Text(f"The model as it is: {_ended(audit.title, audit.plain)}")


def _ended(title: str, run: Run) -> str:
    return one_line(f"{title} {_ENDS[run.end]}" + (f": {run.words}" if run.words else ""))


def _exposure(audit: Audit) -> str:
    foot = "A runtime may fuse a division with nodes around it; exposed, it is computed by itself."
    if audit.exposed.end is not End.RETURNED or not audit.nodes:
        return foot
    if audit.plain.end is not End.RETURNED:
        ended = _ended(audit.title, audit.plain)
        return f"{foot} Outputs cannot be compared with those of the model as it is: {ended}"
    if audit.changed:
        changes = "; ".join(one_line(sentence) for sentence in audit.changed)
        return f"{foot} Here that changes outputs: {changes}."
    return f"{foot} The model's outputs are the same with and without."


def _summary(audit: Audit) -> str:
    if not audit.nodes:
        return "Nothing is divided in this model."
    kinds = Counter("not observed" if node.verdict is None else node.verdict.kind.value for node in audit.nodes)
    exact = kinds.pop(Kind.EXACT.value, 0)
    others = "".join(f", {count:,} {kind}" for kind, count in kinds.most_common())
    total = counted(len(audit.nodes), "division")
    return f"{exact:,} of {total} exact{others}. The runs took {seconds_text(audit.seconds)}, loading included."


def as_json(audit: Audit, inputs: Sequence[InputReport], seed: int | None) -> dict[str, Any]:
    """Return the same as JSON knows it.

    The keys of a release stay; later ones may add some. ``as_it_is`` and ``exposed`` tell how the two runs ended,
    null if there is no division and nothing was run. Of each of ``divisions`` the ``verdict``, and for one that does
    not pass the same division ``alone``, have a ``kind`` and ``words``, how many of its ``elements`` are ``differing``,
    in ``ulps`` how many are off by 2**k ulps or more, by k, the ``largest`` of them, and the first as an ``example``.
    ``cure`` holds lines of Python that help. A division without a verdict says under ``unobserved`` why.
    """
    return {
        "model": audit.model,
        "backend": audit.backend,
        "runtime": audit.title,
        "versions": dict(audit.versions),
        "seed": seed,
        "inputs": [asdict(given) for given in inputs],
        "as_it_is": _run_as_json(audit.plain) if audit.nodes else None,
        "exposed": _run_as_json(audit.exposed) if audit.nodes else None,
        "suspects": list(audit.suspects),
        "cure": list(audit.cure),
        "changed_by_exposure": list(audit.changed),
        "seconds": audit.seconds,
        "divisions": [_as_json(node) for node in audit.nodes],
    }


_VERDICT_KEYS = ("elements", "differing", "ulps", "largest", "example")


def _verdict_as_json(verdict: Verdict | None) -> dict[str, Any] | None:
    return (
        None
        if verdict is None
        else {
            "kind": verdict.kind.value,
            "words": message(verdict),
            **{name: value for name, value in asdict(verdict).items() if name in _VERDICT_KEYS},
        }
    )


def _run_as_json(run: Run) -> dict[str, str]:
    return {"end": run.end.value, "words": run.words}


def _as_json(node: NodeRecord) -> dict[str, Any]:
    division = node.division
    return {
        "name": division.name,
        "path": division.path,
        "operator": division.operator,
        "element_type": None if node.element_type is None else str(node.element_type),
        "shapes": node.shapes,
        "unobserved": node.unobserved,
        "verdict": _verdict_as_json(node.verdict),
        "alone": _verdict_as_json(node.alone),
        "smallest_divisor": node.smallest_divisor,
        "hazards": [asdict(hazard) for hazard in node.hazards],
    }
