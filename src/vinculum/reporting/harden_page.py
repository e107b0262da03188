"""What ``vinculum harden`` tells: what became of every division and why, and what was run to prove it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any

from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.text import Text

from vinculum.models.harden import RUNTIMES, Decision, HardenedFile
from vinculum.models.harden.runtime_process import NAMES
from vinculum.reporting.harmless import short
from vinculum.reporting.tables import counted, section, table
from vinculum.text import listed


def page(hardened: HardenedFile, source: Path, target: Path | None) -> RenderableType:
    """Return a page; without a target it is a plan."""
    return Group(*_sections(hardened, source, target))


def as_json(hardened: HardenedFile, source: Path, target: Path | None) -> dict[str, Any]:
    """Return the same as JSON knows it."""
    hardening = hardened.hardening
    return {
        "source": str(source),
        "target": None if target is None else str(target),
        "runtime": hardening.runtime,
        "zero_divisor": hardening.policies.zero_divisor,
        "overflow": hardening.policies.overflow,
        "inlined_functions": hardening.inlined,
        "remainders_left_alone": list(hardening.remainders),
        "divisions": [_decision_json(decision) for decision in hardening.decisions],
        "proof": None if hardened.proof is None else asdict(hardened.proof),
    }


def _decision_json(decision: Decision) -> dict[str, Any]:
    division = decision.division
    return {
        "name": division.name,
        "path": division.path,
        "operator": division.operator,
        "element_type": str(decision.facts.element_type),
        "rewritten": decision.rewritten,
        "what": decision.what,
        "why": decision.why,
        "note": decision.note,
    }


def _sections(hardened: HardenedFile, source: Path, target: Path | None) -> Iterator[RenderableType]:
    hardening = hardened.hardening
    yield Text(short(f"{source}, hardened for {RUNTIMES[hardening.runtime]}"), "bold")
    if target is not None:
        yield Text(short(str(target)), "bold")
    rewritten = [d for d in hardening.decisions if d.rewritten]
    kept = [d for d in hardening.decisions if not d.rewritten]
    if rewritten:
        rows = table("Node", "Now", "Because")
        for decision in rewritten:
            rows.add_row(_node(decision), Text(decision.what or ""), Text(decision.why))
        yield from section("Rewritten", rows)
    if kept:
        rows = table("Node", "Because")
        for decision in kept:
            rows.add_row(_node(decision), Text(decision.why))
        yield from section("Left alone", rows)
    yield from _notes(hardening.decisions)
    if hardening.inlined:
        yield Text("")
        yield Text(f"{counted(hardening.inlined, 'function')} inlined: OpenVINO takes none.")
    if hardening.remainders:
        yield Text("")
        yield Text(short(f"Not hardened, because it is no division: Mod in {listed(hardening.remainders)}."))
        yield Text("ONNX Runtime dies of MIN mod -1 and refuses a zero divisor there too.")
    yield Text("")
    yield Text(_verdict(hardened, len(rewritten), target is None))


def _node(decision: Decision) -> RenderableType:
    division = decision.division
    where = f" in {division.path}" if division.path else ""
    below = Text(short(f"{division.operator}{where}, {decision.facts.element_type}"), "dim")
    return Group(Text(short(division.name), "bold", overflow="fold"), Padding(below, (0, 0, 0, 2), expand=False))


def _notes(decisions: tuple[Decision, ...]) -> Iterator[RenderableType]:
    """Yield what a user may not expect, each sentence once with the element types that it is about."""
    types: dict[str, dict[str, None]] = {}
    for decision in decisions:
        if decision.note is not None:
            types.setdefault(decision.note, {})[str(decision.facts.element_type)] = None
    if types:
        rows = table("Type", "What holds there")
        for note, names in types.items():
            rows.add_row(Text(", ".join(names)), Text(note))
        yield from section("To know", rows)


def _verdict(hardened: HardenedFile, rewritten: int, planned: bool) -> str:
    total = counted(len(hardened.hardening.decisions), "division")
    if planned:
        return f"A plan: {rewritten:,} of {total} would be rewritten. Nothing was run, nothing written."
    proof = hardened.proof
    if proof is None or not rewritten:
        return f"No rewrite was needed ({total}); the model is written as it was."
    names = " and ".join(NAMES[runtime] for runtime in proof.runtimes)
    return (
        f"{rewritten:,} of {total} rewritten. {counted(proof.quotients, 'quotient')} on {names} agree in every bit "
        f"with ours, zero divisors, MIN/-1 and constants among them."
    )
