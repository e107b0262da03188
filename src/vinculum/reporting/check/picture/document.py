"""The page of ``vinculum check --html``: one file that needs no network and runs no text of a model.

Findings can be read without JavaScript, which lays out and draws the pictures from data in the page. Every text of a
model goes through `escape`, is escaped by the template or by JSON, and is set as text by the script.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from importlib.resources import files
from itertools import islice
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from vinculum.analysis.domain.abstract_tensor import AbstractTensor
from vinculum.analysis.findings import Finding, Severity, by_cause
from vinculum.analysis.places import alert_frame
from vinculum.analysis.triage import Triage
from vinculum.models.onnx.scopes import Scope, name_of, scopes
from vinculum.reporting.check.picture.graph import Box, drawn
from vinculum.reporting.check.words import message, sections
from vinculum.reporting.escape import one_line, short
from vinculum.reporting.plain import rendered
from vinculum.reporting.terminal import counted

if TYPE_CHECKING:
    from onnx import ModelProto

DRAWN = 8
"""How many findings of a model are drawn; alike ones count once."""


_NUMBERS = 12
_ARITHMETIC = frozenset({"Add", "Clip", "Div", "Max", "Min", "Mod", "Mul", "Pow", "Sub", "Where"})
_LONGEST = 40  # Characters of a name in the picture.
_SIGNS = {
    Severity.CERTAIN: "■",
    Severity.WITNESSED: "◆",
    Severity.WITNESSED_OUTSIDE: "◇",
    Severity.POSSIBLE: "▲",
    Severity.UNCONFIRMED: "△",
}


def document(checked: Sequence[tuple[Triage, ModelProto]]) -> str:
    """Return the page of several models with their findings."""
    folder = files(__package__).joinpath("templates")
    style, layout, script = (
        folder.joinpath(name).read_text("utf-8") for name in ("check.css", "dagre.min.js", "check.js")
    )
    models = [_Model(f"m{number}", triage, proto) for number, (triage, proto) in enumerate(checked)]
    data = json.dumps({one.id: one.pictures for one in models}, separators=(",", ":"))
    return rendered(
        __package__,
        "check.html.j2",
        {
            "nodes": lambda count: counted(count, "node"),
            "findings": lambda count: counted(count, "finding"),
            "name": lambda text: short(one_line(text)),
            "message": message,
            "sections": sections,
            "alert_frame": alert_frame,
            "held": _held,
            "values": _values_text,
        },
        models=models,
        signs=_SIGNS,
        style=style,
        script=f"{layout}\n{script}",
        data=data.replace("<", "\\u003c"),
    )


class _Model:
    """A model on the page: its findings in groups by their causes, and pictures of some that differ."""

    def __init__(self, id: str, triage: Triage, proto: ModelProto) -> None:
        self.id, self.triage = id, triage
        self.groups = by_cause(triage.open)
        found = Counter(finding.severity for finding in triage.open)
        self.counts = {severity: found[severity] for severity in Severity if found[severity]}
        chosen = list(islice(_different(self.groups), DRAWN))
        self.pictures = list(_pictures(chosen, triage, proto))
        self.left_out = len(triage.open) - len(chosen)


def _different(groups: Sequence[Sequence[Finding]]) -> Iterator[tuple[int, Finding]]:
    """Yield the findings that differ in more than names, with the number of their group."""
    seen: set[tuple[int, str]] = set()
    for number, group in enumerate(groups, 1):
        for finding in group:
            key = number, finding.fingerprint.partition("-")[0]
            if key not in seen:
                seen.add(key)
                yield number, finding


def _held(finding: Finding) -> Mapping[str, NDArray[Any]]:
    witness = finding.witness
    if witness is None:
        return {}
    return witness.inputs if witness.value is None else {**witness.inputs, witness.tensor: witness.value}


def _pictures(chosen: Sequence[tuple[int, Finding]], triage: Triage, proto: ModelProto) -> Iterator[dict[str, Any]]:
    known = {scope.path: scope for scope in scopes(proto)}
    by_scope: dict[str, list[tuple[int, Finding]]] = {}
    for number, finding in chosen:
        by_scope.setdefault(finding.scope, []).append((number, finding))
    for path, numbered in by_scope.items():
        if path in known:
            values = {} if path else triage.report.values
            yield _Picture(known[path], numbered, triage.open, values).data()


class _Picture:
    """The boxes and arrows of a part of a scope, with their texts."""

    def __init__(
        self,
        scope: Scope,
        numbered: Sequence[tuple[int, Finding]],
        every: Sequence[Finding],
        values: Mapping[str, AbstractTensor],
    ) -> None:
        self._scope, self._numbered, self._values = scope, numbered, values
        self._findings = [finding for _, finding in numbered]
        self._graph = drawn(scope, self._findings)
        self._places = {f.node for f in every if f.scope == scope.path}
        self._divisors = {f.divisor: f.severity.value for f in reversed(self._findings)}

    def data(self) -> dict[str, Any]:
        """Return the boxes with their lines of text, and the arrows: one between two boxes, or one for each label."""
        boxes = {box.id: box for box in self._graph.boxes}
        ways: dict[tuple[str, str, str], bool] = {}
        for one in self._graph.arrows:
            key = (one.start, one.end, self._label(boxes[one.end], one.value))
            ways[key] = ways.get(key, False) or one.is_way
        labelled = {key[:2] for key in ways if key[2]}
        return {
            "scope": short(one_line(self._scope.path)),
            "hidden": self._graph.hidden,
            "boxes": list(map(self._box, boxes.values())),
            "arrows": [
                {"start": start, "end": end, "label": label, "way": way}
                for (start, end, label), way in ways.items()
                if label or (start, end) not in labelled
            ],
        }

    def _found(self, box: Box) -> list[tuple[int, Finding]]:
        """Return the findings at a node, with the numbers of their groups."""
        name = name_of(box.nodes[0]) if box.kind == "node" else None
        return [(n, f) for n, f in self._numbered if name in (f.node, f.node.rpartition("/")[0])]

    def _label(self, box: Box, value: str) -> str:
        """Return the role of an operand in the division that reads it."""
        at = [finding for _, finding in self._found(box)]
        if any(finding.divisor == value for finding in at):
            return "divisor" if "zero" in at[0].rule or "divisor" in at[0].rule or at[0].operator == "Div" else ""
        return "dividend" if at and at[0].operator == "Div" and box.nodes[0].input[:1] == [value] else ""

    def _box(self, box: Box) -> dict[str, Any]:
        found = self._found(box)
        severities = [finding.severity.value for _, finding in found]
        if box.kind in ("node", "input"):
            severities += [self._divisors[value] for value in box.values if value in self._divisors]
        return {
            "id": box.id,
            "kind": "finding" if found else box.kind,
            "severity": severities[0] if severities else "",
            "numbers": [number for number, _ in found],
            "lines": [[kind, text] for kind, text in self._lines(box, found) if text],
            "full": one_line(", ".join(box.values[:_NUMBERS])),
        }

    def _lines(self, box: Box, found: Sequence[tuple[int, Finding]]) -> Iterator[tuple[str, str]]:
        """Yield the lines of a box: its operator, its name, what is known of its value, and its value in a witness."""
        if box.kind == "fold":
            yield "title", counted(len(box.nodes), "node")
            yield "small", one_line(box.title)
            inside = sum(name_of(node) in self._places for node in box.nodes)
            yield "small", f"{counted(inside, 'finding')} among them" if inside else ""
            return
        for number, finding in found:
            of_many = f" {number}" if len(self._numbered) > 1 else ""
            yield "badge", f"{_SIGNS[finding.severity]}{of_many} {finding.severity.value}: {finding.rule}"
        if box.kind == "node":
            numbers = ", ".join(self._numbers(box))
            yield "title", _cut(f"{box.title} {numbers}".rstrip())
            yield "name", _cut(box.values[0])
        else:
            yield "title", _cut(f"{box.kind} {box.title}")
        if box.kind != "output":
            yield "bounds", self._bounds(box.values[0])
        yield "witness", next(self._witnessed(box), "")

    def _numbers(self, box: Box) -> Iterator[str]:
        """Yield the numbers that a node computes with, not its axes and the like."""
        for name in box.nodes[0].input if box.title in _ARITHMETIC else ():
            known = self._values.get(name)
            if known is not None and known.scalar is not None:
                yield f"{known.scalar:.6g}"

    def _bounds(self, value: str) -> str:
        known = self._values.get(value)
        if known is None or not known.element_type:
            return ""
        low, high = known.box.hull()
        return f"[{low:.4g}, {high:.4g}] {known.element_type}" + (", NaN" if known.may_nan else "")

    def _witnessed(self, box: Box) -> Iterator[str]:
        """Yield the values of a box in witnesses, or the effects of these on an output."""
        for witness in (finding.witness for finding in self._findings if finding.witness):
            shown = {} if witness.value is None else {witness.tensor: witness.value}
            if box.kind == "input" and witness.kind != "inner":
                shown |= witness.inputs
            effects = witness.effects if box.kind == "output" else ()
            for value in box.values:
                if value in shown:
                    yield _cut(f"witness: {_values_text(shown[value])}")
                yield from (
                    f"witness: {effect.value} in {counted(effect.count, 'place')}"
                    for effect in effects
                    if effect.output == value
                )


def _cut(text: str) -> str:
    """Return a text on one line, without its middle if it is too long for a box."""
    return short(one_line(text), _LONGEST, "…")


def _values_text(array: NDArray[Any]) -> str:
    """Return the first values of an array, or its only value if all are equal."""
    flat = array.reshape(-1)
    if flat.size > 1 and bool((flat == flat[0]).all()):
        return f"{_number(flat[0])} everywhere"
    return ", ".join(map(_number, flat[:_NUMBERS])) + (", ..." if flat.size > _NUMBERS else "")


def _number(value: Any) -> str:
    return f"{value:.6g}" if isinstance(value, np.floating) else str(value)
