"""The page of ``vinculum check --html``: one file that needs no network and obeys nothing that a model says.

Findings are there without JavaScript. The pictures are laid out and drawn by it, from data that stands in the page;
every text of a model goes through `escape`, is escaped by the template or by JSON, and set as text by the script.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from functools import cache
from importlib.resources import files
from itertools import islice
from typing import TYPE_CHECKING, Any

from vinculum.analysis.findings import Finding, Severity, by_cause
from vinculum.analysis.places import alert_frame
from vinculum.analysis.triage import Triage
from vinculum.models.onnx.scopes import scopes
from vinculum.reporting.check.picture.drawing import SIGNS, Picture, values_text
from vinculum.reporting.check.words import fix_words, message, path_words, witness_words
from vinculum.reporting.escape import one_line, short
from vinculum.reporting.templates import environment
from vinculum.reporting.terminal import counted

if TYPE_CHECKING:
    from jinja2 import Template
    from onnx import ModelProto

DRAWN = 8
"""How many findings of a model are drawn, those alike counted once."""


def document(checked: Sequence[tuple[Triage, ModelProto]]) -> str:
    """Return the page on some models, each with what was found in it."""
    folder = files(__package__).joinpath("templates")
    read = {end: folder.joinpath(f"check.{end}").read_text("utf-8") for end in ("css", "js")}
    script = folder.joinpath("dagre.min.js").read_text("utf-8") + "\n" + read["js"]
    models = [_model(number, triage, proto) for number, (triage, proto) in enumerate(checked)]
    data = {one["id"]: one["pictures"] for one in models}
    return _template().render(
        models=models,
        signs={severity.value: sign for severity, sign in SIGNS.items()},
        style=read["css"],
        script=script,
        data=json.dumps(data, separators=(",", ":")).replace("<", "\\u003c"),
    )


@cache
def _template() -> Template:
    pages = environment(__package__)
    pages.filters.update(nodes=lambda n: counted(n, "node"), findings=lambda n: counted(n, "finding"))
    return pages.get_template("check.html.j2")


def _model(number: int, triage: Triage, proto: ModelProto) -> dict[str, Any]:
    """Return what the page says of a model."""
    groups = by_cause(triage.open)
    chosen = list(islice(_different(groups), DRAWN))
    counts = {severity.value: sum(f.severity is severity for f in triage.open) for severity in Severity}
    return {
        "id": f"m{number}",
        "title": short(triage.model),
        "counts": {severity: count for severity, count in counts.items() if count},
        "summary": f"{counted(len(triage.open), 'finding') if triage.open else 'No findings'} in "
        f"{counted(triage.report.nodes, 'node')}.",
        "findings": [
            {"number": place, "model": f"m{number}", **_finding(group)} for place, group in enumerate(groups, 1)
        ],
        "pictures": list(_pictures(chosen, triage, proto)),
        "left_out": len(triage.open) - len(chosen),
    }


def _different(groups: Sequence[Sequence[Finding]]) -> Iterator[tuple[int, Finding]]:
    """Yield the findings that differ in more than names, with the number of their group."""
    seen: set[tuple[int, str]] = set()
    for number, group in enumerate(groups, 1):
        for finding in group:
            key = number, finding.fingerprint.partition("-")[0]
            if key not in seen:
                seen.add(key)
                yield number, finding


def _finding(group: Sequence[Finding]) -> dict[str, Any]:
    finding = group[0]
    frame = alert_frame(finding.frames)
    return {
        "rule": finding.rule,
        "severity": finding.severity.value,
        "node": short(one_line(finding.node)),
        "scope": short(one_line(finding.scope)),
        "place": f"{one_line(frame.file)}:{frame.line}" if frame else "",
        "code": one_line(finding.frames[-1].code) if finding.frames else "",
        "message": message(finding),
        "path": path_words(finding),
        "witness": witness_words(finding),
        "has_witness": finding.witness is not None,
        "arrays": list(_arrays(finding)),
        "fix": fix_words(finding),
        "others": [short(one_line(one.node)) for one in group[1:]],
    }


def _arrays(finding: Finding) -> Iterator[dict[str, str]]:
    """Yield the values of a witness."""
    witness = finding.witness
    if witness is None:
        return
    held = {**witness.inputs, **({} if witness.value is None else {witness.tensor: witness.value})}
    for name, array in held.items():
        shape = " x ".join(map(str, array.shape)) or "scalar"
        yield {"name": short(one_line(name)), "type": f"{array.dtype} {shape}", "values": values_text(array)}


def _pictures(chosen: Sequence[tuple[int, Finding]], triage: Triage, proto: ModelProto) -> Iterator[dict[str, Any]]:
    """Yield a picture for each scope with findings."""
    known = {
        scope.path: scope for scope in scopes(proto, {function.name: function.name for function in proto.functions})
    }
    by_scope: dict[str, list[tuple[int, Finding]]] = {}
    for number, finding in chosen:
        by_scope.setdefault(finding.scope, []).append((number, finding))
    for path, numbered in by_scope.items():
        if path in known:
            values = {} if path else triage.report.values
            yield Picture(known[path], numbered, triage.open, values).data()
