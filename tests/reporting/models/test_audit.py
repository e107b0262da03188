"""The page and the JSON of an audit: every kind of division, and every end of a run."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from tests.reporting.printing import Told
from vinculum.conformance.audit.record import Audit, EdgeRuns, Hazard, NodeRecord
from vinculum.conformance.run.record import Example, Kind, Verdict
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
RETURNED, CRASHED, REFUSED = Answer(End.RETURNED), Answer(End.CRASHED, words="SIGFPE"), Answer(End.REFUSED)
EDGES = EdgeRuns(3, 2, Answer(End.REFUSED, None, "too large"))
AUDIT = Audit(
    "model.onnx", "runtime[device=X]", "Runtime", {"runtime": "1.0"}, NODES, RETURNED, RETURNED, 0.5, edges=EDGES
)
INPUTS = (InputReport("x", "float", (3, 4), "seed", None, {"N": 1}),)

INTEGERS = (replace(NODES[0], element_type=INT64, sizes=(1, 1000)),)
ON_OPENVINO = ("openvino", "openvino[device=CPU]", "openvino[ device = CPU ]", "openvino[device = GPU]")
INNER = tuple(InnerDivision(f"n{k}", "", "LayerNormalization", "by a standard deviation", True) for k in range(5))
SUSPECT, HIDDEN = ("node 'x' (Div-14): MIN/-1",), {"nodes": NODES[2:]}
UNSUPPORTED = Answer(End.UNSUPPORTED, None, "no rule for local.Ratio")

CHANGES: Mapping[str, Mapping[str, Any]] = {
    "every kind of division": {},
    "no finding": {"nodes": (replace(NODES[0], edges=Verdict(Kind.UNSPECIFIED, "gave 0", 90), sizes=(1000,)),)},
    "dies of edge cases": {"nodes": (replace(NODES[0], edges=None),), "edges": EdgeRuns(2, 1, None, CRASHED, SUSPECT)},
    "divides inside": {"nodes": (), "inner": INNER},
    "divides inside, expanded": {"nodes": (), "inner": INNER, "expanded": 2},
    "nothing is divided": {"nodes": ()},
    "no edge cases": {**HIDDEN, "edges": EdgeRuns()},
    **{end.value: {**HIDDEN, "exposed": Answer(end, None, "why"), "suspects": SUSPECT} for end in [*End][1:]},
    "dies, and nothing is suspected": {**HIDDEN, "exposed": CRASHED},
    "both runs end": {**HIDDEN, "plain": UNSUPPORTED, "exposed": Answer(End.REFUSED, None, "overflow")},
    "both runs end alike": {**HIDDEN, "plain": UNSUPPORTED, "exposed": UNSUPPORTED},
    "the model itself dies": {**HIDDEN, "plain": CRASHED},
    "exposure changes outputs": {**HIDDEN, "changed": ("output 'y' differs",)},
    "dies in ONNX Runtime": {**HIDDEN, "backend": "onnxruntime", "plain": CRASHED},
    "refuses in ONNX Runtime": {**HIDDEN, "backend": "onnxruntime", "exposed": REFUSED, "suspects": SUSPECT},
    "dies, an IR": {**HIDDEN, "model": "m.xml", "plain": CRASHED},
    "integers in OpenVINO": {"backend": "openvino", "nodes": INTEGERS},
    "integers in OpenVINO, an IR": {"backend": "openvino", "nodes": INTEGERS, "model": "m.xml"},
    "integers in OpenVINO, guarded": {"backend": "openvino", "nodes": INTEGERS, "guarded": True},
    **{f"floats in {backend}": {"backend": backend, "nodes": NODES[1:]} for backend in ON_OPENVINO},
    "floats in OpenVINO, expanded": {"backend": "openvino", "nodes": NODES[1:], "expanded": 1},
    "a name with a blank": {**HIDDEN, "model": "a b.onnx"},
    "in memory": {**HIDDEN, "model": "(in memory)"},
    "hostile names": {
        "nodes": (replace(NODES[0], division=Division("\x1b[31mred\n", "", DIV), sizes=tuple(range(3, 10))),),
        "model": "\x1b]0;t\x07.onnx",
    },
}


def told(changes: Mapping[str, Any], in_json: bool = False) -> Callable[[int], Any]:
    return lambda _: (as_json if in_json else page)(replace(AUDIT, **changes), INPUTS, 7)


TOLD: Told = {
    **{name: told(changes) for name, changes in CHANGES.items()},
    **{f"{name}, as JSON": told(CHANGES[name], True) for name in [*CHANGES][:6]},
}


def test_what_makes_an_audit_fail() -> None:
    fine = ("no finding", "divides inside", "divides inside, expanded", "nothing is divided", "no edge cases")
    never = {*fine, "exposure changes outputs", "a name with a blank", "in memory"}
    assert {name for name, changes in CHANGES.items() if not replace(AUDIT, **changes).finds} == never
