"""The picture of a model: drawn and folded nodes, and names that are no HTML."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from typing import Any

import onnx.parser
import pytest
from onnx import ModelProto

import vinculum
from tests.analysis import hazardous
from tests.analysis.corpus.judging import ENTRIES, model_of, reported
from tests.models.built_models import text_model
from tests.reporting.printing import Told, body_of
from vinculum.analysis.findings import Finding
from vinculum.analysis.triage import sorted_out
from vinculum.models.onnx.scopes import scopes
from vinculum.reporting.check.picture.document import DRAWN, document
from vinculum.reporting.check.picture.graph import Graph, drawn

HOSTILE = "</script><script>document.title='owned'</script>\u202e\x1b[31m{{ 7 * 7 }}<img src=x>"


def chain(length: int, hazards: Sequence[int]) -> ModelProto:
    """Return a model of many blocks in a row, some of which may divide by zero."""
    nodes, x = [], "x"
    for n in range(length):
        last = f"Div (t{n}, a{n})" if n in hazards else f"Max (t{n}, x)"
        nodes.append(f"t{n} = Tanh ({x}) a{n} = Abs (t{n}) d{n} = {last} r{n} = Add (d{n}, {x})")
        x = f"r{n}"
    return text_model(" ".join(nodes), "float[N] x", f"float[] {x}", ir_version=8)


def graph_of(model: ModelProto, findings: Sequence[Finding] | None = None) -> Graph:
    found = vinculum.check(model, runs=0).findings if findings is None else findings
    return drawn(next(scopes(model, {})), [one for one in found if not one.scope])


def page_of(model: ModelProto, name: str = "m.onnx", runs: int = 0, **options: Any) -> str:
    return document([(sorted_out(vinculum.check(model, runs=runs, **options), name), model)])


def data_of(page: str) -> dict[str, Any]:
    """Return the data that the script of a page draws."""
    found = re.search(r'id="data">(.*?)</script>', page, re.S)
    assert found is not None
    data: dict[str, Any] = json.loads(found.group(1))
    return data


def is_acyclic(graph: Graph) -> bool:
    """Tell whether a graph has no cycle."""
    after: dict[str, set[str]] = {box.id: set() for box in graph.boxes}
    for arrow in graph.arrows:
        after[arrow.start].add(arrow.end)
    while after:
        ends = [box for box, others in after.items() if not others & after.keys()]
        if not ends:
            return False
        for box in ends:
            del after[box]
    return True


class TestGraph:
    """Findings, their operands, and the ends of ways to and from them are drawn; other nodes are folded or left out."""

    @pytest.mark.parametrize("hazards", [[3], [3, 4, 5], [0, 50, 99], range(0, 100, 7)])
    def test_no_fold_makes_a_cycle(self, hazards: Sequence[int]) -> None:
        """Nor does a fold make the output to which a finding leads."""
        graph = graph_of(chain(100, hazards))
        assert is_acyclic(graph)
        assert len(graph.boxes) < 25 * len(hazards)
        assert sum(len(box.nodes) for box in graph.boxes) + graph.hidden == 400
        kinds = {box.id: box.kind for box in graph.boxes}
        assert {kinds[arrow.start] for arrow in graph.arrows if kinds[arrow.end] == "output"} == {"node"}

    def test_of_the_corpus(self) -> None:
        for entry in ENTRIES[::40]:
            findings = reported(entry).findings
            if findings:
                graph = graph_of(model_of(entry), findings[:DRAWN])
                assert is_acyclic(graph), entry.name
                assert len(graph.boxes) < 150, entry.name
                ids = {box.id for box in graph.boxes}
                assert {end for arrow in graph.arrows for end in (arrow.start, arrow.end)} <= ids


def test_names_are_escaped() -> None:
    model = hazardous.masked_mean()
    for node in model.graph.node:
        for names in (node.input, node.output):
            names[:] = [HOSTILE if name in ("count", "mask") else name for name in names]
        node.name = node.name + HOSTILE
    model.graph.input[1].name = HOSTILE
    model.graph.node[2].output[0] = HOSTILE + "2"
    model.graph.node[3].input[1] = HOSTILE + "2"
    page = page_of(model, HOSTILE)
    assert page.count("<script") == 2
    assert "<img" not in page
    assert "\u202e" not in page
    assert "\x1b" not in page
    assert "{{ 7 * 7 }}" in page  # Not 49.


IN_A_BRANCH = onnx.parser.parse_model(
    '<ir_version: 8, opset_import: ["": 17]> g (bool c, float[N] x, float[N] d) => (float[N] y) '
    "{ y = If (c) <then_branch = t () => (float[N] q) { q = Div (x, d) }, "
    "else_branch = o () => (float[N] p) { p = Identity (x) }> }"
)

TOLD: Told = {
    "findings": lambda _: body_of(page_of(hazardous.masked_mean(), assume=["mask=0|1"])),
    "findings that are alike": lambda _: body_of(page_of(chain(20, range(4, 16)))),
    "the picture": lambda _: data_of(page_of(hazardous.masked_mean(), assume=["mask=0|1"], runs=50)),
    "the picture of a long way": lambda _: data_of(page_of(chain(60, [45]))),
    "the picture of findings that are alike": lambda _: data_of(page_of(chain(30, range(5, 25)))),
    "the picture of a branch": lambda _: data_of(page_of(IN_A_BRANCH)),
    "no findings": lambda _: body_of(page_of(hazardous.guarded_mean(), assume=["mask=0|1"])),
}
