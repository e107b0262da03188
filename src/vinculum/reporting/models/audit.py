"""Page and JSON of ``vinculum audit``: for every division how far its quotients are off, and its hazardous operands."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from shlex import quote
from typing import Any

from rich.console import Group, RenderableType, group
from rich.padding import Padding
from rich.text import Text

from vinculum.conformance.audit.record import Audit, NodeRecord
from vinculum.conformance.run.record import Kind, Verdict
from vinculum.reporting.conformance.view import asked, message
from vinculum.reporting.escape import one_line, short
from vinculum.reporting.models.run import InputReport, inner_divisions, inputs_table, operands_text, seconds_text
from vinculum.reporting.plain import part, plain
from vinculum.reporting.terminal import counted, named, section, table
from vinculum.sandbox import Answer, End

_ENDS = {
    End.REFUSED: "refused to run it",
    End.UNSUPPORTED: "does not support it",
    End.CRASHED: "died",
    End.HUNG: "did not end",
    End.OUT_OF_MEMORY: "ran out of memory",
}
_HARDENED = ("onnxruntime", "openvino")
_IN_MEMORY = "(in memory)"


@group()
def page(audit: Audit, inputs: Sequence[InputReport], seed: int | None) -> Iterator[RenderableType]:
    """Return an audit as a page: inputs, divisions, findings."""
    yield Text(short(f"{audit.model} in {audit.title}{audit.backend[len(audit.backend.partition('[')[0]) :]}"), "bold")
    yield Text(short(", ".join(f"{name} {number}" for name, number in audit.versions.items())))
    if audit.finds:
        yield Text(_failure(audit), "bold red")
    if inputs:
        yield from section("Inputs", inputs_table(inputs, seed))
    yield from section("Divisions", _divisions(audit.nodes))
    if audit.inner:
        yield from section("Not compared: divisions inside other operators", inner_divisions(audit.inner))
    told = [n for n in audit.nodes if n.hazards or n.is_wrong or n.verdict is None or n.verdict.kind is not Kind.EXACT]
    if told:
        yield from section("Findings", Group(*(part for node in told for part in _finding(node, audit.title))))
    if audit.exposed.end is not End.RETURNED:
        yield from section(f"{audit.title} {_ENDS[audit.exposed.end]}", Group(*_end(audit)))
    if audit.edges.died is not None:
        died = (audit.edges.died.words, *(f"Vinculum finds here: {sentence}" for sentence in audit.edges.suspects))
        heading = f"{audit.title} {_ENDS[End.CRASHED]} on edge cases"
        yield from section(heading, Group(*(Text(one_line(words)) for words in died)))
    if audit.nodes:
        yield from (Text(""), Text(_exposure(audit), "dim"))
    yield from (Text(""), Text(_summary(audit)))
    steps = list(_next_steps(audit, seed, any(one.assumed for one in inputs)))
    if steps:
        yield from (Text(""), Text("Next", "bold cyan"))
    for line in steps:
        yield Text(f"  {line}", no_wrap=True, overflow="ignore")  # so that commands can be copied


def _divisions(nodes: Sequence[NodeRecord]) -> RenderableType:
    if not nodes:
        return Text("none in this model")
    rows = ((_node(n), _verdict(n.verdict), _verdict(n.edges), n.smallest_divisor or "-") for n in nodes)
    return table(("Node", "On these inputs", "On edge cases", "Least divisor"), rows)


def _node(node: NodeRecord) -> RenderableType:
    facts = [str(node.element_type)] if node.element_type else []
    above = [] if node.verdict is None else [operands_text(node.shapes)]
    return named(node.division.name, node.division.operator, node.division.path, *facts, above=above)


def _verdict(verdict: Verdict | None) -> Text:
    if verdict is None:
        return Text("not observed", "yellow")
    style = "green" if verdict.kind is Kind.EXACT else "yellow" if verdict.kind.passes else "bold red"
    if verdict.kind in (Kind.ULPS, Kind.WRONG_VALUE):
        off = "wrong" if verdict.largest is None else f"off, up to {counted(verdict.largest, 'ulp')}"
        return Text(f"{verdict.differing:,} of {verdict.elements:,} {off}", style)
    words = {Kind.EXACT: "exact: ", Kind.UNSPECIFIED: "exact where defined: "}.get(verdict.kind)
    return Text(verdict.kind.value if words is None else f"{words}{verdict.elements:,}", style)


def _finding(node: NodeRecord, title: str) -> Iterator[RenderableType]:
    yield Text(short(node.division.name), "bold")
    for line in _lines(node, title):
        yield Padding.indent(Text(one_line(line)), 2)


def _lines(node: NodeRecord, title: str) -> Iterator[str]:
    if node.verdict is None:
        yield f"not observed: {node.unobserved}"
    elif node.verdict.kind is not Kind.EXACT:
        counted_already = node.verdict.kind in (Kind.ULPS, Kind.WRONG_VALUE)
        yield message(node.verdict) if counted_already else f"{node.verdict.kind.value}: {message(node.verdict)}"
        yield from _example(node.verdict, title)
    if node.edges is not None and not node.edges.kind.passes:
        yield f"on edge cases {message(node.edges)}"
        yield from _example(node.edges, title)
    if node.alone is not None and node.alone.kind.passes:
        yield "alone, on the same operands, it is exact: in the model the runtime has wider operands, or another method"
    for hazard in node.hazards:
        yield f"{hazard.what} in {counted(hazard.count, 'quotient')}, first at {hazard.first}"


def _example(verdict: Verdict, title: str) -> Iterator[str]:
    if verdict.example is not None:
        example = verdict.example
        yield f"at {example.index}: {asked(example)}"
        yield f"{title} gave {example.actual}"
        yield f"exact: {example.expected}"


def _end(audit: Audit) -> Iterator[RenderableType]:
    if audit.exposed.words:
        yield Text(one_line(audit.exposed.words))
    for sentence in audit.suspects:
        yield Text(f"Vinculum finds here: {one_line(sentence)}")
    if audit.exposed.end is End.CRASHED and not audit.suspects:
        yield Text("Vinculum finds no MIN/-1 and no integer x/0 in this model, or cannot run it.")
    if audit.plain.end is End.RETURNED:
        yield Text("Without its divisions exposed, the model runs.")
    elif (audit.plain.end, audit.plain.words) != (audit.exposed.end, audit.exposed.words):
        yield Text(f"The original model: {_ended(audit.title, audit.plain)}")


def _ended(title: str, run: Answer) -> str:
    return one_line(f"{title} {_ENDS[run.end]}" + (f": {run.words}" if run.words else ""))


def _exposure(audit: Audit) -> str:
    foot = "To observe a division, an audit makes it an output of the model, which can prevent fusion."
    if audit.exposed.end is not End.RETURNED:
        return foot
    if audit.plain.end is not End.RETURNED:
        ended = _ended(audit.title, audit.plain)
        return f"{foot} Outputs cannot be compared with those of the original model: {ended}"
    if audit.changed:
        changes = "; ".join(one_line(sentence) for sentence in audit.changed)
        return f"{foot} Here that changes outputs: {changes}."
    return f"{foot} The model's outputs are the same with and without."


def _summary(audit: Audit) -> str:
    if not audit.nodes:
        return "This model divides only inside other operators." if audit.inner else "No node of the model divides."
    compared = sum(verdict.elements for node in audit.nodes for verdict in node.verdicts)
    wrong = sum(verdict.differing for node in audit.nodes for verdict in node.verdicts)
    kinds = Counter(
        "not exact" if node.is_wrong else node.verdicts[0].kind.value if node.verdicts else "not observed"
        for node in audit.nodes
    )
    exact, silent = kinds.pop(Kind.EXACT.value, 0), kinds.pop(Kind.UNSPECIFIED.value, 0)
    others = "".join(f", {count:,} {kind}" for kind, count in kinds.most_common())
    total = counted(len(audit.nodes), "division")
    sets = f" and {counted(audit.edges.compared, 'set')} of edge cases" if audit.edges.compared else ""
    where = "where observed and defined" if silent else "where observed"
    sentences = [_failure(audit)] if audit.finds else []
    sentences.append(f"{exact + silent:,} of {total} exact {where}, on these inputs{sets}{others}.")
    sentences.append(f"{counted(compared, 'quotient')} compared, {wrong:,} of them wrong." if compared else "")
    sentences.append(_sizes(audit))
    if not audit.edges.sets:
        sentences.append("It was not run on edge cases.")
    if audit.edges.sets > audit.edges.compared:
        left = audit.edges.sets - audit.edges.compared
        run = audit.edges.skipped
        why = "" if run is None else f": {_ended(audit.title, run)}"
        sentences.append(f"On {counted(left, 'set')} of edge cases nothing was compared{why}.")
    if audit.expanded:
        nodes = f"{counted(audit.expanded, 'node')} replaced by {'its' if audit.expanded == 1 else 'their'}"
        sentences.append(f"{nodes} ONNX function bodies, which {audit.title} may compute in another way.")
    if audit.guarded:
        sentences.append("Guards by vinculum harden are compared as the divisions that they replace.")
    return " ".join((*filter(None, sentences), f"The runs took {seconds_text(audit.seconds)}, loading included."))


def _failure(audit: Audit) -> str:
    """Return the reasons for which the audit fails, the worst first."""
    wrong = sum(node.is_wrong for node in audit.nodes)
    runs = [(run, "") for run in (audit.exposed, audit.plain)]
    runs += [] if audit.edges.died is None else [(audit.edges.died, " on edge cases")]
    ends = dict.fromkeys(f"{audit.title} {_ENDS[run.end]}{where}" for run, where in runs if run.end is not End.RETURNED)
    failures = [*ends, *([f"{counted(wrong, 'division')} not exact"] if wrong else [])]
    return f"{'; '.join(failures)}; exit code 1."


def _sizes(audit: Audit) -> str:
    """Return the sizes of the observed tensors: runtimes may divide the rest of a SIMD vector otherwise."""
    sizes = sorted({size for node in audit.nodes for size in node.sizes})
    if not sizes:
        return ""
    *others, largest = (f"{size:,}" for size in sizes)
    if not others:
        return f"All tensors had {counted(sizes[0], 'quotient')}; those of another size may be divided otherwise."
    listed = (
        f"{', '.join(others)} and {largest}" if len(others) < 6 else f"{len(sizes)} sizes from {others[0]} to {largest}"
    )
    return f"The tensors had {listed} quotients."


def _next_steps(audit: Audit, seed: int | None, assumed: bool) -> Iterator[str]:
    """Yield what to try next: remedies first, then commands that show more."""
    name = "MODEL" if audit.model == _IN_MEMORY else quote(one_line(audit.model))
    backend = quote(audit.backend)
    in_ir = Path(audit.model).suffix == ".xml"
    integers = any(
        node.is_wrong and node.element_type is not None and node.element_type.is_integer for node in audit.nodes
    )
    killed = End.CRASHED in (audit.exposed.end, audit.plain.end) or audit.edges.died is not None
    again = f"  vinculum audit {name} --backend {backend}"
    if audit.expanded:
        yield from ("The nodes themselves:", again)
    if audit.cure:
        yield "Before compile_model, to make its divisions of floats exact on the CPU device:"
        yield from (f"  {line}" for line in audit.cure)
    faulty = integers or killed or bool(audit.suspects)
    if faulty and audit.runtime in _HARDENED and not audit.guarded and not in_ir:
        yield f"vinculum harden {name} --for {audit.runtime} -o hardened.onnx"
    if faulty and in_ir:
        hardening = "  vinculum harden model.onnx --for openvino -o hardened.onnx"
        yield from ("On the ONNX model that the IR was made from:", hardening)
    if integers and audit.guarded and audit.runtime == "openvino":
        yield "OpenVINO narrows all integers to int32: guards are exact where operands and"
        yield "quotients lie within it."
    if any(node.has_body for node in audit.inner) and not audit.expanded:
        yield from ("The divisions inside other operators:", f"{again} --expand")
    if seed is not None:
        yield from ("Inputs of your own:", f"{again} --input NAME=FILE")
    if assumed and any(run is not None and run.end is End.REFUSED for run in (audit.exposed, audit.edges.skipped)):
        yield from ("Sizes that the model takes:", f"{again} --dim NAME=SIZE")
    if not audit.finds:
        yield from ("Everything else that it divides:", f"  vinculum conform {backend}")


def as_json(audit: Audit, inputs: Sequence[InputReport], seed: int | None) -> dict[str, Any]:
    """Return the same as an object for JSON.

    Later releases keep these keys and may add others. ``as_it_is`` and ``exposed``: how the two runs ended, null if
    there is no division and nothing was run. ``cure``: lines of Python that help. ``edge_cases``: the results of the
    sets of edge cases, and for each division their verdict. ``divide_inside``: nodes whose quotients were not compared.

    A ``verdict``, and ``alone``, that of the same division outside of the model if it does not pass, has: ``kind`` and
    ``words``; the number of ``elements``, and how many are ``differing``; in ``ulps`` how many are off by 2**k ulps or
    more, by k; the ``largest`` difference in ulps; and the first one as an ``example``. ``unobserved``: why a division
    has no verdict.
    """
    edges = audit.edges
    return {
        **part(audit, "model", "backend"),
        "runtime": audit.title,
        "versions": plain(audit.versions),
        "seed": seed,
        "inputs": plain(tuple(inputs)),
        "as_it_is": part(audit.plain, "end", "words") if audit.nodes else None,
        "exposed": part(audit.exposed, "end", "words") if audit.nodes else None,
        **part(audit, "suspects", "cure"),
        "changed_by_exposure": plain(audit.changed),
        "seconds": audit.seconds,
        "divisions": [
            {
                **part(node.division, "name", "path", "operator"),
                **part(node, "element_type", "shapes", "unobserved"),
                "verdict": _verdict_as_json(node.verdict),
                "alone": _verdict_as_json(node.alone),
                **part(node, "smallest_divisor", "hazards"),
                "edge_cases": _verdict_as_json(node.edges),
            }
            for node in audit.nodes
        ],
        "edge_cases": {
            **part(edges, "sets", "compared"),
            "skipped": edges.skipped and part(edges.skipped, "end", "words"),
            "died": edges.died and part(edges.died, "end", "words"),
            "suspects": plain(edges.suspects),
        },
        "divide_inside": plain(audit.inner),
        "expanded": audit.expanded,
    }


def _verdict_as_json(verdict: Verdict | None) -> dict[str, Any] | None:
    if verdict is None:
        return None
    numbers = part(verdict, "elements", "differing", "ulps", "largest", "example")
    return {"kind": verdict.kind.value, "words": message(verdict), **numbers}
