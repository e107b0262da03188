"""Pages and JSON of ``vinculum convert`` and ``vinculum harden``: changed nodes with reasons, and comparisons."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from rich.console import RenderableType, group
from rich.text import Text

from vinculum.models.convert import FileConversion
from vinculum.models.engines.model_runner import NAMES
from vinculum.models.onnx.divisions import GUARDS
from vinculum.repair import RUNTIMES, Decision, HardenedFile, Hardening
from vinculum.reporting.escape import short
from vinculum.reporting.plain import part, plain
from vinculum.reporting.terminal import cells, counted, named, section, table

_NOW = ("Node", "Now", "Because")
_WHY_INLINED = "not every runtime takes them, or their calls differ in type"
_OR = "Or run the model as it is: vinculum.onnxruntime.register(session_options) has ONNX Runtime divide exactly."


@group()
def conversion_page(conversion: FileConversion, source: Path, target: Path) -> Iterator[RenderableType]:
    """Return a conversion as a page: the changed nodes with reasons, and the comparison of both models."""
    yield Text(short(f"{source}, {conversion.source}"), "bold")
    yield Text(short(f"{target}, {conversion.target}"), "bold")
    if conversion.changes:
        yield from section("Changes", table(_NOW, (cells(one.node, one.what, one.why) for one in conversion.changes)))
    yield Text("")
    yield Text(" ".join(_compared(conversion)))


def _compared(conversion: FileConversion) -> Iterator[str]:
    changed = counted(len(conversion.changes), "change") if conversion.changes else "No node changed"
    checked = conversion.verification
    if checked is None:
        yield f"{changed}. Not verified."
        return
    compared = f"{counted(checked.elements, 'element')} of the outputs for {counted(checked.compared, 'set')} of inputs"
    yield f"{changed}. The models agree in every bit of {compared}."
    if checked.skipped:
        was = "was" if checked.skipped == 1 else "were"
        reason = f": {short(checked.reason)}" if checked.reason else ""
        yield f"{counted(checked.skipped, 'set')} of inputs {was} left out{reason}."


def conversion_as_json(conversion: FileConversion, source: Path, target: Path) -> dict[str, Any]:
    """Return the same as an object for JSON."""
    return {
        "source": {"file": str(source), "format": conversion.source},
        "target": {"file": str(target), "format": conversion.target},
        **part(conversion, "changes", "verification"),
    }


@group()
def hardening_page(hardened: HardenedFile, source: Path, target: Path | None) -> Iterator[RenderableType]:
    """Return a hardening as a page; without a target it is a plan."""
    hardening = hardened.hardening
    yield Text(short(f"{source}, hardened for {RUNTIMES[hardening.runtime]}"), "bold")
    if target is not None:
        yield Text(short(str(target)), "bold")
    rewritten = [d for d in hardening.decisions if d.rewritten]
    if rewritten:
        yield from section("Rewritten", table(_NOW, ((_node(one), one.what or "", one.why) for one in rewritten)))
    for title, decisions in (
        ("Left alone", [d for d in hardening.decisions if not d.rewritten and not d.left]),
        ("Not hardened: these may kill the runtime", hardening.left),
    ):
        if decisions:
            yield from section(title, table(_NOW[::2], ((_node(one), one.why) for one in decisions)))
    yield from _notes(hardening.decisions)
    functions = ", ".join(map(short, _functions(hardening)))
    paragraphs = (
        f"The guards are functions of the model: {functions}." if functions else "",
        f"{counted(hardening.inlined, 'function')} inlined: {_WHY_INLINED}." if hardening.inlined else "",
        _verdict(hardened, len(rewritten), target is None),
        _OR if rewritten and hardening.runtime == "onnxruntime" else "",
    )
    for paragraph in filter(None, paragraphs):
        yield from (Text(""), Text(paragraph))


def _functions(hardening: Hardening) -> list[str]:
    return [f"{f.domain}.{f.name}" for f in hardening.model.functions if f.domain == GUARDS]


def _node(decision: Decision) -> RenderableType:
    element_type = "of unknown type" if decision.facts is None else str(decision.facts.element_type)
    return named(decision.name, decision.operator, decision.path, element_type)


def _notes(decisions: tuple[Decision, ...]) -> Iterator[RenderableType]:
    """Yield notes on unexpected results, each once with the element types that it applies to."""
    types: dict[str, dict[str, None]] = {}
    for decision in decisions:
        if decision.note is not None and decision.facts is not None:
            types.setdefault(decision.note, {})[str(decision.facts.element_type)] = None
    if types:
        rows = ((", ".join(names), note) for note, names in types.items())
        yield from section("To know", table(("Type", "What holds there"), rows))


def _verdict(hardened: HardenedFile, rewritten: int, planned: bool) -> str:
    total = counted(len(hardened.hardening.decisions), "division")
    if planned:
        return f"A plan: {rewritten:,} of {total} would be rewritten. Nothing was run, nothing written."
    found = hardened.validation
    if found is None:
        return f"No rewrite was needed ({total}); the model is written as it was."
    names = " and ".join(NAMES[runtime] for runtime in found.runtimes)
    why = f"; {found.reason}" if found.reason else ""
    if found.reason and found.whole_model == "loaded":
        why = f", not run: {found.reason}; give --input"
    return (
        f"{rewritten:,} of {total} rewritten. {counted(found.results, 'result')} on {names} are exact to the last bit, "
        f"zero divisors, MIN/-1 and constants among them. The whole model was {found.whole_model} there{why}."
    )


def hardening_as_json(hardened: HardenedFile, source: Path, target: Path | None) -> dict[str, Any]:
    """Return the same as an object for JSON."""
    hardening = hardened.hardening
    return {
        "source": str(source),
        "target": None if target is None else str(target),
        "runtime": hardening.runtime,
        **part(hardening.policies, "zero_divisor", "overflow"),
        "functions": _functions(hardening),
        "inlined_functions": hardening.inlined,
        "divisions": [
            {
                **part(one, "name", "path", "operator"),
                "element_type": None if one.facts is None else str(one.facts.element_type),
                **part(one, "rewritten", "left", "what", "why", "note"),
            }
            for one in hardening.decisions
        ],
        "validation": plain(hardened.validation),
    }
