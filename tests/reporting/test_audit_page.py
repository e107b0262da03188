"""An audit's page: what every kind of node and every end of a run looks like, at any width, whatever names hold."""

from __future__ import annotations

import json
from dataclasses import replace
from io import StringIO

import pytest
from rich.console import Console

from vinculum.conformance.audit.record import Audit, Hazard, NodeRecord, Run
from vinculum.conformance.verdict import Example, Kind, Verdict
from vinculum.models.execution import Division
from vinculum.reporting.audit_page import as_json, page
from vinculum.reporting.run_report import InputReport
from vinculum.sandbox import End
from vinculum.spec.element_types import FLOAT, INT64
from vinculum.spec.registry import find

EXAMPLE = Example((0, 3), ("7.0 (0x40e00000)", "3.0 (0x40400000)"), "2.3333333 (0x40155555)", "2.3333335 (0x40155556)")
OFF = Verdict(Kind.ULPS, "3 of 12 quotients are off, by up to 2 ulps", 12, 3, {0: 2, 1: 1}, 2, EXAMPLE)
DIV = find("Div")
NODES = (
    NodeRecord(Division("good", "", DIV), FLOAT, ((2, 3), (3,)), Verdict(Kind.EXACT, elements=6), None, (), "0.5"),
    NodeRecord(
        Division("off", "", DIV),
        FLOAT,
        ((3, 4), (4,)),
        OFF,
        Verdict(Kind.EXACT, elements=12),
        (Hazard("divisor zero", 3, (0, 1)), Hazard("quotient overflows", 1, (2, 2))),
        "1e-05",
    ),
    NodeRecord(Division("hidden", "Loop:body", DIV), INT64, unobserved="inside the body of a Loop"),
)
AUDIT = Audit("model.onnx", "runtime[device=X]", "Runtime", {"runtime": "1.0"}, NODES, Run(), Run(), 0.5)
INPUTS = (InputReport("x", "float", (3, 4), "seed", None, {"N": 1}),)


def text(audit: Audit, width: int = 80) -> str:
    console = Console(width=width, file=StringIO(), color_system=None)
    console.print(page(audit, INPUTS, 7))
    assert isinstance(console.file, StringIO)
    return console.file.getvalue()


def words(audit: Audit) -> str:
    return " ".join(text(audit).split())


