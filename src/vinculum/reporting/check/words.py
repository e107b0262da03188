"""Sentences on findings, which the page, JSON and SARIF share."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import isfinite

from vinculum.analysis.checker import NARROWER
from vinculum.analysis.domain.abstract_tensor import BoundsFrom
from vinculum.analysis.domain.formats import FORMATS
from vinculum.analysis.findings import Blocked, Effect, Finding
from vinculum.analysis.hazards import BY_CODE
from vinculum.reporting.escape import one_line, short
from vinculum.reporting.terminal import counted

BOUNDS_FROM = {
    BoundsFrom.MODEL: "the model alone",
    BoundsFrom.DECLARED: "declared ranges",
    BoundsFrom.TYPE: "the element type",
}
_LONGEST_PATH = 8


def message(finding: Finding) -> str:
    """Return the message of a finding: the value, its bounds, what they rest on, and the hazard."""
    bounds = f"[{finding.low:.6g}, {finding.high:.6g}]"
    rest = BOUNDS_FROM[finding.bounds_from]
    detail = "".join(f" {name.replace('_', ' ').capitalize()}: {value}." for name, value in finding.detail.items())
    said = BY_CODE[finding.rule].message()
    return f"{short(repr(finding.divisor))} lies in {bounds}, by {rest}. {said}{detail}"


def _fix_words(finding: Finding) -> str:
    """Return the remedy; if an epsilon may become zero, with the smallest that does not."""
    form = FORMATS.get(finding.element_type)
    if form is None or form.name not in NARROWER or finding.rule not in ("zero-divisor", "zero-over-zero"):
        return finding.fix
    return f"{finding.fix}; the smallest epsilon of {form.name} is {form.smallest_subnormal:.3g}"


def sections(finding: Finding) -> dict[str, str]:
    """Return what follows the message, by headings: the path, the witness or the search for one, and the remedy."""
    told = {
        "Path": way((*shortened(finding.path), finding.node)) if len(finding.path) > 1 else "",
        "Witness" if finding.witness else "Search": witness_words(finding),
        "Fix": _fix_words(finding),
    }
    return {heading: words for heading, words in told.items() if words}


def block_lists(blocked: Sequence[Blocked]) -> dict[str, list[str]]:
    """Return the block lists of operators and of nodes for converters to float16; the second has named nodes only."""
    return {
        "op_block_list": list(dict.fromkeys(one.operator for one in blocked)),
        "node_block_list": [one.node for one in blocked if one.is_named],
    }


def shortened(path: tuple[str, ...]) -> tuple[str, ...]:
    """Return the values of a path, without the middle if there are many."""
    return path if len(path) <= _LONGEST_PATH else (*path[:3], "...", *path[-4:])


def way(names: Iterable[str]) -> str:
    """Return names with arrows between them."""
    return " -> ".join(map(short, names))


def witness_words(finding: Finding) -> str:
    """Return the witness of a finding, or the result of the search for one; empty if there was no search."""
    witness, search = finding.witness, finding.search
    reached = "" if search is None else _reached(finding)
    if witness is None:
        return f"no witness; {reached}" if reached else ""
    how, by = one_line(witness.how), f" ({', '.join(witness.confirmed_by)})" if witness.confirmed_by else ""
    if witness.kind == "inner":
        inner = f"inner tensor {short(repr(witness.tensor))} = {how} makes the divisor zero{by}"
        return f"{inner}; {reached}" if reached else inner
    if witness.kind == "definition":
        shown = f"on {how}, {_effects(witness.effects) or _zero(finding)}"
        return f"{shown} by ONNX's definition of {finding.operator}; no runtime that was asked shows it"
    outside = " (outside of the declared ranges)," if witness.kind == "outside" else ","
    return f"on {how}{outside} {_effects(witness.effects) or _zero(finding)}{by}"


def _zero(finding: Finding) -> str:
    return f"{short(repr(finding.divisor))} is zero" if "zero" in finding.rule else "it happens"


def _effects(effects: tuple[Effect, ...]) -> str:
    told = [f"output {short(repr(e.output))} is {e.value} in {counted(e.count, 'place')}" for e in effects[:2]]
    more = [f"{counted(len(effects) - 2, 'more output')} not finite"] if len(effects) > 2 else []
    return ", ".join(told + more)


def _reached(finding: Finding) -> str:
    search = finding.search
    assert search is not None
    if not search.runs:
        return f"the model was not run: {one_line(search.stopped)}" if search.stopped else ""
    stopped = f"; {one_line(search.stopped)}" if search.stopped else ""
    runs = counted(search.runs, "run")
    if not isfinite(search.smallest):
        return f"{runs} from the inputs{stopped}"
    return f"smallest magnitude reached from the inputs {search.smallest:.3g}, in {runs}{stopped}"
