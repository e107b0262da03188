"""The two runs of a model: which of them are made, and which are repeated."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import cast

import numpy as np
import pytest

from tests.models.built_models import text_model
from vinculum.conformance.audit.audit import Runs, _with_fewer_hazards
from vinculum.conformance.audit.onnx_subject import onnx_subject
from vinculum.conformance.audit.taps import AuditedModel
from vinculum.models.source import read_source
from vinculum.sandbox import Answer, End, Isolated


class Scripted:
    """A runtime whose runs end as a test prescribes."""

    def __init__(self, ends: Sequence[End]) -> None:
        self._ends = list(ends)

    def call(self, method: str, *_: object, seconds: float | None = None) -> Answer:
        assert method == "run_model"
        return Answer(self._ends.pop(0), words="why")


def subject(folder: Path, *text: str) -> AuditedModel:
    """Return the model of a text."""
    path = folder / "model.onnx"
    path.write_bytes(text_model(*text).SerializeToString())
    return onnx_subject(read_source(path))


def branching(folder: Path, element_type: str) -> AuditedModel:
    """Return a model with a division in each branch of an If."""
    branch = f"() => ({element_type}[3] x) {{ x = Div(a, b) }}"
    nodes = f"c = If(yes) <then_branch = t {branch}, else_branch = e {branch}>"
    declared = f"bool yes, {element_type}[3] a, {element_type}[3] b"
    return subject(folder, nodes, declared, f"{element_type}[3] c")


def test_no_sizes_are_declared_of_what_is_exposed(tmp_path: Path) -> None:
    exposed = subject(tmp_path, "m = Neg(b) c = Div(a, m)", "float[3] a, float[3] b", "float[3] c").exposed
    assert exposed is not None
    _, output = exposed.graph.output
    assert output.name == "m"
    (size,) = output.type.tensor_type.shape.dim
    assert size.WhichOneof("value") is None


def test_a_node_of_the_name_of_a_function_is_no_guard(tmp_path: Path) -> None:
    function = "Neg (x) => (y) { y = Abs(x) }"
    found = subject(tmp_path, "m = d.Neg(b) n = Neg(m) c = Div(a, n)", "float[3] a, float[3] b", "float[3] c", function)
    assert [tap.division.label for tap in found.taps] == ["node 'c' (Div-14)"]
    assert found.inner == ()


@pytest.mark.parametrize(
    "ends",
    [
        [End.HUNG],
        [End.RETURNED, End.RETURNED],
        [End.UNSUPPORTED, End.HUNG],
        [End.RETURNED, End.HUNG, End.RETURNED],
        [End.RETURNED, End.CRASHED, End.REFUSED],
        [End.UNSUPPORTED, End.REFUSED, End.RETURNED],
    ],
)
def test_as_many_as_there_is_hope(ends: list[End], tmp_path: Path) -> None:
    """A model that fails with its divisions exposed is run again without exposing those in bodies."""
    process = Scripted(ends)
    runs = Runs(branching(tmp_path, "float"), cast(Isolated, process), "Runtime", str(tmp_path))
    plain, exposed = runs.both({})
    assert (plain.end, exposed.end) == (ends[0], ends[-1])
    assert not process._ends
    reasons = {tap.unobserved for tap in runs.subject.taps}
    told = f"Runtime does not run the model with its divisions exposed: {ends[1].value} (why)" if ends[2:] else ""
    expected = {f"inside the {name} of an If; {told}" for name in ("then_branch", "else_branch")}
    assert reasons == (expected if told else {None})


def test_a_function_that_replaces_an_operator(tmp_path: Path) -> None:
    """Calls of the function do not count as divisions; the divisions inside it do."""
    replaced = '<opset_import: ["": 17], domain: ""> Div (p, q) => (r) { [inverse] i = Reciprocal(q) r = Mul(p, i) }'
    nodes = "d = Div(a, b) [last] c = Reciprocal(d)"
    taps = subject(tmp_path, nodes, "float[2] a, float[2] b", "float[2] c", replaced).taps
    found = {tap.division.name: (tap.division.operator, tap.unobserved) for tap in taps}
    assert found == {"last": ("Reciprocal-13", None), "inverse": ("Reciprocal-13", None)}


@pytest.mark.parametrize(
    ("name", "divisors", "tried"),
    [("int8", [0, -1, 7], [[0, -1, 7], [3, -1, 7], [3, 3, 7]]), ("uint8", [0, 255, 7], [[0, 255, 7], [3, 255, 7]])],
)
def test_which_divisors_are_tried_after_a_crash(
    name: str, divisors: list[int], tried: list[list[int]], tmp_path: Path
) -> None:
    """After a crash, 0 and then -1 are replaced among the divisors; nothing else is."""
    inputs = {"yes": np.array(True), "a": np.zeros(3, name), "b": np.array(divisors, name)}
    plain = subject(tmp_path, "c = Div(a, b)", f"{name}[3] a, {name}[3] b", f"{name}[3] c")
    for one in (plain, branching(tmp_path, name)):
        assert [changed["b"].tolist() for changed in _with_fewer_hazards(one.taps, inputs)] == tried