class TestPage:
    """Issue 4, item 8: node by node exact, off, wrong or not observed; the summary counts them."""

    def test_every_kind_of_node(self) -> None:
        told = words(AUDIT)
        assert "model.onnx in Runtime[device=X] runtime 1.0" in told
        assert "drawn from seed 7; assumed N = 1" in told
        assert "off by 2 ulps 1e-05 3 0 1" in told
        assert "3 of 12 quotients are off, by up to 2 ulps at (0, 3): 7.0 (0x40e00000) / 3.0 (0x40400000)" in told
        assert "is 2.3333335 (0x40155556) not 2.3333333 (0x40155555)" in told
        assert "alone, on the same operands, it is exact" in told
        assert "divisor zero in 3 quotients, first at (0, 1)" in told
        assert "not observed: inside the body of a Loop" in told
        assert "1 of 3 divisions exact, 1 off by ulps, 1 not observed." in told
        assert told.count("good") == 1  # It is no finding.

    def test_floats_that_deviate_on_openvino(self) -> None:
        lines = ["from vinculum.openvino import exact_divisions", "exact_divisions(model)"]
        for backend in ("openvino", "openvino[device=CPU]"):
            audit = replace(AUDIT, backend=backend)
            assert "exact on the CPU device: " + " ".join(lines) in words(audit)
            assert as_json(audit, INPUTS, 7)["cure"] == lines
        for backend, nodes in (("openvino[device=GPU]", NODES), ("openvino", NODES[:1]), ("onnxruntime", NODES)):
            audit = replace(AUDIT, backend=backend, nodes=nodes)
            assert "exact_divisions" not in words(audit)
            assert as_json(audit, INPUTS, 7)["cure"] == []

    @pytest.mark.parametrize("width", [40, 80, 200])
    def test_width(self, width: int) -> None:
        assert max(map(len, text(AUDIT, width).splitlines())) <= width

    def test_nothing_is_left_out_of_a_narrow_terminal(self) -> None:
        told = text(AUDIT, 40)
        assert "…" not in told
        heading = told[told.index("Divisions") : told.index("─", told.index("Divisions"))]
        assert len(heading.splitlines()[-2].split()) == 6

    @pytest.mark.parametrize("width", [40, 80, 200])
    def test_many_divisions(self, width: int) -> None:
        nodes = tuple(replace(NODES[k % 3], division=Division(f"d{k}", "", DIV)) for k in range(300))
        told = text(replace(AUDIT, nodes=nodes), width)
        assert all(f"d{k}" in told for k in range(300))
        assert max(map(len, told.splitlines())) <= width

    def test_names_are_made_harmless(self) -> None:
        node = replace(NODES[0], division=Division("\x1b[31mred\n", "", DIV))
        told = text(replace(AUDIT, nodes=(node,), model="\x1b]0;title\x07.onnx"))
        assert "\x1b" not in told
        assert "\x07" not in told

    @pytest.mark.parametrize(
        ("end", "words_of_end"),
        [
            (End.CRASHED, "Runtime died"),
            (End.HUNG, "Runtime did not end"),
            (End.REFUSED, "Runtime refused to run it"),
            (End.UNSUPPORTED, "Runtime does not support it"),
            (End.OUT_OF_MEMORY, "Runtime ran out of memory"),
        ],
    )
    def test_ends(self, end: End, words_of_end: str) -> None:
        audit = replace(AUDIT, exposed=Run(end, "SIGFPE"), suspects=("node 'x' (Div-14): MIN/-1",))
        told = words(audit)
        assert f"{words_of_end} SIGFPE Our engine meets here: node 'x' (Div-14): MIN/-1" in told
        assert "As it is, its divisions not exposed, the model runs." in told
        assert audit.finds

    def test_how_the_model_as_it_is_ends(self) -> None:
        refused = Run(End.UNSUPPORTED, "no rule for local.Ratio")
        told = words(replace(AUDIT, plain=refused, exposed=Run(End.REFUSED, "node 'exposed_6': overflow")))
        assert "refused to run it node 'exposed_6': overflow" in told
        assert "The model as it is: Runtime does not support it: no rule for local.Ratio" in told
        assert "As it is" not in told
        assert "The model as it is" not in words(replace(AUDIT, plain=refused, exposed=refused))

    def test_what_exposure_changes(self) -> None:
        assert "outputs are the same with and without" in words(AUDIT)
        assert "Here that changes outputs: output 'y' differs." in words(
            replace(AUDIT, changed=("output 'y' differs",))
        )
        assert "those of the model as it is: Runtime died: SIGSEGV" in words(
            replace(AUDIT, plain=Run(End.CRASHED, "SIGSEGV"))
        )

    def test_nothing_is_divided(self) -> None:
        audit = replace(AUDIT, nodes=())
        assert "Nothing is divided in this model." in words(audit)
        assert not audit.finds


class TestJson:
    """The same for machines, as JSON has it."""

    def test_it_is_plain(self) -> None:
        report = json.loads(json.dumps(as_json(AUDIT, INPUTS, 7), allow_nan=False))
        assert (report["runtime"], report["versions"], report["seed"]) == ("Runtime", {"runtime": "1.0"}, 7)
        assert [d["verdict"] and d["verdict"]["kind"] for d in report["divisions"]] == ["exact", "off by ulps", None]
        assert report["divisions"][1]["verdict"]["ulps"] == {"0": 2, "1": 1}
        assert report["divisions"][1]["alone"]["kind"] == "exact"
        assert report["divisions"][2]["unobserved"] == "inside the body of a Loop"
        assert report["as_it_is"] == report["exposed"] == {"end": "returned", "words": ""}

    def test_keys(self) -> None:
        """They stay what they are."""
        report = as_json(AUDIT, INPUTS, 7)
        assert list(report) == [
            *("model", "backend", "runtime", "versions", "seed", "inputs", "as_it_is", "exposed"),
            *("suspects", "cure", "changed_by_exposure", "seconds", "divisions"),
        ]
        division = report["divisions"][1]
        assert list(division) == [
            *("name", "path", "operator", "element_type", "shapes", "unobserved"),
            *("verdict", "alone", "smallest_divisor", "hazards"),
        ]
        assert list(division["verdict"]) == ["kind", "words", "elements", "differing", "ulps", "largest", "example"]
        assert list(division["verdict"]["example"]) == ["index", "operands", "expected", "actual"]
        assert list(division["hazards"][0]) == ["what", "count", "first"]

    def test_what_was_not_run_did_not_return(self) -> None:
        report = as_json(replace(AUDIT, nodes=()), INPUTS, 7)
        assert (report["as_it_is"], report["exposed"]) == (None, None)
