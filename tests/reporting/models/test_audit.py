"""An audit's page: what every kind of node and every end of a run looks like, at any width, whatever names hold."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

from tests.cases import case
from tests.reporting.printing import printed
from vinculum.conformance.audit.record import Audit, EdgeRuns, Hazard, NodeRecord
from vinculum.conformance.run.verdict import Example, Kind, Verdict
from vinculum.models.execution import Division
from vinculum.models.inner_divisions import InnerDivision
from vinculum.reporting.models.audit import as_json, page
from vinculum.reporting.models.run import InputReport
from vinculum.sandbox import Answer, End
from vinculum.spec.element_types import FLOAT, INT64
from vinculum.spec.rows import find

EXAMPLE = Example((0, 3), ("7.0 (0x40e00000)", "3.0 (0x40400000)"), "2.3333333 (0x40155555)", "2.3333335 (0x40155556)")
OFF = Verdict(Kind.ULPS, "", 12, 3, {0: 2, 1: 1}, 2, EXAMPLE)
DIV = find("Div")
NODES = (
    NodeRecord(
        Division("good", "", DIV),
        FLOAT,
        ((2, 3), (3,)),
        Verdict(Kind.EXACT, elements=6),
        None,
        (),
        "0.5",
        edges=Verdict(Kind.WRONG_VALUE, "", 9, 1, example=Example((4,), ("5", "2"), "2", "3")),
    ),
    NodeRecord(
        Division("off", "", DIV),
        FLOAT,
        ((3, 4), (4,)),
        OFF,
        Verdict(Kind.EXACT, elements=12),
        (Hazard("divisor zero", 3, (0, 1)), Hazard("quotient overflows", 1, (2, 2))),
        "1e-05",
        edges=Verdict(Kind.EXACT, elements=12),
    ),
    NodeRecord(Division("hidden", "Loop:body", DIV), INT64, unobserved="inside the body of a Loop"),
)
RETURNED, CRASHED = Answer(End.RETURNED), Answer(End.CRASHED, words="SIGFPE")
EDGES = EdgeRuns(3, 2, Answer(End.REFUSED, None, "too large"))
AUDIT = Audit(
    "model.onnx", "runtime[device=X]", "Runtime", {"runtime": "1.0"}, NODES, RETURNED, RETURNED, 0.5, edges=EDGES
)
INPUTS = (InputReport("x", "float", (3, 4), "seed", None, {"N": 1}),)


def text(audit: Audit, width: int = 80) -> str:
    return "\n".join(printed(page(audit, INPUTS, 7), width))


def words(audit: Audit) -> str:
    return " ".join(text(audit).split())


class TestPage:
    """Issue 4, item 8: node by node exact, off, wrong or not observed; the summary counts them."""

    def test_every_kind_of_node(self) -> None:
        told = words(AUDIT)
        assert "model.onnx in Runtime[device=X] runtime 1.0" in told
        assert "drawn from seed 7; assumed N = 1" in told
        assert "good exact: 6 1 of 9 wrong 0.5" in told
        assert "off 3 of 12 off, up to 2 ulps exact: 12 1e-05" in " ".join(text(AUDIT, 120).split())
        assert "3 of 12 quotients are off, by up to 2 ulps at (0, 3): 7.0 (0x40e00000) / 3.0 (0x40400000)" in told
        assert "Runtime gave 2.3333335 (0x40155556) exact: 2.3333333 (0x40155555)" in told
        assert "good on edge cases 1 of 9 quotients are wrong at (4,): 5 / 2 Runtime gave 3 exact: 2" in told
        assert "alone, on the same operands, it is exact" in told
        assert "divisor zero in 3 quotients, first at (0, 1)" in told
        assert "not observed: inside the body of a Loop" in told
        assert "0 of 3 divisions exact where observed, on these inputs and 2 sets of edge cases" in told
        assert "2 not exact, 1 not observed. 39 quotients compared, 4 of them wrong." in told
        assert "On 1 set of edge cases nothing was compared: Runtime refused to run it: too large" in told

    def test_sizes(self) -> None:
        def told(*sizes: int) -> str:
            return words(replace(AUDIT, nodes=tuple(replace(NODES[0], edges=None, sizes=(size,)) for size in sizes)))

        assert "All tensors had 6 quotients; those of another size may be divided otherwise." in told(6, 6)
        assert "The tensors had 1, 2, 3, 4, 5 and 6,000 quotients." in told(6000, 5, 4, 3, 2, 1)
        assert "The tensors had 7 sizes from 10 to 70 quotients." in told(70, 60, 50, 40, 30, 20, 10)

    def test_no_finding(self) -> None:
        told = words(replace(AUDIT, nodes=(replace(NODES[0], edges=Verdict(Kind.UNSPECIFIED, "gave 0", 90)),)))
        assert "exact: 6 exact where defined: 90 0.5" in told
        assert told.count("good") == 1
        assert "1 of 1 division exact where observed" in told

    def test_a_death_on_edge_cases(self) -> None:
        runs = EdgeRuns(2, 1, None, CRASHED, ("node 'x' (Div-14): MIN/-1",))
        audit = replace(AUDIT, nodes=(replace(NODES[0], edges=None),), edges=runs)
        assert "Runtime died on edge cases SIGFPE Vinculum finds here: node 'x' (Div-14): MIN/-1" in words(audit)
        assert audit.finds
        assert as_json(audit, INPUTS, 7)["edge_cases"]["died"] == {"end": "crashed", "words": "SIGFPE"}

    def test_what_divides_inside(self) -> None:
        nodes = [InnerDivision(f"n{k}", "", "LayerNormalization", "by a standard deviation", True) for k in range(5)]
        audit = replace(AUDIT, nodes=(), inner=tuple(nodes))
        told = words(audit)
        assert "LayerNormalization, by a standard deviation: n0, n1, n2 and 2 more" in told
        assert "This model divides only inside other operators." in told
        assert "Next The divisions inside other operators: vinculum audit model.onnx --backend" in told
        assert "'runtime[device=X]' --expand" in told
        assert as_json(audit, INPUTS, 7)["divide_inside"][0]["operator"] == "LayerNormalization"
        told = words(replace(AUDIT, inner=tuple(nodes), expanded=2))
        assert "--expand" not in told
        assert "2 nodes replaced by their ONNX function bodies" in told

    def test_it_ends_with_what_to_try_next(self) -> None:
        of_integers = (replace(NODES[0], element_type=INT64),)
        on_openvino: dict[str, Any] = {"backend": "openvino", "nodes": of_integers}
        steps: tuple[tuple[dict[str, Any], str], ...] = (
            ({"backend": "onnxruntime", "plain": CRASHED}, "harden model.onnx --for onnxruntime"),
            (on_openvino, "harden model.onnx --for openvino"),
            (
                {"backend": "onnxruntime", "exposed": Answer(End.REFUSED), "suspects": ("1 of 2 divisors is zero",)},
                "harden model.onnx --for onnxruntime",
            ),
            (
                {**on_openvino, "model": "m.xml"},
                "On the ONNX model that the IR was made from: vinculum harden model.onnx",
            ),
            ({"model": "m.xml", "plain": CRASHED}, "On the ONNX model that the IR was made from"),
            ({**on_openvino, "guarded": True}, "to int32"),
            ({"nodes": NODES[2:], "edges": EdgeRuns()}, "vinculum conform 'runtime[device=X]'"),
            ({}, "--input NAME=FILE"),
            ({"model": "a b.onnx"}, "vinculum audit 'a b.onnx' --backend"),
            ({"model": "(in memory)"}, "vinculum audit MODEL --backend"),
            ({}, "--dim NAME=SIZE"),
        )
        for changes, step in steps:
            with case(step):
                told = words(replace(AUDIT, **changes))
                assert step in told[told.index(" Next ") :]

    def test_floats_that_deviate_on_openvino(self) -> None:
        lines = ["from vinculum.openvino import exact_divisions", "exact_divisions(model)"]
        for backend in ("openvino", "openvino[device=CPU]", "openvino[ device = CPU ]"):
            audit = replace(AUDIT, backend=backend)
            assert "exact on the CPU device: " + " ".join(lines) in words(audit)
            assert as_json(replace(audit, expanded=1), INPUTS, 7)["cure"] == []  # They are no divisions of the model's.
            assert as_json(audit, INPUTS, 7)["cure"] == lines
        for backend, nodes in (
            ("openvino[device=GPU]", NODES),
            ("openvino[device = GPU]", NODES),
            ("openvino", (replace(NODES[0], edges=None),)),
            ("onnxruntime", NODES),
        ):
            audit = replace(AUDIT, backend=backend, nodes=nodes)
            assert "exact_divisions" not in words(audit)
            assert as_json(audit, INPUTS, 7)["cure"] == []

    def test_every_width(self) -> None:
        nodes = tuple(replace(NODES[k % 3], division=Division(f"d{k}", "", DIV)) for k in range(40))
        for width in (40, 80, 200):
            told = text(replace(AUDIT, nodes=nodes), width)
            assert all(f"d{k}" in told for k in range(40))
        heading = (told := text(AUDIT, 40))[told.index("Divisions") : told.index("─", told.index("Divisions"))]
        assert "Least" in heading

    def test_names_are_made_harmless(self) -> None:
        node = replace(NODES[0], division=Division("\x1b[31mred\n", "", DIV))
        assert "\x07" not in text(replace(AUDIT, nodes=(node,), model="\x1b]0;title\x07.onnx"))

    def test_ends(self) -> None:
        for end, words_of_end in (
            (End.CRASHED, "Runtime died"),
            (End.HUNG, "Runtime did not end"),
            (End.REFUSED, "Runtime refused to run it"),
            (End.UNSUPPORTED, "Runtime does not support it"),
            (End.OUT_OF_MEMORY, "Runtime ran out of memory"),
        ):
            with case(words_of_end):
                suspects = ("node 'x' (Div-14): MIN/-1",)
                audit = replace(AUDIT, exposed=Answer(end, None, "SIGFPE"), suspects=suspects)
                told = words(audit)
                assert f"{words_of_end} SIGFPE Vinculum finds here: node 'x' (Div-14): MIN/-1" in told
                assert "Without its divisions exposed, the model runs." in told
                assert audit.finds

    def test_how_the_model_as_it_is_ends(self) -> None:
        refused = Answer(End.UNSUPPORTED, None, "no rule for local.Ratio")
        told = words(replace(AUDIT, plain=refused, exposed=Answer(End.REFUSED, None, "node 'exposed_6': overflow")))
        assert "refused to run it node 'exposed_6': overflow" in told
        assert "The original model: Runtime does not support it: no rule for local.Ratio" in told
        assert "As it is" not in told
        assert "The original model" not in words(replace(AUDIT, plain=refused, exposed=refused))

    def test_what_exposure_changes(self) -> None:
        assert "outputs are the same with and without" in words(AUDIT)
        assert "Here that changes outputs: output 'y' differs." in words(
            replace(AUDIT, changed=("output 'y' differs",))
        )
        assert "those of the original model: Runtime died: SIGSEGV" in words(
            replace(AUDIT, plain=Answer(End.CRASHED, None, "SIGSEGV"))
        )

    def test_nothing_is_divided(self) -> None:
        audit = replace(AUDIT, nodes=())
        assert "No node of the model divides." in words(audit)
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
            *("edge_cases", "divide_inside", "expanded"),
        ]
        division = report["divisions"][1]
        assert list(division) == [
            *("name", "path", "operator", "element_type", "shapes", "unobserved"),
            *("verdict", "alone", "smallest_divisor", "hazards", "edge_cases"),
        ]
        assert list(division["verdict"]) == ["kind", "words", "elements", "differing", "ulps", "largest", "example"]
        assert list(division["verdict"]["example"]) == ["index", "operands", "expected", "actual"]
        assert list(division["hazards"][0]) == ["what", "count", "first"]

    def test_what_was_not_run_did_not_return(self) -> None:
        report = as_json(replace(AUDIT, nodes=()), INPUTS, 7)
        assert (report["as_it_is"], report["exposed"]) == (None, None)
